"""The first decision that differs between two courses of the same seed, and why it does.

Decisions are held against each other by what comes of them: a pod starts, or it is taken back. What happens
in both within a little time of each other is pace; the earliest thing that does not is the first difference,
because all that comes after it may differ only on account of it. Places are looked at only where everything
begins and ends alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from allotment.planning.compare.comparison import Differs
from allotment.planning.compare.words import lasting
from allotment.simulation.outcome import End, Outcome, Span
from allotment.simulation.work import Kind, Work

PACE_SECONDS: Final = 30.0
PACE_PART: Final = 0.01
"""Half a minute covers a step of the window controller (20 s) and the rounds of the schedulers."""


class What(NamedTuple):
    """Something that may happen in either course: one of the starts of a pod in turn, or that it is taken."""

    is_start: bool
    work: str
    number: int
    turn: int


@dataclass(frozen=True, slots=True)
class Course:
    """An outcome under the name of its column, with the works as it has them, and what happened when."""

    name: str
    outcome: Outcome
    works: Mapping[str, Work]
    happened: Mapping[What, tuple[float, Span]]

    @classmethod
    def of(cls, name: str, outcome: Outcome, works: Iterable[Work]) -> Course:
        """The course that an outcome was."""
        return cls(name, outcome, {work.name: work for work in works}, dict(_happened(outcome.spans)))


def first_difference(here: Course, there: Course) -> Differs | None:
    """What one does first that the other does not, or the other way round; None where they do alike."""
    found = min(_apart(here, there), default=None)
    if found is None:
        return _first_place(here, there)
    at, what = found
    first, second = (there, here) if _is_at(there, what, at) else (here, there)
    span = first.happened[what][1]
    does = f"after {lasting(at)} {first.name} {_does(what, span, first.works)}"
    instead, because = _instead(second, what, at)
    return Differs(
        name=there.name, base=here.name, at=at, work=what.work, there=does, here=instead, because=because
    )


def _happened(spans: Sequence[Span]) -> Iterable[tuple[What, tuple[float, Span]]]:
    turns: Counter[tuple[str, int]] = Counter()
    for span in sorted(spans, key=lambda each: each.bound):
        turn = turns[span.work, span.index]
        turns[span.work, span.index] += 1
        yield What(is_start=True, work=span.work, number=span.index, turn=turn), (span.bound, span)
        if span.end is End.RECLAIMED:
            taken = What(is_start=False, work=span.work, number=span.index, turn=turn)
            yield taken, (span.ended, span)


def _apart(here: Course, there: Course) -> Iterable[tuple[float, What]]:
    """What happens at other times, or in one of them alone, with the earlier of its times."""
    for what in here.happened.keys() | there.happened.keys():
        times = sorted(each.happened[what][0] for each in (here, there) if what in each.happened)
        if len(times) < 2 or times[1] - times[0] > PACE_SECONDS + PACE_PART * times[0]:
            yield times[0], what


def _is_at(course: Course, what: What, at: float) -> bool:
    return what in course.happened and course.happened[what][0] == at


def _pod(work: Work | None, name: str, index: int) -> str:
    """What a pod is called: by its volume, as a copy or a worker; ``books/v1``."""
    if work is None:
        return f"pod {index} of {name}"
    if work.kind is Kind.CAMPAIGN and work.pack == 1 and index < len(work.units):
        unit = work.units[index].name
        return name if unit == name else f"{unit} of {name}"
    return f"{ {Kind.FLEET: 'copy', Kind.GANG: 'worker'}.get(work.kind, 'pod') } {index} of {name}"


def _cards(span: Span) -> str:
    if 0 < span.gpus < 1:
        return f"{100 * span.gpus:.0f} % of a card of {span.node}"
    return f"{span.gpus:g} cards of {span.node}" if span.gpus > 1 else span.node


def _does(what: What, span: Span, works: Mapping[str, Work]) -> str:
    pod = _pod(works.get(what.work), what.work, what.number)
    if what.is_start:
        again = " again" if what.turn else ""
        return f"starts {pod}{again} on {_cards(span)}"
    return f"takes {pod} back from {span.node}" + (f" for {span.by}" if span.by else "")


def _instead(course: Course, what: What, at: float) -> tuple[str, str]:
    """What a course does with the same pod, and for which reason."""
    later = course.happened.get(what)
    if not what.is_start:
        runs_on = f"{course.name} lets it run" + (f" until {lasting(later[0])}" if later else "")
        return runs_on, ""
    until = None if later is None else later[0]
    reason = _reason(course.outcome, what.work, at) or _narrow(course, what.work, at, until)
    if later is not None:
        return f"{course.name} keeps it waiting until {lasting(later[0])}", reason
    return f"{course.name} does not start it" + (" again" if what.turn else ""), reason


def _reason(outcome: Outcome, work: str, at: float) -> str:
    """What was said of the work's waiting at that time, or a little after it."""
    spans = [each for each in outcome.waits if each.work == work and each.until > at]
    if spans:
        wait = min(spans, key=lambda each: (max(each.since, at), each.since))
        if wait.since <= at + PACE_SECONDS + PACE_PART * at:
            return " ".join((wait.message or wait.reason).split())
    return next((each.never for each in outcome.ends if each.work == work), "")


def _narrow(course: Course, name: str, since: float, until: float | None) -> str:
    """Where nothing waits, what keeps a pod from being is the window, as narrow as it is until the moment."""
    work = course.works.get(name)
    if work is None or work.kind is not Kind.CAMPAIGN:
        return ""
    spans = [span for span in course.outcome.spans if span.work == name]
    moments = [since, *(span.bound for span in spans if since < span.bound < (until or span.ended))]
    wide = max(sum(span.bound <= moment < span.ended for span in spans) for moment in moments)
    if not wide:
        return ""
    return f"its window stays {wide} wide" if until is None else f"its window is {wide} wide until then"


def _first_place(here: Course, there: Course) -> Differs | None:
    """The first pod that stands on another node, where all start and end alike."""
    for what, (at, span) in sorted(here.happened.items(), key=lambda item: (item[1][0], item[0])):
        other = there.happened[what][1]
        if what.is_start and other.node != span.node:
            pod = _pod(here.works.get(what.work), what.work, what.number)
            return Differs(
                name=there.name,
                base=here.name,
                at=at,
                work=what.work,
                there=f"after {lasting(at)} {there.name} places {pod} on {other.node}",
                here=f"{here.name} on {span.node}",
                because="",
            )
    return None
