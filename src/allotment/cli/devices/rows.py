"""The rows of `allot devices`: each device where they are few, like ones together where they are many.

Nothing is merged that differs in card, kind or memory. Of what is merged, the devices that somebody holds or
that cannot be had are still named below the table: those are what one looks for.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from allotment.devices.inventory import Listed, State
from allotment.devices.known_classes import CPU_DRIVER
from allotment.pictures.counts import counted
from allotment.quantities import MI, format_gi

MOST_ROWS = 24
MOST_ALIKE = 10  # on one node; more are merged however few rows there are
_ORDER = (
    State.FREE,
    State.HELD,
    State.SHARED,
    State.ON_DEMAND,
    State.TAINTED,
    State.INCOMPLETE,
    State.INVALID,
    State.CLOSED,
)
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Row:
    """One device, or several that are alike."""

    members: tuple[Listed, ...]

    @property
    def first(self) -> Listed:
        """The one that stands for all in what they have in common."""
        return self.members[0]

    @property
    def where(self) -> str:
        """The node, or the first and the last of several."""
        names = sorted({member.where for member in self.members}, key=natural)
        if len(names) == 1:
            return names[0]
        return f"{names[0]} … {names[-1]}"

    @property
    def pool(self) -> str:
        """The pool, where it is not called after the node."""
        pools = {member.id.pool for member in self.members if member.id.pool != member.where}
        return pools.pop() if len(pools) == 1 else counted(len(pools), "pool") if pools else ""

    @property
    def device(self) -> str:
        """The device's name, or how many they are."""
        if len(self.members) == 1:
            return self.first.id.device
        word = "processor" if self.first.id.driver == CPU_DRIVER else "device"
        counts = Counter(member.where for member in self.members)
        total = counted(len(self.members), word)
        if len(counts) == 1:
            return total
        each = set(counts.values())
        if len(each) == 1:
            return f"{len(counts):,} x {each.pop():,} {word}s"
        return f"{total} of {len(counts):,} nodes"

    @property
    def memory(self) -> str:
        """The memory as published, in Gi and in Mi, and what of it is used where that is known."""
        told = memory_words(self.first.memory)
        used = {member.used for member in self.members}
        if len(used) == 1 and (amount := used.pop()) is not None:
            return f"{told}, {format_gi(amount)} used"
        return told

    def state(self, *, brief: bool) -> str:
        """The state in words: the numbers of several, and of a single device the reason too unless brief."""
        if len(self.members) == 1:
            member = self.first
            if not member.why or brief:
                return str(member.state)
            noted = ", noted" if member.state in {State.FREE, State.ON_DEMAND} else ""
            between = " " if member.state in {State.HELD, State.SHARED} else ": "
            return f"{member.state}{noted}{between}{member.why}"
        counts = Counter(member.state for member in self.members)
        if len(counts) == 1:
            return str(self.first.state)
        if brief:
            return f"{counts[State.FREE]:,} of {len(self.members):,} free"
        return ", ".join(f"{counts[state]:,} {state}" for state in _ORDER if counts[state])


def rows_of(listed: Sequence[Listed], *, every: bool) -> list[Row]:
    """The rows in the order of nodes, pools and devices; with ``every`` one for each device."""
    ordered = sorted(listed, key=lambda each: (natural(each.where), each.id.driver, each.id.pool))
    if every:
        return [Row((each,)) for each in sorted(ordered, key=_name_order)]
    groups = _grouped(ordered, lambda each: (each.where, each.id.pool, each.likeness))
    merged = {place for place, group in enumerate(groups) if _is_better_merged(group)}
    count = sum(1 if place in merged else len(group) for place, group in enumerate(groups))
    for place in sorted(range(len(groups)), key=lambda place: _merging_order(groups[place])):
        if count <= MOST_ROWS:
            break
        if place not in merged:
            merged.add(place)
            count -= len(groups[place]) - 1
    if count > MOST_ROWS:
        return [Row(tuple(group)) for group in _grouped(ordered, lambda each: each.likeness)]
    rows: list[Row] = []
    for place, group in enumerate(groups):
        if place in merged:
            rows.append(Row(tuple(group)))
        else:
            rows += [Row((each,)) for each in sorted(group, key=_name_order)]
    return rows


def _merging_order(group: Sequence[Listed]) -> tuple[bool, int]:
    """Those that are all in one state go first, then the most numerous."""
    return len({(member.state, member.why) for member in group}) > 1, -len(group)


def _is_better_merged(group: Sequence[Listed]) -> bool:
    """Whether one row tells more than many: processors, partitions that could be cut, a long series."""
    first = group[0]
    return first.id.driver == CPU_DRIVER or first.state is State.ON_DEMAND or len(group) > MOST_ALIKE


def exceptions(
    rows: Iterable[Row], *, also_single: bool = False
) -> Iterator[tuple[State, str, list[Listed]]]:
    """Of merged rows, the devices that are held or cannot be had, by the reason; noted taints too."""
    found: dict[tuple[int, State, str], list[Listed]] = defaultdict(list)
    for row in rows:
        if len(row.members) == 1 and not also_single:
            continue
        for member in row.members:
            if member.state not in {State.FREE, State.ON_DEMAND} or member.why:
                found[_ORDER.index(member.state), member.state, member.why].append(member)
    for (_, state, why), members in sorted(found.items(), key=lambda item: (-item[0][0], item[0][2])):
        yield state, why, members


def memory_words(memory: int | None) -> str:
    """An amount of memory as a person compares it and as the driver says it: ``79.64Gi (81559Mi)``."""
    if memory is None:
        return "not told"
    if memory == 0:
        return "0 (not known)"
    mebibytes, rest = divmod(memory, MI)
    return f"{format_gi(memory)} ({mebibytes}Mi)" if not rest else format_gi(memory)


def natural(text: str) -> tuple[tuple[bool, int, str], ...]:
    """A key that sorts ``gpu-10`` after ``gpu-9``."""
    parts = _DIGITS.split(text)
    return tuple(
        (False, int(part[:18]), part) if part.isdigit() else (True, 0, part) for part in parts if part
    )


def _name_order(each: Listed) -> tuple[object, ...]:
    return (natural(each.where), each.id.driver, each.id.pool, natural(each.id.device))


def _grouped(listed: Iterable[Listed], key: Callable[[Listed], Hashable]) -> list[list[Listed]]:
    groups: dict[Hashable, list[Listed]] = defaultdict(list)
    for each in listed:
        groups[key(each)].append(each)
    return list(groups.values())
