"""What the schedulers would do next, for people and for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from allotment.cli.shared import safe
from allotment.pictures.counts import counted
from allotment.planning.outlook.values import Next, Outlook, Said, SaidOfQueues, Victim

MOST_SHOWN: Final = 5
MOST_NAMED: Final = 3


def next_lines(said: Said) -> Iterator[str]:
    """A section of its own; empty where there is nothing to say."""
    if not said.outlooks:
        return
    when = " if it were sent" if said.unsent else " next"
    yield f"  what {said.scheduler} would do{when} ({model_words(said)}):"
    for each in said.outlooks:
        begin = f"{each.name}: " if len(said.outlooks) > 1 else ""
        for line in _sentences(each):
            yield f"    {safe(begin + line)}"
            begin = ""
    yield from (f"    note: {safe(note)}" for note in said.notes)


def model_words(said: Said | SaidOfQueues) -> str:
    """That it is a model, and of which release."""
    words = f"a model of {said.scheduler} {said.model}"
    if not said.version:
        return f"{words}; which {said.scheduler} the cluster has cannot be told"
    if said.version == said.model:
        return words
    return f"{words}; the cluster's is {said.version}, which may decide otherwise"


def _admitted(found: Outlook) -> Iterator[str]:
    yield f"it lets it in{_when(found.cycle)}"


def _starts(found: Outlook) -> Iterator[str]:
    yield f"it starts {_pods(found)}{_when(found.cycle)}"
    if found.started < found.pods:
        yield f"it lets the others wait{_told(found)}"


def _preempts(found: Outlook) -> Iterator[str]:
    then = ", and then lets it in" if found.cycle else ""
    if found.pods:
        then = f", and then starts {_pods(found)}" if found.cycle else ""
    yield f"it evicts {_victims(found)}{then}"
    if found.pods and found.cycle and found.started < found.pods:
        yield f"it lets the others wait{_told(found)}"


def _evicted(found: Outlook) -> Iterator[str]:
    yield f"it evicts pods of it{_told(found)}"


def _waits(found: Outlook) -> Iterator[str]:
    yield f"it lets it wait{_told(found)}"
    if found.ends:
        yield f"it lets it in once {_listed(found.ends)} {'ends' if len(found.ends) == 1 else 'end'}"
    elif found.tried_all:
        yield f"no end of what {'runs' if found.pods else 'is admitted'} lets it in"


def _not_tried(_found: Outlook) -> Iterator[str]:
    yield "it does not try it"


SENTENCES: Final[Mapping[Next, Callable[[Outlook], Iterator[str]]]] = {
    Next.ADMITTED: _admitted,
    Next.STARTS: _starts,
    Next.PREEMPTS: _preempts,
    Next.EVICTED: _evicted,
    Next.WAITS: _waits,
    Next.NOT_TRIED: _not_tried,
}


def _sentences(found: Outlook) -> Iterator[str]:
    yield from SENTENCES[found.next](found)
    yield from found.notes


def _told(found: Outlook) -> str:
    """The scheduler's reason in its words."""
    told = ": ".join(part for part in (found.reason, " ".join(found.message.split())) if part)
    return f": {told}" if told else ""


def _pods(found: Outlook) -> str:
    if found.started == found.pods:
        return "its pod" if found.pods == 1 else f"all {found.pods:,} pods that wait"
    return f"{found.started:,} of {found.pods:,} pods that wait"


def _when(cycle: int) -> str:
    return " in its next cycle" if cycle == 1 else f" after {counted(cycle - 1, 'other cycle')}"


def _victims(found: Outlook) -> str:
    names = dict.fromkeys(map(_victim, found.victims))
    reasons = dict.fromkeys(each.why for each in found.victims)
    return f"{_listed(list(names))} ({', '.join(reasons)})"


def _victim(victim: Victim) -> str:
    if not victim.wide:
        return victim.name
    if victim.pods >= victim.wide:
        return f"{victim.name} with all of its {victim.wide:,} pods" if victim.wide > 1 else victim.name
    return f"{victim.pods:,} of {victim.wide:,} pods of {victim.name}"


def _listed(names: Sequence[str]) -> str:
    shown, more = names[:MOST_NAMED], len(names) - MOST_NAMED
    if more > 0:
        return f"{', '.join(shown)} and {more:,} more"
    return " and ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)


def queues_lines(said: SaidOfQueues, named: Sequence[str] = ()) -> Iterator[str]:
    """Each queue's line, the first of it, with what becomes of each in a few words."""
    queues = {name: told for name, told in said.queues.items() if not named or name in named}
    if queues:
        yield f"what {said.scheduler} would do next ({model_words(said)}):"
    for name, told in queues.items():
        yield f"  {safe(name)}:"
        for place, each in enumerate(told[:MOST_SHOWN], 1):
            yield f"    {place}. {safe(each.name)}: {safe(_brief(each))}"
        if len(told) > MOST_SHOWN:
            yield f"    … and {len(told) - MOST_SHOWN:,} more"
    if queues or not said.queues:
        yield from (f"note: {safe(note)}" for note in said.notes)


def _brief(found: Outlook) -> str:
    if found.next is Next.ADMITTED:
        return f"let in{_when(found.cycle)}"
    if found.next is Next.STARTS:
        return f"starts {_pods(found)}{_when(found.cycle)}"
    if found.next is Next.PREEMPTS:
        return f"evicts {_victims(found)}"
    if found.next is Next.WAITS:
        return f"waits: {found.reason or found.message}"
    return f"not tried: {'; '.join(found.notes)}"


def said_data(found: Sequence[Said]) -> dict[str, Any] | None:
    """The same for programs; None where nothing is said.

    Who places after another has admitted stands in it under ``then``.
    """
    if not found:
        return None
    said, then = found[0], said_data(found[1:])
    return {
        **_model_data(said),
        "unsent": said.unsent,
        "workloads": [_data(each) for each in said.outlooks],
        "notes": list(said.notes),
        **({} if then is None else {"then": then}),
    }


def queues_data(found: Sequence[SaidOfQueues], named: Sequence[str] = ()) -> dict[str, Any] | None:
    """The lines for programs."""
    if not found:
        return None
    said, then = found[0], queues_data(found[1:], named)
    return {
        **_model_data(said),
        "queues": [
            {"queue": name, "waiting": [_data(each) for each in told]}
            for name, told in said.queues.items()
            if not named or name in named
        ],
        "notes": list(said.notes),
        **({} if then is None else {"then": then}),
    }


def _model_data(said: Said | SaidOfQueues) -> dict[str, Any]:
    """Whose model of which release it is, and the cluster's own, by the scheduler's name."""
    name = said.scheduler.lower()
    return {"scheduler": name, "model": said.model, name: said.version or None}


def _data(found: Outlook) -> dict[str, Any]:
    by_pods = {} if found.pods else {"pods": None, "started": None}
    victims = [
        {**asdict(each), **({} if each.wide else {"pods": None, "wide": None})} for each in found.victims
    ]
    return {**asdict(found), "cycle": found.cycle or None, "victims": victims, **by_pods}
