"""The one sentence that names the cause: the step that leaves too few devices, and with what values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from allotment.devices.claims import ClaimSpec
from allotment.devices.classes import GPU_CLASS
from allotment.devices.known_classes import NVIDIA_DRIVER
from allotment.needs.clauses import Candidate
from allotment.planning.why.nodes import together_words, until_use
from allotment.planning.why.room import Room
from allotment.planning.why.sieve import passes
from allotment.planning.why.steps import HELD_BY, OF_CLAUSES, Condition, Lost, Sifted, Stage, Step
from allotment.planning.why.values import OTHERS, cards_words, counted_words, named
from allotment.planning.why.whole_nodes import OF_ALL, OF_NODE, WITH_ALL

_MOST_GROUPS: Final = 3


class CauseKind(StrEnum):
    """What keeps a claim from being placed."""

    NO_DEVICE = "no-device"
    NO_CLASS = "no-class"
    SELECTOR_FAILS = "selector-fails"
    CLASS = "class"
    CLAUSE = "clause"
    EXCLUSIVE = "clauses-exclude-each-other"
    CAPACITY = "capacity"
    TAINT = "taint"
    POOL = "pool"
    GATE = "gate"
    OPEN = "open"
    REACH = "reach"
    ONE_NODE = "one-node"
    CONSTRAINT = "constraint"
    IN_USE = "in-use"
    COUNTERS = "counters"
    TOGETHER = "together"


@dataclass(frozen=True, slots=True)
class Cause:
    """The cause, the alternative that it is about (its name), and in words."""

    kind: CauseKind
    request: str
    words: str


def cause_of(room: Room, claim: ClaimSpec, sifted: Sequence[Sifted], *, waits: bool) -> Cause:
    """Why the claim is not placed: now, if it ``waits``, else ever."""
    for request in claim.requests:
        of_request = [found for found in sifted if found.request is request]
        blocked = [found for found in of_request if _is_blocked(found, now=waits)]
        if blocked and len(blocked) == len(of_request):
            nearest = max(blocked, key=lambda found: (waits and found.stopped is None, _depth(found)))
            return _of_one(room, nearest, now=waits)
        ending = next((found for found in of_request if found.ends_search), None)
        if ending is not None:
            return _of_one(room, ending, now=waits)
    words = together_words(room, claim, sifted, now=waits)
    return Cause(CauseKind.TOGETHER, sifted[0].name if sifted else "", words)


def _is_blocked(found: Sifted, *, now: bool) -> bool:
    stopped = found.fault is not None or found.stopped is not None
    return stopped or (now and found.held_up is not None)


def _depth(found: Sifted) -> int:
    """How far an alternative came: that which came farthest is the nearest."""
    step = found.stopped or found.held_up
    return -1 if found.fault is not None or step is None else list(Stage).index(step.stage)


def _of_one(room: Room, found: Sifted, *, now: bool) -> Cause:
    if found.fault is not None and not found.conditions:
        return Cause(CauseKind.NO_CLASS, found.name, _no_class(room, found))
    if found.fault is not None:
        words = f"a selector fails, which keeps the pod off every node: {found.fault}"
        return Cause(CauseKind.SELECTOR_FAILS, found.name, words)
    step = (found.held_up if now else None) or found.stopped or found.held_up
    if step is None:
        return Cause(CauseKind.TOGETHER, found.name, "")
    if not found.everything:
        noun = "processors" if found.steps[0].words == "processors" else "cards"
        return Cause(CauseKind.NO_DEVICE, found.name, f"there are no {noun} at all")
    if step.stage in OF_CLAUSES:
        return _of_clause(room, found, step)
    kind, say = _SAID[step.stage]
    return Cause(kind, found.name, say(found, step))


def _no_class(room: Room, found: Sifted) -> str:
    known = named(sorted(room.world.classes), "classes", 5)
    return (
        f"there is no device class `{found.exact.device_class}`; there are {known or 'none'}, and "
        "whoever runs the cluster creates it"
    )


def _of_clause(room: Room, found: Sifted, step: Step) -> Cause:
    refusing = found.refusing(step)
    alone = [] if refusing is None else _passing(room, found, refusing)
    if refusing is None or not alone:
        asked = _none_of(found.of_class, step.words)
        return Cause(CauseKind.CLAUSE, found.name, f"{asked}: {_groups(step.lost)}")
    others = [each for each in found.conditions if each is not refusing and each.stage in OF_CLAUSES]
    names = {each.listed.id for each in alone}
    for other in others:
        passing = _passing(room, found, other)
        if passing and not names & {each.listed.id for each in passing}:
            one, two = f"{cards_words(passing)} {other.words}", f"{cards_words(alone)} {refusing.words}"
            words = f"two clauses exclude each other: {one}, {two}, and no device does both"
            return Cause(CauseKind.EXCLUSIVE, found.name, words)
    clauses = ", ".join(each.words for each in (*others, refusing))
    words = f"no device meets all clauses at once ({clauses}); the last ones lost: {_groups(step.lost)}"
    return Cause(CauseKind.EXCLUSIVE, found.name, words)


def _passing(room: Room, found: Sifted, condition: Condition) -> list[Candidate]:
    return [each for each in found.of_class if passes(condition, each, room.matches)]


def _of_class(found: Sifted, step: Step) -> str:
    wanted = next((each.clause.words for each in found.conditions), step.words)
    lost = [each for one in found.steps if one.stage is Stage.CLASS for each in one.lost]
    of = "" if found.exact.device_class in wanted else f" (class {found.exact.device_class})"
    if found.exact.device_class == GPU_CLASS and any(map(_is_whole_of_nvidia, found.everything)):
        wanted, of = step.words, ""
        if not step.lost:
            wanted = next((each.words for each in found.conditions), wanted)
    return f"{_none_of(found.everything, f'{wanted}{of}')}: {_groups(lost)}"


def _is_whole_of_nvidia(candidate: Candidate) -> bool:
    return candidate.driver == NVIDIA_DRIVER and candidate.listed.kind == "whole"


def _of_node(found: Sifted, step: Step) -> str:
    have = "; ".join(each.why for each in step.lost[:_MOST_GROUPS])
    if found.takes_all:
        return f"{OF_ALL}, and none {step.words.removeprefix(OF_NODE)}: {have}{_users(found, step)}"
    total = sum(each.count for each in step.lost)
    state = "would do" if found.stopped is step else "is free" if total == 1 else "are free"
    if total < found.needed:
        return f"{found.needed} are asked for, and only {total} {state}: {have}"
    return (
        f"{found.needed} are asked for on one node, and no node has so many: of {total} that {state} there "
        f"are {have}"
    )


def _of_constraint(found: Sifted, step: Step) -> str:
    have = "; ".join(each.why for each in step.lost[:_MOST_GROUPS])
    if found.takes_all:
        rule = step.words.removeprefix(WITH_ALL)
        return f"{OF_ALL}, {rule}, and one where they are not keeps the pod off every node: {have}"
    _, _, asked = step.words.partition(", ")
    attribute = "" if step.text in asked else f" (`{step.text}`)"
    return f"no node has {found.needed} that are {asked}{attribute}: {have}"


def _users(found: Sifted, step: Step) -> str:
    lost = [each for one in found.steps if one.stage is Stage.USE for each in one.lost]
    return f"; {_held(lost)}" if lost and step is found.held_up else ""


def _of_use(found: Sifted, step: Step) -> str:
    """Who has the devices, and which others have not enough left of what they share."""
    ever = sum(1 for _ in until_use(found.steps))
    steps = [each for each in found.steps[ever:] if each.lost and each.stage in {Stage.USE, Stage.COUNTERS}]
    return "; ".join(_would(each, len(found.would)) for each in steps or [step])


def _would(step: Step, total: int | None = None) -> str:
    """``the only device that would do is tainted``; ``total`` would do (None: those that fell out)."""
    one, several = _ARE[step.stage]
    count = sum(each.count for each in step.lost)
    what = _held(step.lost) if step.stage is Stage.USE else _groups(step.lost)
    verb = one if count == 1 else several
    if count < (total or count):
        return f"{count:,} of {total:,} that would do {verb}: {what}"
    which = "the only device" if count == 1 else f"all {count:,}"
    return f"{which} that would do {verb}: {what}"


_ARE: Final[Mapping[Stage, tuple[str, str]]] = {
    Stage.TAINT: ("is tainted", "are tainted"),
    Stage.POOL: ("is in a pool that cannot be used", "are in a pool that cannot be used"),
    Stage.OPEN: ("is on a node that no pod starts on", "are on nodes that no pod starts on"),
    Stage.REACH: ("is for no node that is known", "are for no node that is known"),
    Stage.CAPACITY: ("has not the capacity that is asked for", "have not the capacity that is asked for"),
    Stage.USE: ("is in use", "are in use"),
    Stage.COUNTERS: (
        "has not enough left of what its card shares out",
        "have not enough left of what their card shares out",
    ),
}


def _gated(_: Sifted, step: Step) -> str:
    count = sum(each.count for each in step.lost)
    which = "the only device that would do is" if count == 1 else f"all {count:,} that would do are"
    return f"{which} {step.words.removeprefix('are not ')}"


def _said(_: Sifted, step: Step) -> str:
    return _would(step)


_SAID: Final[Mapping[Stage, tuple[CauseKind, Callable[[Sifted, Step], str]]]] = {
    Stage.CLASS: (CauseKind.CLASS, _of_class),
    Stage.CAPACITY: (CauseKind.CAPACITY, _said),
    Stage.TAINT: (CauseKind.TAINT, _said),
    Stage.POOL: (CauseKind.POOL, _said),
    Stage.OPEN: (CauseKind.OPEN, _said),
    Stage.GATE: (CauseKind.GATE, _gated),
    Stage.REACH: (CauseKind.REACH, _said),
    Stage.NODE: (CauseKind.ONE_NODE, _of_node),
    Stage.CONSTRAINT: (CauseKind.CONSTRAINT, _of_constraint),
    Stage.USE: (CauseKind.IN_USE, _of_use),
    Stage.COUNTERS: (CauseKind.COUNTERS, _of_use),
}


def _none_of(devices: Sequence[object], words: str) -> str:
    """``none of 3 devices pass `…` ``; of one that it does not."""
    if len(devices) != 1:
        return f"none of {len(devices):,} devices {words}"
    verb, _, rest = words.partition(" ")
    return f"the only device {'is not' if verb == 'are' else f'does not {verb}'} {rest}"


def _held(lost: Iterable[Lost]) -> str:
    """``8 x H100-SXM, held by letters/brev-1887 of anna, letters/harbour-log of anna``."""
    groups = list(lost)
    shared = [each for each in groups if not each.why.startswith(HELD_BY)]
    whole = [each for each in groups if each.why.startswith(HELD_BY)]
    if not whole:
        return _groups(shared)
    cards: Counter[str] = Counter()
    for each in whole:
        cards[each.card] += each.count
    who = named([each.why.removeprefix(HELD_BY) for each in whole], OTHERS)
    rest = f"; {_groups(shared)}" if shared else ""
    return f"{counted_words(cards)}, {HELD_BY}{who}{rest}"


def _groups(lost: Iterable[Lost]) -> str:
    """``24 x H100-SXM: memory is 79.64Gi (81559Mi); 4 x L4: memory is 22.49Gi (23034Mi)``."""
    groups = list(lost)
    said = [f"{each.count:,} x {each.card}" + (f": {each.why}" if each.why else "") for each in groups]
    rest = sum(each.count for each in groups[_MOST_GROUPS:])
    return "; ".join(said[:_MOST_GROUPS]) + (f"; and {rest:,} more" if rest else "")
