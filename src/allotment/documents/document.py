"""A file as plain values that still knows where each of them stands.

Values are dicts with text keys, lists, text, numbers, booleans and None. The index of positions is built when
the first position is asked for: a file without findings never pays for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from allotment.documents.positions import Index, Loc, Scalar, Trap, build_index
from allotment.documents.source import Source
from allotment.errors import Position


@dataclass(slots=True, eq=False)
class Document:
    """One YAML document: its value, and the places of what is in it.

    ``trap_offsets`` holds where the scalars begin that readers of YAML disagree on; `traps` names them.
    """

    source: Source
    value: Any
    trap_offsets: frozenset[int] = frozenset()
    _index: Index | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The file as the user would type it."""
        return self.source.name

    def position(self, loc: Loc, *, key: bool = False) -> Position:
        """Where the value at ``loc`` (or its key) begins; of what is missing, the nearest thing around it."""
        return self.source.position(self.index.offset(loc, key=key))

    def scalar(self, loc: Loc) -> Scalar | None:
        """The scalar at ``loc`` as it is written, or None where something else stands."""
        return self.index.scalar(loc)

    def traps(self) -> list[Trap]:
        """The scalars and keys that readers of YAML disagree on, in the order of the file."""
        return self.index.traps(self.trap_offsets) if self.trap_offsets else []

    @property
    def index(self) -> Index:
        """The index of positions, built now if it is not there yet."""
        if self._index is None:
            self._index = build_index(self.source.text)
        return self._index
