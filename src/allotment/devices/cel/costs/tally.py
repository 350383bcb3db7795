"""The running cost of one evaluation."""

from __future__ import annotations

from allotment.devices.cel.devices import DeviceView
from allotment.devices.cel.problems import EvaluationError
from allotment.devices.cel.values import Value


class CostExceededError(Exception):
    """The limit is passed: the evaluation ends here."""


class Tally:
    """The device, the values of local names, and the cost so far.

    Errors are kept as values here: a value that is an EvaluationError stands for what went wrong.
    """

    __slots__ = ("cost", "device", "limit", "slots")

    def __init__(self, device: DeviceView, slots: int, limit: int) -> None:
        self.device = device
        self.slots: list[Value] = [None] * slots
        self.cost = 0
        self.limit = limit

    def add(self, cost: int) -> None:
        """Adds to the cost; CostExceededError beyond the limit."""
        self.cost += cost
        if self.cost > self.limit:
            raise CostExceededError


def failed(value: Value) -> bool:
    """Whether a value stands for an error."""
    return type(value) is EvaluationError
