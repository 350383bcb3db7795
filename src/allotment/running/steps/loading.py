"""Finding the steps that a pipeline names, and making them ready: once for a worker, before its first page.

A name is that of an entry point of the group ``allotment.steps``, or ``module:function`` for a factory of
the repository's own. What can never work (no such step, settings that are wrong, a module that cannot be
imported) is told apart from what may work next time (a model that did not fit into memory just now).
"""

from __future__ import annotations

import importlib
import importlib.metadata
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import cast

from allotment.buckets.keys import NameRefused, check_label
from allotment.errors import did_you_mean
from allotment.running.assignment import StepSpec
from allotment.running.endings import BREAKING_IN, PermanentFailureError, VolumeFailedError
from allotment.running.steps import Step, StepContext, StepFactory, StepSettingsError

GROUP = "allotment.steps"
PLAIN_FACTORY = "create"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LabelledStep:
    """A step, ready, and the label under which its outputs are kept."""

    label: str
    step: Step


FindFactory = Callable[[str], StepFactory]


def load_steps(
    calls: Sequence[StepSpec], context: StepContext, find: FindFactory | None = None
) -> tuple[LabelledStep, ...]:
    """Every step of a pipeline, ready for its first page.

    Raises `PermanentFailureError` for what can never work, `VolumeFailedError` for what may work next time.
    """
    names = labels(call.step for call in calls)
    return tuple(
        LabelledStep(label, _made(call, context, find or find_factory))
        for label, call in zip(names, calls, strict=True)
    )


def labels(names: Iterable[str]) -> tuple[str, ...]:
    """The label of each step, ``-2``, ``-3`` where one comes again.

    That is its name, or of ``module:function`` the function's name, or the module's for a plain ``create``.
    """
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        label = _label(name)
        seen[label] += 1
        try:
            found.append(check_label(label if seen[label] == 1 else f"{label}-{seen[label]}"))
        except NameRefused as error:
            raise PermanentFailureError("step-name", f"step {name}: {error.what}; {error.remedy}") from error
    return tuple(found)


def _label(name: str) -> str:
    module, _, function = name.rpartition(":")
    label = function.rpartition(".")[2]
    return module.rpartition(".")[2] if module and function == PLAIN_FACTORY else label


def find_factory(name: str) -> StepFactory:
    """The factory of a step by its name; raises `PermanentFailureError` when there is none."""
    module, colon, function = name.partition(":")
    if colon:
        found = reduce(getattr, function.split("."), importlib.import_module(module))
    else:
        points = {point.name: point for point in importlib.metadata.entry_points(group=GROUP)}
        if name not in points:
            hint = did_you_mean(name, points)
            raise PermanentFailureError(
                "step-unknown", f"there is no step {name} here; {hint or 'nothing offers steps'}"
            )
        found = points[name].load()
    if not callable(found):
        raise PermanentFailureError("step-unknown", f"step {name} is no function that makes a step")
    return cast("StepFactory", found)


def _made(call: StepSpec, context: StepContext, find: FindFactory) -> Step:
    try:
        step = find(call.step)(call.settings, context)
    except (PermanentFailureError, VolumeFailedError, *BREAKING_IN):
        raise
    except StepSettingsError as error:
        raise PermanentFailureError("step-settings", f"step {call.step}: {error}") from error
    except (ImportError, SyntaxError, AttributeError) as error:
        log.exception("step %s cannot be imported", call.step, exc_info=error)
        raise PermanentFailureError("step-import", f"step {call.step}: {in_words(error)}") from error
    except BaseException as error:
        log.exception("step %s failed while it was made ready", call.step, exc_info=error)
        raise VolumeFailedError("step-load", f"step {call.step}: {in_words(error)}") from error
    if not callable(step):
        raise PermanentFailureError(
            "step-factory",
            f"step {call.step}: the function is to take settings and a context and to return a step, "
            f"a function of a page; it returned {type(step).__name__}",
        )
    return step


def in_words(error: BaseException) -> str:
    """An exception as one line: its kind, and the beginning of what it says, if it can say anything."""
    try:
        first = str(error)[:10_000].strip().splitlines()
    except BREAKING_IN:
        raise
    except BaseException:  # noqa: BLE001 - an exception is foreign code too
        first = ["it cannot say what is wrong"]
    return f"{type(error).__name__}: {first[0]:.300}" if first else type(error).__name__
