"""Kueue's objects: a ClusterQueue and a LocalQueue for each team, in one cohort, all defaults written out.

All kinds of card are one resource, ``gpus``, as a team's quota is one number: Kueue counts claims by their
device class, which its start-up configuration maps to that resource. Cores and memory have quotas that
nobody reaches, for a queue that does not name what a pod requests admits nothing. A ResourceFlavor says
nothing of nodes: kinds of card differ by class. Facts: Kueue 0.19, ``kueue.x-k8s.io/v1beta2``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from allotment.devices.classes import COUNTED_MIG_CLASS, GPU_CLASS, MIG_CLASS
from allotment.kubernetes.render.context import namespace_of, release_of
from allotment.kubernetes.render.names import ROOT, labels_of
from allotment.kubernetes.render.platform.classes import counts_slices
from allotment.kubernetes.render.rendered import Note, Object, Rendered, Setting
from allotment.platform.model import Platform, Queue, Team

VERSION: Final = "kueue.x-k8s.io/v1beta2"
RESOURCE: Final = "gpus"
UNREACHED: Final = (("cpu", "1000000"), ("memory", "1000000Gi"))
NO_QUOTA: Final = 1_000_000
MOST_CLASSES: Final = 8
SINCE_MENDED: Final = "0.19.6"
"""The first release with the defects of elastic jobs mended that our use meets."""


def kueue_objects(platform: Platform) -> Rendered:
    """Flavor, cohort, queues, layout, and what belongs into Kueue's configuration."""
    if platform.scheduler not in {"kueue", "both"}:
        return Rendered()
    objects: list[Object] = [
        _cluster("ResourceFlavor", ROOT, {}),
        _cluster("Cohort", ROOT, {"fairSharing": {"weight": "1"}}),
    ]
    if platform.topology:
        levels = [{"nodeLabel": level.label} for level in platform.topology]
        objects.append(_cluster("Topology", ROOT, {"levels": levels}))
    notes = list(_notes(platform))
    for team in platform.teams.values():
        objects += _queues(team)
        notes += _quota_notes(team)
    return Rendered(tuple(objects), tuple(notes), (_configuration(platform),))


def _queues(team: Team) -> Iterator[Object]:
    yield _cluster("ClusterQueue", team.name, _cluster_queue(team), team=team.name)
    yield {
        "apiVersion": VERSION,
        "kind": "LocalQueue",
        "metadata": {
            "name": team.name,
            "namespace": namespace_of(team),
            "labels": labels_of(team=team.name),
        },
        "spec": {"clusterQueue": team.name, "stopPolicy": "None"},
    }


def _cluster_queue(team: Team) -> dict[str, Any]:
    resources = [
        {"name": RESOURCE, **_quota(team.queue)},
        *({"name": name, "nominalQuota": amount} for name, amount in UNREACHED),
    ]
    return {
        "cohortName": ROOT,
        "queueingStrategy": "BestEffortFIFO",
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace_of(team)}},
        "resourceGroups": [
            {
                "coveredResources": [each["name"] for each in resources],
                "flavors": [{"name": ROOT, "resources": resources}],
            }
        ],
        "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
        "preemption": {
            "withinClusterQueue": "LowerPriority",
            "reclaimWithinCohort": "Any",
            "borrowWithinCohort": {"policy": "Never"},
        },
        "fairSharing": {"weight": weight_text(team.queue.weight)},
        "stopPolicy": "None",
    }


def _quota(queue: Queue) -> dict[str, str]:
    """Whole cards, for that is what claims are counted by; what is not limited has no limit's key."""
    nominal = nominal_quota(queue)
    found = {"nominalQuota": str(nominal)}
    if queue.limit is not None:
        found["borrowingLimit"] = str(max(0, math.floor(queue.limit) - nominal))
    return found


def nominal_quota(queue: Queue) -> int:
    """The guaranteed cards of a queue; one that states no quota is held to its limit alone."""
    if queue.quota is not None:
        return math.floor(queue.quota)
    return NO_QUOTA if queue.limit is None else math.floor(queue.limit)


def weight_text(weight: float) -> str:
    """A weight as a quantity, in thousandths where it is no whole number."""
    return str(round(weight)) if weight == round(weight) else f"{round(weight * 1000)}m"


def _configuration(platform: Platform) -> Setting:
    """Kueue reads it once, when it starts: a change needs a restart."""
    hours = "24h" if platform.scheduler == "both" else "2h"
    value: dict[str, Any] = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "integrations": {"frameworks": ["batch/job", "pod", "deployment"]},
        "fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]},
        "waitForPodsReady": {"timeout": hours, "blockAdmission": False},
        "resources": {"deviceClassMappings": device_class_mappings(platform)},
    }
    return Setting("Kueue's configuration (manager_config.yaml), which it reads when it starts", value)


def device_class_mappings(platform: Platform) -> list[dict[str, Any]]:
    """Which device classes Kueue counts as which resource."""
    return [{"name": RESOURCE, "deviceClassNames": list(counted_classes(platform))[:MOST_CLASSES]}]


def counted_classes(platform: Platform) -> tuple[str, ...]:
    """The classes that are cards: the drivers' own, that of slices for KAI, and one for each kind."""
    slices = (MIG_CLASS,) if "mig" in platform.sharing else ()
    ours = (COUNTED_MIG_CLASS,) if counts_slices(platform) else ()
    kinds = sorted({card.device_class for card in platform.cards.values()})
    return (GPU_CLASS, *slices, *ours, *kinds)


def _notes(platform: Platform) -> Iterator[Note]:
    version = platform.versions.kueue
    if len(counted_classes(platform)) > MOST_CLASSES:
        words = f"Kueue {version} maps at most {MOST_CLASSES} device classes to one resource"
        left = ", ".join(counted_classes(platform)[MOST_CLASSES:])
        yield Note("cards", f"{words}: claims of {left} are refused", "name fewer kinds of card", "warning")
    if "mig" in platform.sharing:
        words = f"Kueue {version} counts a slice of a card as a whole one"
        yield Note("sharing", words, "a mapping with a source (0.19) counts slices, where one quota will do")
    if platform.topology:
        words = (
            "the Topology is rendered and no queue uses it: Kueue's layout sees no claimed devices, and jobs "
            "that grow refuse it"
        )
        yield Note("topology", words, "the gate ElasticJobsViaWorkloadSlicesWithTAS is alpha in 0.19")
    if release_of(version) < release_of(SINCE_MENDED):
        words = f"Kueue {version} has defects that windows meet which grow: quota lost or held by nothing"
        yield Note("versions.kueue", words, f"run {SINCE_MENDED} or later")


def _quota_notes(team: Team) -> Iterator[Note]:
    queue, about = team.queue, f"team {team.name}"
    if queue.quota is None:
        free, held = (
            "it states no quota, so it may use every card",
            "it states no quota, so its limit is its quota",
        )
        words = free if queue.limit is None else held
        yield Note(about, words, f"set `teams.{team.name}.queue.quota`")
    elif queue.quota != math.floor(queue.quota):
        words = f"a quota of {queue.quota:g} is {math.floor(queue.quota)} here: Kueue counts whole devices"
        yield Note(about, words, "KAI counts parts of them")


def _cluster(kind: str, name: str, spec: dict[str, Any], **labels: str) -> Object:
    return {
        "apiVersion": VERSION,
        "kind": kind,
        "metadata": {"name": name, "labels": labels_of(**labels)},
        "spec": spec,
    }
