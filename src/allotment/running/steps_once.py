"""The worker's steps, made ready once, for all the volumes that it takes in turn.

Nothing is loaded before a page has to be done: a volume that is complete, or held by somebody else, costs
no model. What was found to be impossible is not tried again for the next volume. After a page that was
broken off in the middle of a step the steps are made anew, since nobody knows what state they were left in.
"""

from __future__ import annotations

from collections.abc import Callable

from allotment.running.endings import PermanentFailureError
from allotment.running.steps.loading import LabelledStep

Load = Callable[[], tuple[LabelledStep, ...]]


class StepsOnce:
    """Loads steps on first use and keeps them; ``loaded`` hears how many seconds each loading took."""

    def __init__(self, load: Load, monotonic: Callable[[], float]) -> None:
        self._load = load
        self._monotonic = monotonic
        self._steps: tuple[LabelledStep, ...] | None = None
        self._impossible: PermanentFailureError | None = None
        self.seconds = 0.0

    @property
    def ready(self) -> bool:
        """Whether the steps are loaded."""
        return self._steps is not None

    def get(self) -> tuple[LabelledStep, ...]:
        """The steps; raises as `load_steps` does."""
        if self._steps is not None:
            return self._steps
        if self._impossible is not None:
            raise self._impossible
        began = self._monotonic()
        try:
            self._steps = self._load()
        except PermanentFailureError as error:
            self._impossible = error
            raise
        self.seconds = self._monotonic() - began
        return self._steps

    def forget(self) -> None:
        """Make the steps anew before the next page."""
        self._steps = None
