"""Which adapter plays which scheduler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Final

from allotment.simulation.adapters.adapter import Adapter
from allotment.simulation.setting import Scheduler, Setting
from allotment.simulation.work import Work

_MODULES: Final[Mapping[Scheduler, str]] = {
    Scheduler.SIMPLE: "simple",
    Scheduler.DEFAULT: "default",
    Scheduler.KUEUE: "kueue",
    Scheduler.KAI: "kai",
    Scheduler.BOTH: "both",
}
_COUNTING: Final = frozenset({Scheduler.KUEUE, Scheduler.KAI, Scheduler.BOTH})


def adapter_for(setting: Setting, works: Sequence[Work] = ()) -> Adapter:
    """The adapter for the scheduler of a setting: ``adapter(setting)`` of its module.

    Those that count devices by class are told beforehand what the works ask for.
    """
    module = import_module(f"allotment.simulation.adapters.{_MODULES[setting.scheduler]}")
    if setting.scheduler in _COUNTING:
        count: Callable[[Setting, Sequence[Work]], Adapter] = module.adapter
        return count(setting, works)
    make: Callable[[Setting], Adapter] = module.adapter
    return make(setting)
