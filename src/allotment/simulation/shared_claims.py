"""What pods count as that share one claim: together what the claim holds, for as long as anybody holds it.

A claim with a name keeps its devices from everybody else while a single pod uses it (``resource.k8s.io``:
they are given back when nobody is reserved for it any more). So the pods that run at one moment divide what
the claim holds among them, and card-hours, money and use are those of the cards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from allotment.simulation.outcome import Span
from allotment.simulation.work import Work


def divided(spans: Sequence[Span], works: Sequence[Work]) -> tuple[Span, ...]:
    """The spans, with what each of those that share a claim counts as in the mean of its time."""
    sharing = {work.name: work for work in works if any(claim.shared for claim in work.ask.claims)}
    if not sharing:
        return tuple(spans)
    together = defaultdict[tuple[str, str, tuple[str, ...]], list[int]](list)
    for place, span in enumerate(spans):
        if span.work in sharing and span.ended > span.bound:
            together[span.work, span.node, span.devices].append(place)
    found = list(spans)
    for (name, _node, _devices), places in together.items():
        work = sharing[name]
        held = work.ask.gpus * max(1, work.most)
        for place, seconds in _parts([spans[place] for place in places], places).items():
            span = spans[place]
            found[place] = replace(span, gpus=held * seconds / (span.ended - span.bound))
    return tuple(found)


def _parts(spans: Sequence[Span], places: Sequence[int]) -> dict[int, float]:
    """For how many seconds each would have held the claim, were it alone: moments shared are divided."""
    changes = sorted(
        change
        for place, span in zip(places, spans, strict=True)
        for change in ((span.bound, 1, place), (span.ended, 0, place))
    )
    seconds = dict.fromkeys(places, 0.0)
    now, running = 0.0, set[int]()
    for time, begins, place in changes:
        for each in running if time > now else ():
            seconds[each] += (time - now) / len(running)
        now = time
        (running.add if begins else running.discard)(place)
    return seconds
