"""What Kueue would do next, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from allotment.cli.shared import safe
from allotment.cli.words import counted
from allotment.planning.kueue_asked import Said, SaidOfQueues
from allotment.planning.kueue_next import Next, Outlook

MOST_SHOWN: Final = 5
MOST_NAMED: Final = 3


def next_lines(said: Said) -> Iterator[str]:
    """A section of its own; empty where there is nothing to say."""
    if not said.outlooks:
        return
    when = " if it were sent" if said.unsent else " next"
    yield f"  what Kueue would do{when} ({model_words(said.version, said.model)}):"
    for each in said.outlooks:
        begin = f"{each.name}: " if len(said.outlooks) > 1 else ""
        for line in _sentences(each):
            yield f"    {safe(begin + line)}"
            begin = ""
    yield from (f"    note: {safe(note)}" for note in said.notes)


def model_words(version: str, model: str) -> str:
    """That it is a model, and of which Kueue."""
    words = f"a model of Kueue {model}"
    if not version:
        return f"{words}; which Kueue the cluster has cannot be told"
    return words if version == model else f"{words}; the cluster's is {version}, which may decide otherwise"


def _sentences(found: Outlook) -> Iterator[str]:
    told = ": ".join(part for part in (found.reason, found.message) if part)
    if found.next is Next.ADMITTED:
        yield f"it lets it in{_when(found.cycle)}"
    elif found.next is Next.PREEMPTS:
        yield f"it evicts {_victims(found)}{', and then lets it in' if found.cycle else ''}"
    elif found.next is Next.WAITS:
        yield f"it lets it wait: {told}" if told else "it lets it wait"
        if found.ends:
            yield f"it lets it in once {_listed(found.ends)} {'ends' if len(found.ends) == 1 else 'end'}"
        elif found.tried_all:
            yield "no end of what is admitted lets it in"
    else:
        yield "it does not try it"
    yield from found.notes


def _when(cycle: int) -> str:
    return " in its next cycle" if cycle == 1 else f" after {counted(cycle - 1, 'other cycle')}"


def _victims(found: Outlook) -> str:
    names = dict.fromkeys(each.name for each in found.victims)
    reasons = dict.fromkeys(each.why for each in found.victims)
    return f"{_listed(list(names))} ({', '.join(reasons)})"


def _listed(names: Sequence[str]) -> str:
    shown, more = names[:MOST_NAMED], len(names) - MOST_NAMED
    if more > 0:
        return f"{', '.join(shown)} and {more:,} more"
    return " and ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)


def queues_lines(said: SaidOfQueues, named: Sequence[str] = ()) -> Iterator[str]:
    """Each queue's line, the first of it, with what becomes of each in a few words."""
    queues = {name: told for name, told in said.queues.items() if not named or name in named}
    if queues:
        yield f"what Kueue would do next ({model_words(said.version, said.model)}):"
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
    if found.next is Next.PREEMPTS:
        return f"evicts {_victims(found)}"
    if found.next is Next.WAITS:
        return f"waits: {found.reason or found.message}"
    return f"not tried: {'; '.join(found.notes)}"


def said_data(said: Said) -> dict[str, Any] | None:
    """The same for programs; None where nothing is said."""
    if not said.outlooks and not said.notes:
        return None
    return {
        "model": said.model,
        "kueue": said.version or None,
        "unsent": said.unsent,
        "workloads": [_data(each) for each in said.outlooks],
        "notes": list(said.notes),
    }


def queues_data(said: SaidOfQueues, named: Sequence[str] = ()) -> dict[str, Any] | None:
    """The lines for programs."""
    if not said.queues and not said.notes:
        return None
    return {
        "model": said.model,
        "kueue": said.version or None,
        "queues": [
            {"queue": name, "waiting": [_data(each) for each in told]}
            for name, told in said.queues.items()
            if not named or name in named
        ],
        "notes": list(said.notes),
    }


def _data(found: Outlook) -> dict[str, Any]:
    return {**asdict(found), "cycle": found.cycle or None}
