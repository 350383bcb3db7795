"""A claim in one sentence for people: ``a card of at least 8 GiB; else 1 core``."""

from __future__ import annotations

from allotment.devices.claims import AllocationMode, ClaimSpec, ExactRequest
from allotment.devices.classes import CPU_CLASS, GPU_CLASS
from allotment.needs.memory import memory_words

_NOUNS = {CPU_CLASS: ("core", "cores"), GPU_CLASS: ("card", "cards")}


def describe(claim: ClaimSpec) -> str:
    """What the claim asks for; alternatives in their order."""
    requests = [
        "; else ".join(_in_words(sub.exactly) for sub in request.alternatives) for request in claim.requests
    ]
    return ", and ".join(requests) or "nothing"


def _in_words(exact: ExactRequest) -> str:
    of, others = memory_words(exact.selectors)
    each = " each" if of and exact.count > 1 else ""
    verb = "passes" if exact.count == 1 else "pass"
    passing = f" that {verb} `{' && '.join(others)}`" if others else ""
    return f"{_counted(exact)}{of}{each}{passing}"


def _counted(exact: ExactRequest) -> str:
    one, several = _NOUNS.get(
        exact.device_class,
        (f"device of class {exact.device_class}", f"devices of class {exact.device_class}"),
    )
    if exact.mode is AllocationMode.ALL:
        return f"all {several}"
    if exact.count > 1 or exact.device_class == CPU_CLASS:
        return f"{exact.count} {one if exact.count == 1 else several}"
    return f"a {one}"
