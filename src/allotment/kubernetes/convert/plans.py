"""What is to become of a pod that counts: claims and edits for them, a count that is honoured, or nothing.

A plan is made from values alone and says a reason for each edit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from allotment.devices.classes import GPU_CLASS, MIG_CLASS, DeviceClass
from allotment.kubernetes.convert.around import around_claims
from allotment.kubernetes.convert.claiming import (
    CLAIM,
    MOST_DEVICES,
    PodClaim,
    free_name,
    pod_claim,
    template,
)
from allotment.kubernetes.convert.counted import MIG_PREFIX, Counted, whole_number, why_kept
from allotment.kubernetes.convert.edits import Append, Delete, Edit, Put
from allotment.kubernetes.convert.honoured import Version, class_for, counted_by_class, gate_words, needs
from allotment.kubernetes.convert.in_teams import in_team
from allotment.kubernetes.convert.outcome import Verdict
from allotment.kubernetes.convert.pods import PodPlace, mapping_of
from allotment.kubernetes.convert.refusals import (
    fraction_words,
    kinds_of,
    pod_resources,
    refusals,
    resources_of,
)
from allotment.kubernetes.convert.selecting import selected, slice_of_product
from allotment.kubernetes.convert.tree import Path
from allotment.platform.model import Platform

CLAIMS_FROM: Final = (1, 34)
_PLAIN_GPU: Final = "nvidia.com/gpu"
_CARD: Final = Counted(_PLAIN_GPU, GPU_CLASS)
_GET_DEVICES: Final = frozenset({Verdict.CONVERTED, Verdict.HONOURED})
_SLICES_AS_CARDS: Final = (
    "it counts MIG slices under the name of cards (the plugin's strategy `single`): a class that has that "
    "name gives out whole cards. Convert it to a claim"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a conversion is to make, for which version of Kubernetes, and on whose platform."""

    version: Version
    as_claims: bool = True
    platform: Platform | None = None


@dataclass(slots=True)
class Plan:
    """What becomes of one object."""

    verdict: Verdict
    kept: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    template: Mapping[str, Any] | None = None
    template_reason: str = ""
    template_key: tuple[str, str] = ("", "")
    containers: Path = ()
    classes: tuple[DeviceClass, ...] = field(default=())


def plan_for(place: PodPlace, asked: Asked, taken: set[tuple[str, str]]) -> Plan | None:
    """The plan for an object; None for one that has nothing to do with counted GPUs."""
    plan = _plan(place, asked, taken)
    if plan is not None and asked.platform is not None and plan.verdict in _GET_DEVICES:
        plan.notes = (*plan.notes, *in_team(place, asked.platform))
    return plan


def _plan(place: PodPlace, asked: Asked, taken: set[tuple[str, str]]) -> Plan | None:
    kinds = _with_slices(place, kinds_of(place))
    kept = tuple(_unknown(place))
    by_class = tuple(dict.fromkeys(counted_by_class(place)))
    if not kinds:
        return _without_counts(place, kept, by_class, asked)
    refused = tuple(refusals(place, kinds))
    if refused:
        return Plan(Verdict.KEPT, kept=(*refused, *kept))
    if not asked.as_claims:
        return _honoured(place, kinds, kept, asked)
    if asked.version < CLAIMS_FROM:
        what = f"claims of resource.k8s.io/v1 begin with Kubernetes 1.34, and this is {_said(asked.version)}"
        return Plan(Verdict.KEPT, kept=(what, *kept))
    return _claims(place, kinds, kept, taken)


def _honoured(place: PodPlace, kinds: dict[str, Counted], kept: tuple[str, ...], asked: Asked) -> Plan:
    if kinds.get(_PLAIN_GPU, _CARD).device_class == MIG_CLASS:
        return Plan(Verdict.KEPT, kept=(_SLICES_AS_CARDS, *kept))
    if asked.version < CLAIMS_FROM:
        return Plan(Verdict.KEPT, kept=(gate_words(asked.version), *kept))
    classes = tuple(found for kind in kinds.values() if (found := class_for(kind)) is not None)
    said = tuple(needs(place, kinds, asked.version))
    return Plan(Verdict.HONOURED, kept=kept, notes=said, classes=classes)


def _without_counts(
    place: PodPlace, kept: tuple[str, ...], by_class: tuple[str, ...], asked: Asked
) -> Plan | None:
    if (words := fraction_words(place)) is not None:
        return Plan(Verdict.KEPT, kept=(words, *kept))
    if kept:
        return Plan(Verdict.KEPT, kept=kept)
    if by_class:
        classes = ", ".join(f"`{each}`" for each in by_class)
        return Plan(
            Verdict.HONOURED,
            notes=(f"it counts devices of the class {classes}: {gate_words(asked.version)}",),
        )
    if pod_resources(place):
        return Plan(Verdict.NOTED, notes=("a count of 0 asks for nothing, and stays",))
    return None


def _with_slices(place: PodPlace, kinds: dict[str, Counted]) -> dict[str, Counted]:
    """Where a product label names a slice, what is counted as a card is one."""
    if _PLAIN_GPU in kinds and slice_of_product(place) is not None:
        return {**kinds, _PLAIN_GPU: replace(kinds[_PLAIN_GPU], device_class=MIG_CLASS)}
    return kinds


def _unknown(place: PodPlace) -> Iterator[str]:
    for name, said in pod_resources(place).items():
        why = why_kept(name)
        if why is not None and any(whole_number(value) != 0 for each in said for value in each.values()):
            yield f"`{name}` stays: {why}"


def _claims(
    place: PodPlace, kinds: dict[str, Counted], kept: tuple[str, ...], taken: set[tuple[str, str]]
) -> Plan:
    labels = selected(place, slices=any(name.startswith(MIG_PREFIX) for name in kinds))
    if not any(kind.is_nvidia for kind in kinds.values()):
        labels.selectors.clear()
        labels.edits.clear()
    claim = pod_claim(place, kinds, labels.selectors)
    if claim.devices > MOST_DEVICES:
        why = f"a claim holds at most {MOST_DEVICES} devices, and this pod counts {claim.devices}"
        return Plan(Verdict.KEPT, kept=(why, *kept))
    namespace = str(place.metadata.get("namespace") or "")
    others = [name for where, name in taken if where == namespace]
    name = free_name(f"{place.name.rstrip('-.') or place.kind.lower()}-gpu", others)
    claim_name = free_name(CLAIM, _claim_names(place))
    who = f"each pod of {place.kind} {place.name}" if place.pod_path else f"Pod {place.name}"
    reason = f"{who} gets a claim of its own from this template: {_asks(claim)}"
    return Plan(
        Verdict.CONVERTED,
        kept=kept,
        notes=(*labels.stays, *around_claims(place, kinds, claim)),
        edits=(
            *_claim_of_pod(place, claim_name, name, claim),
            *_containers(place, kinds, claim, claim_name),
            *reversed(labels.edits),  # from the last on: taking out an item moves those after it
        ),
        template=template(place, name, claim),
        template_reason=reason,
        template_key=(namespace, name),
        containers=(*place.spec_path, "containers"),
    )


def _asks(claim: PodClaim) -> str:
    return ", ".join(
        f"{each.exactly.count} of `{each.exactly.device_class}`"
        for each in claim.spec.requests
        if each.exactly is not None
    )


def _claim_names(place: PodPlace) -> list[str]:
    listed = place.spec.get("resourceClaims")
    return [str(mapping_of(each).get("name")) for each in (listed if isinstance(listed, list) else ())]


def _claim_of_pod(place: PodPlace, name: str, template_name: str, claim: PodClaim) -> Iterator[Edit]:
    item = {"name": name, "resourceClaimTemplateName": template_name}
    reason = f"the pod's own claim, made from the template `{template_name}` when the pod is: {_asks(claim)}"
    if _claim_names(place):
        yield Append((*place.spec_path, "resourceClaims"), item, reason)
        return
    beside = next(key for key in place.spec if key in {"initContainers", "containers"})
    yield Put(place.spec_path, "resourceClaims", [item], str(beside), reason)


def _containers(
    place: PodPlace, kinds: Mapping[str, Counted], claim: PodClaim, claim_name: str
) -> Iterator[Edit]:
    for path, container in place.containers():
        name = str(container.get("name") or "")
        resources = mapping_of(container.get("resources"))
        said = {key: each for key, each in resources_of(container).items() if key in kinds}
        if not said:
            continue
        ends_early = path[-2] == "initContainers" and container.get("restartPolicy") != "Always"
        reason = _uses(claim, name, is_init=ends_early)
        items = claim.items(name, claim_name) if claim.of(name) else []
        if items and isinstance(resources.get("claims"), list) and resources["claims"]:
            for item in items:
                yield Append((*path, "resources", "claims"), item, reason)
        elif items:
            yield Put((*path, "resources"), "claims", items, str(next(iter(resources))), reason)
        for resource, parts in said.items():
            for part, value in parts.items():
                kind = kinds[resource]
                what = "slices" if kind.device_class == MIG_CLASS else "cards"
                yield Delete(
                    (*path, "resources", part, resource),
                    f"`{resource}: {value}` counted {what} of container `{name}`; the claim asks for "
                    f"{value} of the class `{kind.device_class}` instead",
                )


def _uses(claim: PodClaim, container: str, *, is_init: bool) -> str:
    served = claim.of(container)
    names = ", ".join(f"`{each.request}`" for each in served)
    others = [each for each in claim.mappings if each.container != container]
    shared = {each.request for each in served} & {each.request for each in others}
    if is_init and shared:
        return (
            f"init container `{container}` ends before the others begin and uses the devices of {names}, "
            "as counting let it"
        )
    if len(claim.spec.requests) > 1:
        return (
            f"container `{container}` uses the devices of its own request {names} and no others, as it "
            "counted its own"
        )
    return f"container `{container}` uses the devices of the pod's claim"


def _said(version: Version) -> str:
    return f"{version[0]}.{version[1]}"
