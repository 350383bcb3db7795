"""A need as objects of a cluster: a claim template, a claim that pods share, or what a pod says to KAI.

A template makes a claim for each pod, so pods that share a card name one ResourceClaim. A fraction is no
claim at all: it stands in the pod's annotations, which are shown in a PodTemplate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from allotment.devices.claims import ClaimSpec
from allotment.devices.slices import API_VERSION
from allotment.needs.cards import NO_KINDS, Kinds
from allotment.needs.claim import REQUEST, claim_for
from allotment.needs.ways import Scope, Way
from allotment.needs.ways.choosing import ANYTHING, Able, Choice, choice_of
from allotment.needs.ways.fraction import SCHEDULER, annotations_for
from allotment.needs.ways.node_labels import node_affinity
from allotment.platform.need import Need

QUEUE_LABEL: Final = "kai.scheduler/queue"


@dataclass(frozen=True, slots=True)
class Manifest:
    """A need as an object, and what there is to say about it.

    ``claim`` is what a pod or all of them claim; that of a fraction is for the card that it is a part of.
    ``pod`` is what the spec of a pod has to say to use it.
    """

    choice: Choice
    claim: ClaimSpec
    value: Mapping[str, Any]
    pod: Mapping[str, Any]

    @property
    def scope(self) -> Scope:
        """What it is."""
        return self.choice.scope

    @property
    def costs(self) -> tuple[str, ...]:
        """What each of its ways costs in isolation, in plain words."""
        return tuple(f"{way.title}: {way.keeps_apart}" for way in self.choice.ways)

    @property
    def ways(self) -> tuple[Way, ...]:
        """Its ways to share a card."""
        return self.choice.ways


def manifest_for(
    name: str,
    need: Need,
    kinds: Kinds = NO_KINDS,
    *,
    by_class: bool = False,
    able: Able = ANYTHING,
    kai_queue: str | None = None,
) -> Manifest:
    """The object for a need under this name; AllotmentError for one that cannot be had.

    ``kai_queue`` is the team's queue where KAI schedules, which refuses shared claims without its label.
    """
    choice = choice_of(need, able)
    claim = claim_for(need, kinds=kinds, by_class=by_class, able=able)
    labels = {QUEUE_LABEL: kai_queue} if kai_queue is not None else {}
    if choice.scope is Scope.ANNOTATION:
        pod = _pod_of_kai(need, kinds, labels)
        value = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": name}, "template": pod}
        return Manifest(choice, claim, value, pod)
    if choice.scope is Scope.SHARED:
        value = {
            "apiVersion": API_VERSION,
            "kind": "ResourceClaim",
            "metadata": {"name": name, **({"labels": labels} if labels else {})},
            "spec": claim.to_dict(),
        }
        return Manifest(choice, claim, value, _claiming("resourceClaimName", name))
    return Manifest(choice, claim, claim.to_template(name), _claiming("resourceClaimTemplateName", name))


def _claiming(key: str, name: str) -> Mapping[str, Any]:
    container = {"name": "worker", "resources": {"claims": [{"name": REQUEST}]}}
    return {"spec": {"resourceClaims": [{"name": REQUEST, key: name}], "containers": [container]}}


def _pod_of_kai(need: Need, kinds: Kinds, labels: Mapping[str, str]) -> Mapping[str, Any]:
    affinity = node_affinity(need, kinds)
    return {
        "metadata": {
            **({"labels": dict(labels)} if labels else {}),
            "annotations": dict(annotations_for(need)),
        },
        "spec": {
            "schedulerName": SCHEDULER,
            **({"affinity": affinity} if affinity is not None else {}),
            "containers": [{"name": "worker"}],
        },
    }
