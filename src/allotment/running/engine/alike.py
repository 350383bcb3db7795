"""When a campaign's first volumes all fail alike, the fault is the campaign's, and the rest is spared.

FORMATS: a campaign stops when its first ``max(3, window)`` volumes all fail alike. Alike means: for the
same reason code, with no volume complete. A campaign that has completed a volume, now or in an earlier
run, is never stopped for this.
"""

from __future__ import annotations

from dataclasses import dataclass, field

FEWEST = 3


@dataclass(slots=True)
class FirstVolumes:
    """Watches how the first volumes of a campaign end; ``window`` is the most that run at once."""

    window: int
    _reasons: list[str] = field(default_factory=list)
    _settled: bool = False

    def completed(self) -> None:
        """One volume is complete: the recipe can work."""
        self._settled = True

    def failed(self, reason: str) -> bool:
        """One volume failed for good; returns whether the campaign should stop."""
        if self._settled:
            return False
        self._reasons.append(reason)
        if len(set(self._reasons)) > 1:
            self._settled = True
            return False
        return len(self._reasons) >= max(FEWEST, self.window)
