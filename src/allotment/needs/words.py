"""A claim in one sentence for people: ``a card of at least 8Gi; else 1 core``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from allotment.devices.claims import AllocationMode, ClaimSpec, Constraint, ExactRequest
from allotment.devices.classes import (
    AMD_CLASS,
    COUNTED_MIG_CLASS,
    CPU_CLASS,
    GPU_CLASS,
    INTEL_CLASS,
    MIG_CLASS,
)
from allotment.needs.cards import card_words
from allotment.needs.memory import memory_of, memory_words
from allotment.needs.same import same_words
from allotment.needs.ways.slices import LESS_THAN_A_CARD
from allotment.needs.ways.whole import NOT_SHARED
from allotment.quantities import MI, format_bytes

_NOUNS: Final[Mapping[str, tuple[str, str]]] = {
    CPU_CLASS: ("core", "cores"),
    GPU_CLASS: ("card", "cards"),
    MIG_CLASS: ("partition of a card", "partitions of cards"),
    COUNTED_MIG_CLASS: ("partition of a card", "partitions of cards"),
    AMD_CLASS: ("AMD card", "AMD cards"),
    INTEL_CLASS: ("Intel card", "Intel cards"),
}


def describe(claim: ClaimSpec) -> str:
    """What the claim asks for; alternatives in their order."""
    requests = [
        "; else ".join(
            request_words(sub.exactly) + _shared(claim, request.name, sub.name)
            for sub in request.alternatives
        )
        for request in claim.requests
    ]
    return ", and ".join(requests) or "nothing"


def request_words(exact: ExactRequest) -> str:
    """One request in words, without what its devices share."""
    memory, others = memory_of(exact.selectors)
    kinds = {selector: words for selector in others if (words := card_words(selector)) is not None}
    free = [each for each in others if each not in kinds and each not in {LESS_THAN_A_CARD, NOT_SHARED}]
    of = f" of {said}" if (said := memory_words(memory)) else ""
    shared = "".join(f" ({amount_words(amount)} of it)" for amount in exact.capacity.values())
    each = " each" if of and exact.count > 1 else ""
    kind = f" ({' and '.join(kinds.values())})" if kinds else ""
    passing = f" that {'passes' if exact.count == 1 else 'pass'} `{' && '.join(free)}`" if free else ""
    return f"{_counted(exact)}{of}{each}{kind}{shared}{passing}"


def amount_words(amount: str) -> str:
    """An amount of a capacity as a person writes it: bytes without a unit get one."""
    return format_bytes(int(amount)) if amount.isdigit() and int(amount) >= MI else amount


def class_words(device_class: str, *, several: bool = True) -> str:
    """What the devices of a class are called."""
    one, more = _NOUNS.get(
        device_class, (f"device of class {device_class}", f"devices of class {device_class}")
    )
    return more if several else one


def left_words(left: int, words: str) -> str:
    """A step of a funnel after the number that is left: ``3 have 8Gi of memory``, ``1 has 8Gi of memory``."""
    if left != 1:
        return words
    verb, _, rest = words.partition(" ")
    several, one = next((pair for pair in _OF_ONE if rest.startswith(pair[0])), ("", ""))
    rest = one + rest.removeprefix(several)
    return f"{_VERBS[verb]} {rest}" if verb in _VERBS else words


_VERBS: Final[Mapping[str, str]] = {"are": "is", "have": "has", "pass": "passes", "fit": "fits"}
_OF_ONE: Final = (
    ("whole NVIDIA cards", "a whole NVIDIA card"),
    *((more, f"a{'n' if one[0] in 'AEIO' else ''} {one}") for one, more in _NOUNS.values()),
    ("devices of class", "a device of class"),
    ("into what their card shares", "into what its card shares"),
    ("enough left of what they share", "enough left of what it shares"),
)


def _shared(claim: ClaimSpec, request: str, alternative: str) -> str:
    said = [same_words(each) for each in claim.constraints if _concerns(each, request, alternative)]
    return "".join(f", {words}" for words in said)


def _concerns(constraint: Constraint, request: str, alternative: str) -> bool:
    return not constraint.requests or bool({request, f"{request}/{alternative}"} & set(constraint.requests))


def _counted(exact: ExactRequest) -> str:
    if exact.mode is AllocationMode.ALL:
        return f"all {class_words(exact.device_class)}"
    if exact.count > 1 or exact.device_class == CPU_CLASS:
        return f"{exact.count} {class_words(exact.device_class, several=exact.count != 1)}"
    one = class_words(exact.device_class, several=False)
    return f"{'an' if one[0] in 'AEIO' else 'a'} {one}"
