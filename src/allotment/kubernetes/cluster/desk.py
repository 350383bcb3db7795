"""Reading the objects of a snapshot for a scheduler's model, and remembering which could not be read.

A cluster may hold objects that nobody has foreseen. What reading them raises is caught here; they are left
out, and a note says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeVar

from allotment.errors import AllotmentError
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.kinds import Kind, Object
from allotment.quantities import QuantityError

ODD: Final = (
    AllotmentError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    QuantityError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What reading and deciding raise over objects that no API server would have let in."""
_SHOWN: Final = 3
Read = TypeVar("Read")


@dataclass(slots=True)
class Desk:
    """Reads one snapshot as ``reader`` does (Kueue, KAI); ``odd`` are names by kind that it could not."""

    snapshot: Snapshot
    reader: str
    odd: dict[str, list[str]] = field(default_factory=dict)

    def each(self, kind: Kind, read: Callable[[Object], Read]) -> list[Read]:
        """The objects of a kind as they are read."""
        found = []
        for each in self.snapshot.of(kind):
            try:
                found.append(read(each))
            except ODD:
                self.odd.setdefault(kind.name, []).append(str(each["metadata"]["name"]))
        return found

    def notes(self) -> Iterator[str]:
        """What was left out."""
        for kind, names in sorted(self.odd.items()):
            more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
            shown = ", ".join(f"`{name}`" for name in names[:_SHOWN])
            yield f"{kind} {shown}{more} cannot be read as {self.reader} does, and counts for nothing here"
