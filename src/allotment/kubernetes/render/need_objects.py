"""A need as objects of a Job's or Deployment's own, and what its pods say to use them.

A claim template is named for the Job and not for the pipeline: Kueue takes two waiting Jobs whose pods are
alike in everything, the template's name too, for one, and then a resize of the one can wait for ever behind
the other (seen on Kueue 0.19, gate SchedulingEquivalenceHashing). The name ends in digits of what is claimed:
templates never change, and where a need does, a Job that is there keeps its own. A claim that pods share is
one object of the campaign. Kueue refuses pods that name a claim, so there each pod has a card of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from allotment.devices.claims import ClaimSpec
from allotment.devices.classes import MIG_CLASS
from allotment.kubernetes.render.context import Context
from allotment.kubernetes.render.names import LONGEST_NAME, cut, labels_of
from allotment.kubernetes.render.rendered import Note, Object
from allotment.needs.claim import REQUEST, says_more_than_classes
from allotment.needs.cluster import for_cluster
from allotment.needs.manifests import Manifest, manifest_for
from allotment.needs.ways import Scope
from allotment.needs.ways.choosing import before_selectors
from allotment.needs.ways.slices import ROADMAP, UNPROMISED
from allotment.platform.need import Need

TEMPLATE: Final = "resourceClaimTemplateName"
CLAIM: Final = "resourceClaimName"


@dataclass(frozen=True, slots=True)
class PodNeed:
    """What a pod says of its need: spec, annotations, the claims of its container, cores beside."""

    objects: tuple[Object, ...] = ()
    spec: Mapping[str, Any] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    claims: tuple[Mapping[str, str], ...] = ()
    cores: int | None = None
    notes: tuple[Note, ...] = ()


def pod_need(
    context: Context,
    name: str,
    about: str,
    gpu: Need | None,
    labels: Mapping[str, str],
    *,
    shared_name: str | None = None,
) -> PodNeed:
    """The need of one pod of the Job of this name; AllotmentError for one that cannot be had.

    ``shared_name`` is that of a claim which several Jobs share.
    """
    if gpu is None:
        return PodNeed()
    need, given_up = for_cluster(gpu)
    notes = [Note(about, text) for text in given_up]
    if need is None:
        return PodNeed(cores=gpu.cpu, notes=tuple(notes))
    kai_queue = context.queue if context.with_kai else None
    manifest = manifest_for(
        name, need, context.platform.cards, by_class=True, able=context.able, kai_queue=kai_queue
    )
    notes += [Note(about, text, _which_could(context)) for text in manifest.choice.given_up]
    notes += _notes(context, about, manifest)
    if manifest.scope is Scope.ANNOTATION:
        spec = {key: manifest.pod["spec"][key] for key in ("affinity",) if key in manifest.pod["spec"]}
        annotations = manifest.pod["metadata"]["annotations"]
        return PodNeed(spec=spec, annotations=annotations, notes=tuple(notes))
    shared = manifest.scope is Scope.SHARED and not context.with_kueue
    own = _named_for((shared_name or name) if shared else name, manifest.claim)
    value = manifest.value if shared else manifest.claim.to_template(own)
    named = {CLAIM if shared else TEMPLATE: own}
    return PodNeed(
        objects=(_owned(context, own, value, labels),),
        spec={"resourceClaims": [{"name": REQUEST, **named}]},
        claims=({"name": REQUEST},),
        notes=tuple(notes),
    )


def _named_for(name: str, claim: ClaimSpec) -> str:
    """The name, and six digits of what is claimed."""
    text = json.dumps(claim.to_dict(), sort_keys=True)
    return f"{cut(name, LONGEST_NAME - 7)}-{sha256(text.encode()).hexdigest()[:6]}"


def _owned(context: Context, name: str, value: Mapping[str, Any], labels: Mapping[str, str]) -> Object:
    metadata = value["metadata"]
    own = {
        "name": name,
        "namespace": context.namespace,
        "labels": {**labels_of(team=context.team.name), **labels, **metadata.get("labels", {})},
    }
    return {**value, "metadata": own}


def _notes(context: Context, about: str, manifest: Manifest) -> Iterator[Note]:
    kueue = context.platform.versions.kueue
    if manifest.scope is Scope.SHARED and context.with_kueue:
        yield Note(
            about,
            f"`{manifest.ways[0].word}` is given up: Kueue {kueue} refuses pods that name a claim, so each "
            "pod has a card of its own",
            "no version of Kueue takes named claims; KAI and the default scheduler do",
        )
    if context.with_kueue and before_selectors(kueue) and says_more_than_classes(manifest.claim):
        yield Note(
            about,
            f"Kueue {kueue} admits no claim with selectors, constraints or configuration: its pods never "
            "start",
            "Kueue 0.18 does; before it, ask for a `card` of the platform's `cards` and nothing else of it",
            "warning",
        )
    if context.with_kai and any(way.device_class == MIG_CLASS for way in manifest.ways):
        yield Note(about, f"KAI {context.platform.versions.kai} {UNPROMISED}", ROADMAP, "warning")
    if manifest.scope is Scope.ANNOTATION and not context.with_kai:
        yield Note(
            about,
            "only KAI knows fractions, and it does not place these pods: they get no card at all",
            "ask for `mig` or `consumable`, list `whole` after it, or use `scheduler: kai`",
            "warning",
        )
    if manifest.scope is Scope.ANNOTATION and context.scheduler == "both":
        yield Note(
            about,
            f"Kueue {kueue} counts no fractions of KAI's, and KAI's queues limit nothing beside Kueue's: "
            "no quota holds for them",
            "with `scheduler: kai` they count",
        )
    if manifest.scope is Scope.SHARED and not context.with_kueue:
        yield Note(about, "all of its pods share one claim, and with it one card of one node")


def _which_could(context: Context) -> str:
    """Which version takes a list of alternatives."""
    if context.with_kueue:
        return "Kueue 0.20 has lists behind the gate KueueDRAIntegrationPrioritizedList, off by default"
    if context.with_kai:
        return "KAI 0.18 may have them"
    return ""


def claim_labels(**labels: str) -> Mapping[str, str]:
    """Labels of a claim beside the team's."""
    return {key: value for key, value in labels_of(**labels).items() if "/managed-by" not in key}
