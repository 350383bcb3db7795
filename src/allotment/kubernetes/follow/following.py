"""Everything of a team that is on a cluster, joined and told: campaigns, fleets and gangs by name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.absent import OWNERS, absent, bounds_of, counts_of_gone, missing, of_gone
from allotment.kubernetes.follow.causes import causes_of
from allotment.kubernetes.follow.causes.narrow import bounds_on, narrow
from allotment.kubernetes.follow.causes.paused import by_file
from allotment.kubernetes.follow.causes.preparing import preparation
from allotment.kubernetes.follow.causes.silence import silence
from allotment.kubernetes.follow.indexes import counts_of, indexes_of
from allotment.kubernetes.follow.model import (
    NOTHING_EXPECTED,
    Cause,
    Counts,
    Expected,
    Followed,
    Slice,
    State,
    Window,
)
from allotment.kubernetes.follow.part import RESERVED, Part
from allotment.kubernetes.follow.pods import Phase
from allotment.kubernetes.follow.queueing import position
from allotment.kubernetes.follow.remembered import Gone, gone_in, owners_remembered
from allotment.kubernetes.follow.seen import Seen
from allotment.kubernetes.follow.sums import pods_of, sums_of
from allotment.kubernetes.follow.telling import UNITS, sentence_of
from allotment.kubernetes.kinds import (
    CLAIM,
    EVENT,
    KAI_POD_GROUP,
    NODE,
    POD,
    SLICE,
    WORKLOAD,
)
from allotment.kubernetes.render.names import MANAGED_BY, PREFIX
from allotment.pictures.counts import counted

LOOKED_AT: Final = (POD, EVENT, CLAIM, SLICE, NODE)
_OVER: Final = (State.FINISHED, State.FAILED)


def follow(
    snapshot: Snapshot,
    namespace: str,
    names: Collection[str] = (),
    *,
    expected: Mapping[str, Expected] = NOTHING_EXPECTED,
) -> tuple[Followed, ...]:
    """What is in a team's namespace, in the order of names; without ``names`` all of it.

    ``expected`` is what the team's repository says: it gives the bounds of windows, and what is not there.
    """
    seen = Seen(snapshot)
    found = _parts(seen, namespace)
    gone = _gone(seen, namespace, found)
    told = []
    for name in names or sorted({*found, *gone, *expected}):
        if name in found:
            told.append(_told(seen, found[name], gone.get(name, ()), expected.get(name)))
        elif name in gone:
            told.append(of_gone(name, namespace, gone[name], expected.get(name)))
        else:
            told.append(absent(name, namespace, expected.get(name), seen))
    return tuple(told)


def names_in(snapshot: Snapshot, namespace: str) -> frozenset[str]:
    """What of ours is in a namespace, or was and is remembered there."""
    seen = Seen(snapshot)
    found = _parts(seen, namespace)
    return frozenset({*found, *_gone(seen, namespace, found)})


def _gone(seen: Seen, namespace: str, found: Mapping[str, Sequence[Part]]) -> dict[str, list[Gone]]:
    there = frozenset(fields.uid(part.owner) for parts in found.values() for part in parts)
    gone: dict[str, list[Gone]] = {}
    for each in gone_in(seen, namespace, there):
        gone.setdefault(each.name, []).append(each)
    return gone


def team_parts(snapshot: Snapshot, namespace: str) -> tuple[Part, ...]:
    """All parts of everything in a namespace, what prepares recipes too."""
    return tuple(part for parts in _parts(Seen(snapshot), namespace).values() for part in parts)


def parts_in(snapshot: Snapshot, namespace: str, name: str) -> tuple[Part, ...]:
    """The parts of one campaign, fleet or gang, its preparation too."""
    return tuple(_parts(Seen(snapshot), namespace).get(name, ()))


def _parts(seen: Seen, namespace: str) -> dict[str, list[Part]]:
    found: dict[str, list[Part]] = {}
    remembering = owners_remembered(seen, namespace)
    for kind, owner in OWNERS.items():
        for each in seen.of(owner, namespace):
            name = fields.label(each, f"{PREFIX}{kind}")
            if not name and (remembered := remembering.get(fields.uid(each), ("", "")))[0] == kind:
                name = remembered[1]
            if name and fields.name(each):
                found.setdefault(name, []).append(Part(seen, kind, name, each))
    return {
        name: sorted(parts, key=lambda each: (each.number, fields.name(each.owner)))
        for name, parts in found.items()
    }


def prepares(part: Part) -> bool:
    """Whether the Job prepares a recipe, and has no volumes."""
    return part.kind == "campaign" and not fields.label(part.owner, f"{PREFIX}part")


def _told(seen: Seen, found: Sequence[Part], gone: Sequence[Gone], expected: Expected | None) -> Followed:
    preparing = [part for part in found if prepares(part)]
    parts = [part for part in found if not prepares(part)] or list(found)
    by_part = [causes_of(part) for part in parts]
    first = parts[0]
    prepared = [cause for part in preparing if part not in parts and (cause := preparation(part)) is not None]
    states = [_state(part, causes) for part, causes in zip(parts, by_part, strict=True)]
    indexes = tuple(index for part in parts for index in indexes_of(part))
    counts = counts_of_gone(gone)
    for part in parts:
        counts = counts.plus(counts_of(part, [each for each in indexes if each.part == part.number]))
    state = _state_of_all(states)
    causes = _ordered(by_part, states, prepared, state)
    if not causes and state is State.WAITING:
        waiting = (part for part, each in zip(parts, states, strict=True) if each is State.WAITING)
        causes = tuple(cause for part in waiting for cause in silence(part))[:1]
        state = causes[0].state if causes else state
    if not causes and state is State.RUNNING and first.kind == "campaign":
        going = (part for part, each in zip(parts, states, strict=True) if each is State.RUNNING)
        causes = tuple(cause for part in going for cause in narrow(part))[:1]
    packed = any(len(pack) > 1 for part in parts for pack in part.volumes)
    if state is State.FINISHED and len(parts) > 1:
        words = f"all {counted(counts.total, 'pack' if packed else UNITS[first.kind])} are done"
        causes = tuple(replace(each, sentence=words) for each in causes)
    if expected is not None and expected.suspended:
        causes = tuple(map(by_file, causes))
    width = sum(part.width for part, each in zip(parts, states, strict=True) if each not in _OVER)
    return Followed(
        name=first.name,
        kind=first.kind,
        namespace=first.namespace,
        state=state,
        sentence=sentence_of(state, first.kind, counts, causes, packed=packed),
        causes=causes,
        team=fields.label(first.owner, f"{PREFIX}team"),
        pipeline=fields.label(first.owner, f"{PREFIX}pipeline"),
        counts=counts,
        window=_window(counts, width, expected, first),
        indexes=indexes,
        slices=tuple(each for part in parts for each in _slices(part)),
        sums=tuple(each for part in parts for each in sums_of(part)),
        jobs=tuple(fields.name(part.owner) for part in parts),
        started=min((at for part in parts if (at := fields.created(part.owner)) is not None), default=None),
        ended=_ended(parts, states),
        notes=tuple(dict.fromkeys(note for part in parts for note in _notes(seen, part))),
        is_packed=packed,
    )


def _state(part: Part, causes: Sequence[Cause]) -> State:
    root = causes[0] if causes else None
    if root is not None and root.kind in {"finished", "job-failed", "volumes-failed"}:
        return root.state
    if part.in_phase(Phase.RUNNING):
        return State.RUNNING
    if root is None:
        return State.STARTING if part.in_phase(Phase.STARTING) else State.WAITING
    return State.WAITING if root.state is State.FAILED else root.state


def _state_of_all(states: Sequence[State]) -> State:
    """One state for all parts: what runs, else what could, else how it ended."""
    if State.RUNNING in states:
        return State.RUNNING
    going = [state for state in states if state not in _OVER]
    if going:
        return going[0]
    return State.FAILED if State.FAILED in states else State.FINISHED


def _ordered(
    by_part: Sequence[Sequence[Cause]],
    states: Sequence[State],
    prepared: Sequence[Cause],
    state: State,
) -> tuple[Cause, ...]:
    """The causes of all parts, the root first; that one part is done is no cause while others go on."""
    going = [causes for causes, each in zip(by_part, states, strict=True) if each is state]
    others = [causes for causes, each in zip(by_part, states, strict=True) if each is not state]
    later = [cause for causes in others for cause in causes if cause.kind != "finished" or state in _OVER]
    told = [
        *(prepared if state not in _OVER else ()),
        *(cause for causes in going for cause in causes),
        *later,
    ]
    if state is State.FINISHED:
        told = told[:1]
    return tuple({(cause.kind, cause.sentence): cause for cause in reversed(told)}.values())[::-1]


def _window(counts: Counts, width: int, expected: Expected | None, first: Part) -> Window:
    bounds = bounds_on(first) if expected is None else bounds_of(expected)
    return Window(counts.running, width, *bounds)


def _slices(part: Part) -> Iterator[Slice]:
    for workload, is_live in ((part.live, True), (part.wished, False)):
        if workload is None:
            continue
        found = fields.is_false(workload, RESERVED)
        yield Slice(
            fields.name(workload),
            pods_of(workload),
            is_live,
            "" if found is None else found.reason,
            "" if found is None else found.message,
            None if is_live else position(workload, part.seen),
        )


def _ended(parts: Sequence[Part], states: Sequence[State]) -> float | None:
    if any(state not in _OVER for state in states):
        return None
    moments = [fields.moment(part.owner, "status", "completionTime") for part in parts]
    moments += [
        found.since
        for part in parts
        for kind in ("Failed",)
        if (found := fields.condition(part.owner, kind)) is not None
    ]
    return max((each for each in moments if each is not None), default=None)


def _notes(seen: Seen, part: Part) -> Iterator[str]:
    kinds = [*LOOKED_AT, OWNERS[part.kind]]
    kinds += [WORKLOAD] if part.queue and seen.serves(WORKLOAD) else []
    kinds += [KAI_POD_GROUP] if part.by_kai and seen.serves(KAI_POD_GROUP) else []
    yield from missing(seen, kinds)
    if any(fields.label(part.owner, key) != said for key, said in MANAGED_BY.items()):
        words = " ".join(f"{key}={said}" for key, said in MANAGED_BY.items())
        shown = f"job {fields.name(part.owner)}" if part.is_job else f"deployment {fields.name(part.owner)}"
        yield (
            f"somebody took our label from it, so `allot apply` leaves it alone: `kubectl label "
            f"-n {part.namespace} {shown} {words}` puts it back"
        )
