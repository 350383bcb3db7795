"""KAI's objects: the tree of queues with all nine numbers of each, the layout, and minimum runtimes.

In KAI a number that is left out is not a default but nothing: a queue without ``memory`` blocks every pod
that asks for memory. So quota, weight and limit of cpu, memory and gpu are always written, ``-1`` for none.
Beside Kueue all of them are ``-1``: two layers of quota must never both hold. Facts: KAI 0.17, ``Queue`` of
``scheduling.run.ai/v2`` (leaf queues alone run jobs), ``Topology`` of ``kai.scheduler/v1alpha1``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from allotment.kubernetes.render.names import ROOT, labels_of
from allotment.kubernetes.render.rendered import Note, Object, Rendered, Setting
from allotment.needs.ways.slices import ROADMAP, UNPROMISED
from allotment.platform.model import Platform, Queue

VERSION: Final = "scheduling.run.ai/v2"
TEAMS: Final = f"{ROOT}-teams"
NO_LIMIT: Final = -1
FREE: Final = {"quota": NO_LIMIT, "overQuotaWeight": 1, "limit": NO_LIMIT}


def kai_objects(platform: Platform) -> Rendered:
    """Queues and layout, and what belongs into KAI's configuration."""
    if platform.scheduler not in {"kai", "both"}:
        return Rendered()
    alone = platform.scheduler == "kai"
    objects: list[Object] = [_queue(TEAMS, dict(FREE))]
    if platform.topology:
        objects.append(
            {
                "apiVersion": "kai.scheduler/v1alpha1",
                "kind": "Topology",
                "metadata": {"name": ROOT, "labels": labels_of()},
                "spec": {"levels": [{"nodeLabel": level.label} for level in platform.topology]},
            }
        )
    seconds = platform.defaults.minimum_runtime
    runtimes = {"preemptMinRuntime": f"{seconds}s", "reclaimMinRuntime": f"{seconds}s"} if alone else {}
    for team in platform.teams.values():
        gpu = gpu_numbers(team.queue) if alone else dict(FREE)
        objects.append(_queue(team.name, gpu, parentQueue=TEAMS, **runtimes))
    return Rendered(tuple(objects), tuple(_notes(platform)), tuple(_settings(platform)))


def gpu_numbers(queue: Queue) -> dict[str, Any]:
    """A team's three numbers of cards; what is not stated is without limit."""
    return {
        "quota": NO_LIMIT if queue.quota is None else _plain(queue.quota),
        "overQuotaWeight": _plain(queue.weight),
        "limit": NO_LIMIT if queue.limit is None else _plain(queue.limit),
    }


def _queue(name: str, gpu: dict[str, Any], **spec: Any) -> Object:
    labels = labels_of() if name == TEAMS else labels_of(team=name)
    return {
        "apiVersion": VERSION,
        "kind": "Queue",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "displayName": name,
            **spec,
            "priority": 100,
            "resources": {"cpu": dict(FREE), "memory": dict(FREE), "gpu": gpu},
        },
    }


def _settings(platform: Platform) -> Iterator[Setting]:
    args = {"update-pod-eviction-condition": "true"}
    spec: dict[str, Any] = {"args": args}
    if platform.scheduler == "kai":
        seconds = platform.defaults.minimum_runtime
        spec["minRuntime"] = {"preemptMinRuntime": f"{seconds}s", "reclaimMinRuntime": f"{seconds}s"}
    value = {
        "apiVersion": "kai.scheduler/v1",
        "kind": "SchedulingShard",
        "metadata": {"name": "default"},
        "spec": spec,
    }
    yield Setting(
        "KAI's shard, by which a reclaim is told from a failure (without it each one uses up a retry)", value
    )
    if "fraction" in platform.sharing:
        yield Setting("KAI's Helm values: fractions are refused without it", {"global": {"gpuSharing": True}})


def _notes(platform: Platform) -> Iterator[Note]:
    version = platform.versions.kai
    if "mig" in platform.sharing:
        yield Note(
            "sharing", f"KAI {version} counts a slice that is claimed as a card, and {UNPROMISED}", ROADMAP
        )


def _plain(number: float) -> float:
    """A whole number as one."""
    return int(number) if number == int(number) else number
