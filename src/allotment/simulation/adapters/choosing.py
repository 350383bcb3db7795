"""Which adapter plays which scheduler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Final

from allotment.scheduling.default import Lot, Ties
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
_DRAWING: Final = frozenset({Scheduler.DEFAULT, Scheduler.KUEUE})


def adapter_for(setting: Setting, works: Sequence[Work] = (), ties: Ties | Lot = Ties.FIRST) -> Adapter:
    """The adapter for the scheduler of a setting: ``adapter(setting)`` of its module.

    Those that count devices by class are told beforehand what the works ask for, and those in which
    kube-scheduler places pods, which of equal nodes it takes. KAI takes the first by name.
    """
    scheduler = setting.scheduler
    make: Callable[..., Adapter] = import_module(
        f"allotment.simulation.adapters.{_MODULES[scheduler]}"
    ).adapter
    told: dict[str, object] = {"works": works} if scheduler in _COUNTING else {}
    if scheduler in _DRAWING:
        told["ties"] = ties
    return make(setting, **told)
