"""What came of one comparison."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """A case, what was compared (``verdict``, ``cost`` ...), and whether it agrees."""

    case: str
    what: str
    expected: object
    found: object

    @property
    def agrees(self) -> bool:
        """Whether Allotment says the same."""
        return self.expected == self.found
