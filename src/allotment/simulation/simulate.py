"""The event loop: time goes from one event to the next, and a scheduler decides in between.

The loop plays what is no scheduler: the Job controller that makes pods, the kubelets that run them, nodes
that get lost. Everything that it needs comes in, chance included, so that the same course comes out for the
same seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from allotment.simulation.adapters.adapter import Adapter
from allotment.simulation.adapters.choosing import adapter_for
from allotment.simulation.draws import Draws
from allotment.simulation.loop import Loop
from allotment.simulation.outcome import Outcome
from allotment.simulation.run_times import RunTimes
from allotment.simulation.setting import Setting
from allotment.simulation.unknowns import settled
from allotment.simulation.work import Work

LOG = 1000


def simulate(
    setting: Setting,
    works: Sequence[Work],
    run_times: RunTimes,
    draws: Draws,
    until: float,
    *,
    log: int = LOG,
    adapter: Adapter | None = None,
) -> Outcome:
    """What becomes of the works until then; ``log`` is how many decisions are written down.

    The course ends early when all that can end has ended, or when nothing is left that could change
    anything. ``adapter`` stands in for the scheduler of the setting.
    """
    works, run_times = settled(works, run_times, draws)
    return Loop(
        setting=setting,
        works=works,
        run_times=run_times,
        draws=draws,
        until=until,
        log=log,
        adapter=adapter or adapter_for(setting, works, partial(_drawn, draws)),
    ).play()


def _drawn(draws: Draws, pod: str, many: int) -> int:
    """Which of so many equal nodes a pod gets."""
    return int(draws.number("ties", pod) * many)
