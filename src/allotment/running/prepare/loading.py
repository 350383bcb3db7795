"""Finding the preparation that a pipeline names, and doing it, with every way to fail told apart."""

from __future__ import annotations

import importlib
import importlib.metadata
import logging
from collections.abc import Callable
from functools import reduce
from typing import cast

from allotment.errors import did_you_mean
from allotment.running.assignment import StepSpec
from allotment.running.endings import PermanentFailureError, VolumeFailedError
from allotment.running.prepare import Prepare, PrepareContext, PrepareSettingsError
from allotment.running.steps.loading import in_words

GROUP = "allotment.prepare"

log = logging.getLogger(__name__)

Find = Callable[[str], Prepare]


def find_prepare(name: str) -> Prepare:
    """The preparation of that name; raises `PermanentFailureError` when there is none."""
    module, colon, function = name.partition(":")
    if colon:
        found = reduce(getattr, function.split("."), importlib.import_module(module))
    else:
        points = {point.name: point for point in importlib.metadata.entry_points(group=GROUP)}
        if name not in points:
            hint = did_you_mean(name, points) or "nothing offers any"
            raise PermanentFailureError("prepare-unknown", f"there is no `prepare` {name} here; {hint}")
        found = points[name].load()
    if not callable(found):
        raise PermanentFailureError("prepare-unknown", f"prepare {name} is no function")
    return cast("Prepare", found)


def do_prepare(call: StepSpec, context: PrepareContext, find: Find = find_prepare) -> None:
    """Fill the folder.

    Raises `PermanentFailureError` for what can never work, `VolumeFailedError` for what may work next time.
    """
    try:
        find(call.step)(call.settings, context)
    except VolumeFailedError:
        raise
    except PrepareSettingsError as error:
        raise PermanentFailureError("prepare-settings", f"prepare {call.step}: {error}") from error
    except (ImportError, SyntaxError, AttributeError) as error:
        log.exception("prepare %s cannot be imported", call.step, exc_info=error)
        raise PermanentFailureError("prepare-import", f"prepare {call.step}: {in_words(error)}") from error
    except (Exception, SystemExit) as error:
        log.exception("prepare %s failed", call.step, exc_info=error)
        raise VolumeFailedError("prepare-failed", f"prepare {call.step}: {in_words(error)}") from error
