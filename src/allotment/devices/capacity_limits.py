"""What the API server holds the request policy of a capacity to: how shares of it may be asked for.

From the validation of ``CapacityRequestPolicy`` in ``resource.k8s.io/v1`` (Kubernetes 1.36).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from allotment.devices.rules import Problem, amount, at_most
from allotment.devices.slices import Capacity, ValidRange
from allotment.quantities.kubernetes import Quantity

_MOST_VALUES = 10
_DEFAULT = "default value is not valid according to the requestPolicy"


def of_policy(capacity: Capacity, *, shared: bool) -> Iterator[Problem]:
    """What is wrong with a capacity's policy; the capacity's own value is a quantity."""
    policy, whole = capacity.request_policy, amount(capacity.value)
    if policy is None or whole is None:
        return
    if not shared:
        yield Problem((), "allowMultipleAllocations must be true")
    span = policy.valid_range
    texts = [policy.default, *policy.valid_values, *((span.min, span.max, span.step) if span else ())]
    wrong = [text for text in texts if text is not None and amount(text) is None]
    yield from (Problem((), f"`{text}` is no quantity") for text in wrong)
    if wrong:
        return
    default = None if policy.default is None else amount(policy.default)
    if policy.valid_values and span:
        yield Problem((), "exactly one value must be specified: `validValues` or `validRange`")
    if default is None and (policy.valid_values or span):
        yield Problem((), "default is required with `validValues` or `validRange`")
    if policy.valid_values:
        yield from _of_values(policy.valid_values, default, whole)
    if span is not None:
        yield from _of_range(span, default, whole)


def _of_values(texts: Sequence[str], default: Quantity | None, whole: Quantity) -> Iterator[Problem]:
    yield from at_most(texts, _MOST_VALUES, ("validValues",), "validValues")
    values = [value for text in texts if (value := amount(text)) is not None]
    if any(later <= earlier for earlier, later in pairwise(values)):
        yield Problem(("validValues",), "values must be sorted in ascending order")
    if any(value > whole for value in values):
        yield Problem(("validValues",), "a value is more than the capacity")
    if default is not None and default not in values:
        yield Problem(("default",), _DEFAULT)


def _of_range(span: ValidRange, default: Quantity | None, whole: Quantity) -> Iterator[Problem]:
    least = amount(span.min)
    most = None if span.max is None else amount(span.max)
    step = None if span.step is None else amount(span.step)
    if least is None:
        return
    bounds = [value for value in (least, default, most, whole) if value is not None]
    if any(later < earlier for earlier, later in pairwise(bounds)):
        yield Problem(("validRange",), "min, default, max and the capacity must not decrease in that order")
    if step is None or step.nanos <= 0:
        return
    if least.nanos + step.nanos > whole.nanos:
        yield Problem(("validRange", "step"), "one step above min is more than the capacity")
    for value in (default, most):
        if value is not None and (value.nanos - least.nanos) % step.nanos:
            text = f"value is not a multiple of a given step ({span.step}) from ({span.min})"
            yield Problem(("validRange", "step"), f"{value}: {text}")
