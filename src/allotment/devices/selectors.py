"""Selectors: whether a device passes a CEL expression over ``device``.

Classes are tried before requests and the first refusal ends it (upstream's order), so a request's selector is
only ever met by devices of its class. An expression that does not compile, or that meets a device on which it
cannot be evaluated, is an error for the whole claim, as it is in Kubernetes (``isSelectable`` of
k8s.io/dynamic-resource-allocation). Programs are compiled once, and a device is made ready for them once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from allotment.devices.cel import (
    CompileError,
    DeviceViews,
    Environment,
    EvaluationError,
    Program,
    compile_selector,
)
from allotment.devices.slices import Device

Matcher = Callable[[str, str, Device], bool]
"""``(expression, driver, device)`` to whether the device passes; SelectorError when it cannot be told."""

MOST_PROGRAMS: Final = 512
MOST_VIEWS: Final = 1 << 17


class SelectorError(Exception):
    """An expression that could not be evaluated on a device: fatal for the claim, not only for the device."""


class Selectors:
    """A matcher that makes each device ready once; it forgets all of them when they become too many."""

    def __init__(self, environment: Environment | None = None) -> None:
        self._environment = environment or Environment()
        self._views = DeviceViews()

    def __call__(self, expression: str, driver: str, device: Device) -> bool:
        """Whether a device of this driver passes the expression; raises `SelectorError`."""
        if len(self._views) > MOST_VIEWS:
            self._views = DeviceViews()
        try:
            return program(expression, self._environment).evaluate(self._views.view(driver, device))
        except CompileError as error:
            raise SelectorError(f"CEL compile error: {error}") from error
        except EvaluationError as error:
            raise SelectorError(f"CEL runtime error: {error}") from error


@lru_cache(maxsize=MOST_PROGRAMS)
def program(expression: str, environment: Environment) -> Program:
    """The compiled expression; raises `CompileError`."""
    return compile_selector(expression, environment)


evaluate: Final = Selectors()
"""The matcher of whoever names no other: the newest environment."""


@lru_cache(maxsize=16)
def selectors_of(version: str, *, consumable_capacity: bool, list_type_attributes: bool) -> Selectors:
    """The matcher of what is stored in a cluster of a version, such as ``1.36``, with these gates."""
    return Selectors(
        Environment(
            version,
            consumable_capacity=consumable_capacity,
            list_type_attributes=list_type_attributes,
        )
    )
