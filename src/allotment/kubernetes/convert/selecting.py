"""Which nodes a pod asks for by labels about cards: what of it a claim can say, and what has to stay.

``nodeSelector`` and the required terms of node affinity narrow; of several terms one is enough, so that they
become one selector, or none of them does. Preferred terms are wishes, which a claim does not have.
Facts: ``v1.NodeSelector``; ``Gt`` and ``Lt`` compare whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from allotment.kubernetes.convert.edits import Delete
from allotment.kubernetes.convert.labels import Wanted, is_about_cards, is_shared, mig_product, selector
from allotment.kubernetes.convert.pods import PodPlace, items_of, mapping_of
from allotment.kubernetes.convert.tree import Path

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
MEMORY: Final = "nvidia.com/gpu.memory"


@dataclass(slots=True)
class Selected:
    """What labels become: selectors, the edits that take the labels out, and words on what stays."""

    selectors: list[str] = field(default_factory=list)
    edits: list[Delete] = field(default_factory=list)
    stays: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Asked:
    path: Path
    wanted: Wanted


def all_wanted(place: PodPlace) -> tuple[Wanted, ...]:
    """Everything that a pod requires of labels, wherever it says so."""
    terms = _terms(place)
    return tuple(each.wanted for each in (*_node_selector(place), *(one for term in terms for one in term)))


def asks_for_shared(place: PodPlace) -> str | None:
    """A label by which the pod asks for cards that a plugin gives out in replicas."""
    return next((wanted.key for wanted in all_wanted(place) if is_shared(wanted)), None)


def slice_of_product(place: PodPlace) -> str | None:
    """The MIG profile that a product label names, for a pod that counts slices as if they were cards."""
    found = (mig_product(wanted) for wanted in all_wanted(place) if wanted.operator == "In")
    return next((profile for profile in found if profile is not None), None)


def selected(place: PodPlace, *, slices: bool) -> Selected:
    """What the labels of a pod become; ``slices`` where the claim asks for parts of cards.

    The memory on a label is that of the whole card there, and a selector would see that of the slice.
    """
    found = Selected()
    for asked in _node_selector(place):
        said = _said(asked.wanted, slices)
        if said is not None:
            _take(found, asked, said)
        elif is_about_cards(asked.wanted.key):
            found.stays.append(_stays(asked.wanted, "a node selector", slices))
    _from_terms(found, _terms(place), slices)
    preferred = _affinity(place).get(PREFERRED)
    if isinstance(preferred, list) and any(is_about_cards(key) for key in _keys(preferred)):
        found.stays.append(
            "a preferred node affinity about cards stays: it is a wish, and a claim only requires. It works "
            "as long as nodes have those labels"
        )
    return found


def _from_terms(found: Selected, terms: list[list[_Asked]], slices: bool) -> None:  # noqa: FBT001 - as above
    about = [one for term in terms for one in term if is_about_cards(one.wanted.key)]
    if not about:
        return
    if len(terms) == 1:
        for asked in about:
            said = _said(asked.wanted, slices)
            if said is None:
                found.stays.append(_stays(asked.wanted, "a node affinity", slices))
            else:
                _take(found, asked, said)
        return
    said_by_term = [[_said(one.wanted, slices) for one in term] for term in terms]
    if any(None in term or not any(term) for term in said_by_term):
        keys = ", ".join(f"`{key}`" for key in dict.fromkeys(one.wanted.key for one in about))
        found.stays.append(
            f"the node affinity on {keys} stays: one of several terms is enough, and not all that they ask "
            "for can be asked of a device"
        )
        return
    joined = " || ".join(f"({' && '.join(each for each in term if each)})" for term in said_by_term)
    found.selectors.append(joined)
    whole = about[0].path[:-3]
    reason = f"either of these node labels would do; the claim asks it of the device itself: {joined}"
    found.edits.append(Delete(whole, reason))


def _take(found: Selected, asked: _Asked, said: str) -> None:
    if said and said not in found.selectors:
        found.selectors.append(said)
    reason = (
        f"`{asked.wanted.key}` is a label of the node; the claim asks it of the device itself: {said}"
        if said
        else f"`{asked.wanted.key}` asks for nodes with such cards, as a claim for them does by itself"
    )
    found.edits.append(Delete(asked.path, reason))


def _said(wanted: Wanted, slices: bool) -> str | None:  # noqa: FBT001 - as above
    if slices and wanted.key == MEMORY:
        return None
    return selector(wanted)


def _stays(wanted: Wanted, where: str, slices: bool) -> str:  # noqa: FBT001 - as above
    if slices and wanted.key == MEMORY:
        why = "it tells the memory of the whole card, and a device of the claim is a part of one"
    elif selector(Wanted(wanted.key, "In", ("1",))) is not None or wanted.key.startswith("nvidia.com/gpu."):
        why = f"a driver publishes nothing by which `{wanted.operator}` of it could be asked of a device"
    else:
        why = "it is about nodes, and a driver publishes nothing like it of a device"
    return f"{where} on `{wanted.key}` stays: {why}. It works as long as nodes have that label"


def _node_selector(place: PodPlace) -> Iterator[_Asked]:
    for key, value in mapping_of(place.spec.get("nodeSelector")).items():
        yield _Asked((*place.spec_path, "nodeSelector", key), Wanted(str(key), "In", (str(value),)))


def _affinity(place: PodPlace) -> Mapping[str, Any]:
    return mapping_of(mapping_of(place.spec.get("affinity")).get("nodeAffinity"))


def _terms(place: PodPlace) -> list[list[_Asked]]:
    listed = mapping_of(_affinity(place).get(REQUIRED)).get("nodeSelectorTerms")
    path = (*place.spec_path, "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms")
    terms = []
    for number, term in enumerate(items_of(listed)):
        found = [
            _Asked(
                (*path, number, key, place_of),
                Wanted(
                    str(mapping_of(each).get("key")),
                    str(mapping_of(each).get("operator")),
                    tuple(str(value) for value in items_of(mapping_of(each).get("values"))),
                ),
            )
            for key in ("matchExpressions", "matchFields")
            for place_of, each in enumerate(items_of(mapping_of(term).get(key)))
        ]
        terms.append(found)
    return terms


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        if "key" in value:
            yield str(value["key"])
        for each in value.values():
            yield from _keys(each)
    elif isinstance(value, list):
        for each in value:
            yield from _keys(each)
