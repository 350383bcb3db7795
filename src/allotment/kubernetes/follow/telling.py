"""The one sentence of a campaign, a fleet or a gang, and the state that it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from allotment.kubernetes.follow.model import Cause, Counts, State
from allotment.pictures.counts import counted

STATE_WORDS: Final[Mapping[State, str]] = {
    State.ABSENT: "it is not on the cluster",
    State.WAITING: "it waits",
    State.NEVER: "it will never start as it is",
    State.STARTING: "it starts",
    State.RUNNING: "it runs",
    State.PAUSED: "it is paused",
    State.FINISHED: "it is finished",
    State.FAILED: "it has failed",
}
UNITS: Final = {"campaign": "volume", "gang": "worker", "fleet": "copy"}
_GROWTH: Final = frozenset({"growth-waits", "growth-never-fits"})
_WAITS: Final = frozenset({State.WAITING, State.STARTING})
_BROKEN: Final = frozenset({"lost-node", "disrupted", "image", "reclaimed-often"})


def sentence_of(state: State, kind: str, counts: Counts, causes: Sequence[Cause], *, packed: bool) -> str:
    """What it does, and why not more; the cause is named in it."""
    root = causes[0] if causes else None
    if state is State.RUNNING:
        unit = "pack" if packed else UNITS[kind]
        running = f"it runs {counted(counts.running, unit)} at once"
        return running if root is None else f"{running}; {_beside(root)}"
    if root is None:
        return STATE_WORDS[state]
    if state is State.WAITING and root.state is State.FAILED:
        return f"nothing of it runs now: {root.sentence}"
    more = ""
    if state is State.FAILED and len(causes) > 1 and causes[1].state is State.FAILED:
        more = f": {causes[1].brief or causes[1].sentence}"
    return f"{STATE_WORDS[state]}: {root.sentence}{more}"


def _beside(cause: Cause) -> str:
    """What is not as it should be beside what runs."""
    if cause.kind in _GROWTH | _BROKEN or cause.state is State.FAILED:
        return cause.sentence
    if cause.state is State.NEVER:
        return f"more of it will never start as it is: {cause.sentence}"
    if cause.state in _WAITS:
        return f"more of it waits: {cause.sentence}"
    return cause.sentence
