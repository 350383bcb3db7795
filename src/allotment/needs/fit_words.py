"""An explanation in words: one sentence that says whether and where, and the funnel under it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from allotment.needs.fit import MOST_PODS, Alike, AlternativeFit, Explanation
from allotment.needs.memory import in_words
from allotment.needs.nearest import Nearest
from allotment.needs.words import left_words

_MOST_NODES = 3
_PROCESSOR = "processor"
_WHOLE = "whole"


def sentence(found: Explanation, where: str = "here") -> str:
    """The answer in one sentence; ``where`` is what to call the world."""
    if found.fits_ever:
        return _fits(found)
    reasons = list(dict.fromkeys(_why_not(each) for each in found.alternatives))
    if len(found.alternatives) == 1:
        return f"nothing {where} will ever do: {reasons[0]}"
    asked = [f"{each.words}: {_why_not(each)}" for each in found.alternatives]
    return f"nothing {where} will ever do; {'; '.join(asked)}"


def headline(found: Explanation) -> str:
    """The sentence, short where each alternative says its own reasons below."""
    several = len(found.alternatives) > 1 and not found.fits_ever
    return "nothing here will ever do" if several else sentence(found)


def never_words(found: Explanation, where: str = "here") -> tuple[str, str]:
    """Why nothing fits, and what to do: a message and a hint; ``where`` is what to call the world."""
    nearest = [each.nearest for each in found.alternatives if each.nearest is not None]
    hint = next(filter(None, map(suggestion_words, nearest)), "")
    return sentence(found, where).removesuffix(f"; {hint}"), hint


def funnel_lines(alternative: AlternativeFit) -> Iterator[str]:
    """The funnel of one alternative: a number and a clause a line, and what became of the others."""
    width = max(len(f"{step.left:,}") for step in alternative.steps)
    before: int | None = None
    for step in alternative.steps:
        lost = "" if before is None or step.left == before else f"  (-{before - step.left:,})"
        yield f"{step.left:>{width},} {left_words(step.left, step.words)}{lost}"
        before = step.left
    if alternative.fault is None and 0 < alternative.left > alternative.free:
        be = "is" if alternative.free == 1 else "are"
        yield f"{alternative.free:>{width},} {be} free now  (-{alternative.left - alternative.free:,})"


def alike_words(alike: Alike) -> str:
    """``8 x NVIDIA H100 80GB HBM3, 79.64Gi (81559Mi), on node-1``."""
    named = alike.kind in {_WHOLE, alike.card}
    kind = "" if named else f" ({alike.kind})"
    memory = f", {in_words(alike.memory)}" if alike.memory and alike.kind != _PROCESSOR else ""
    free = f", {alike.free:,} free" if alike.free < alike.count else ""
    return f"{alike.count:,} x {alike.card}{kind}{memory}{free}, on {_nodes(alike.where)}"


def nearest_words(nearest: Nearest) -> str:
    """The nearest device, and what it is short of."""
    kind = "" if nearest.kind in {_WHOLE, nearest.card} else f", {nearest.kind}"
    device = nearest.id.rpartition("/")[2]
    return f"{device} of {nearest.where} ({nearest.card}{kind}): {'; '.join(nearest.short)}"


def suggestion_words(nearest: Nearest) -> str:
    """What to write instead; empty where nothing simple would help."""
    if nearest.suggestion is None:
        return ""
    said = nearest.suggestion
    return f"write `{said.key}: {said.value}`, and {_devices(said.would)} would do"


def to_data(found: Explanation) -> dict[str, Any]:
    """The explanation as plain data."""
    return {
        "claim": found.claim,
        "fits_now": found.fits_now,
        "fits_ever": found.fits_ever,
        "pods_now": found.pods,
        "pods_ever": found.pods_ever,
        "sentence": sentence(found),
        "alternatives": [_alternative(each) for each in found.alternatives],
        "notes": list(found.notes),
    }


def _fits(found: Explanation) -> str:
    faults = [each.fault for each in found.alternatives if each.fault is not None]
    if faults:
        room = f"{_pods(found.pods)} would start before the search meets such a device, and none after it"
        return f"a selector fails: {faults[0]}; {room}"
    would = [each for each in found.alternatives if each.left]
    parts = "; else ".join(_would_do(each) for each in would)
    if found.fits_now and found.without_end:
        return f"{parts}, for any number of pods at once"
    if found.fits_now:
        return f"{parts}: {_pods(found.pods)} at once{_later(found)}"
    return f"{parts}, and none is free: a pod waits until one is"


def _later(found: Explanation) -> str:
    return f", {_number(found.pods_ever)} when all are free" if found.pods_ever > found.pods else ""


def _would_do(each: AlternativeFit) -> str:
    total = each.steps[0].left
    what = each.steps[0].words.removesuffix("s")
    cards = ", ".join(f"{alike.count:,} x {alike.card}" for alike in each.alike[:_MOST_NODES])
    rest = len(each.alike) - _MOST_NODES
    more = f" and {rest} more kinds" if rest > 0 else ""
    named = "" if what == _PROCESSOR else f" ({cards}{more})"
    return f"{each.left:,} of {total:,} {what if total == 1 else f'{what}s'} would do{named}"


def _why_not(each: AlternativeFit) -> str:
    if each.fault is not None:
        return each.fault
    if each.left:
        return f"{_devices(each.left)} would do, but never enough of them at once"
    if each.nearest is None:
        return f"there are no {'processors' if each.steps[0].words == 'processors' else 'cards'} at all"
    parts = [f"the nearest is {nearest_words(each.nearest)}", suggestion_words(each.nearest)]
    return "; ".join(part for part in parts if part)


def _alternative(each: AlternativeFit) -> dict[str, Any]:
    nearest = each.nearest
    said = None if nearest is None else nearest.suggestion
    return {
        "name": each.name,
        "asks": each.words,
        "count": each.count,
        "funnel": [{"left": step.left, "clause": step.words} for step in each.steps],
        "would_do": [
            {
                "card": alike.card,
                "kind": alike.kind,
                "memory_bytes": alike.memory,
                "devices": alike.count,
                "free": alike.free,
                "nodes": list(alike.where),
            }
            for alike in each.alike
        ],
        "free": each.free,
        "fault": each.fault,
        "nearest": None
        if nearest is None
        else {
            "device": nearest.id,
            "where": nearest.where,
            "card": nearest.card,
            "kind": nearest.kind,
            "memory_bytes": nearest.memory,
            "short_of": list(nearest.short),
            "would_fit": None
            if said is None
            else {"key": said.key, "value": said.value, "devices": said.would},
        },
    }


def _nodes(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_NODES])
    return shown if len(names) <= _MOST_NODES else f"{shown} and {len(names) - _MOST_NODES:,} more nodes"


def _devices(count: int) -> str:
    return "1 device" if count == 1 else f"{count:,} devices"


def _pods(count: int) -> str:
    return f"{_number(count)} {'pod' if count == 1 else 'pods'}"


def _number(count: int) -> str:
    return f"{count:,}" if count < MOST_PODS else f"{MOST_PODS:,} or more"
