"""Which adapter plays which scheduler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final

from allotment.simulation.adapters.adapter import Adapter
from allotment.simulation.setting import Scheduler, Setting

_MODULES: Final[Mapping[Scheduler, str]] = {
    Scheduler.SIMPLE: "simple",
    Scheduler.DEFAULT: "default",
    Scheduler.KUEUE: "kueue",
    Scheduler.KAI: "kai",
    Scheduler.BOTH: "both",
}


def adapter_for(setting: Setting) -> Adapter:
    """The adapter for the scheduler of a setting: ``adapter(setting)`` of its module."""
    module = import_module(f"allotment.simulation.adapters.{_MODULES[setting.scheduler]}")
    make: Callable[[Setting], Adapter] = module.adapter
    return make(setting)
