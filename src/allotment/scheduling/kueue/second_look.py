"""Workloads that have quota and are looked at once more: for a place that had to wait, or for a failed node.

The wait doubles from one second to half a minute. The rules are those of ``NeedsSecondPass`` in
``pkg/workload`` and of ``second_pass_queue.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from allotment.scheduling.kueue.charges import Info
from allotment.scheduling.kueue.memory import SecondLook
from allotment.scheduling.kueue.placing import PENDING
from allotment.scheduling.kueue.processing import stands_on_failed_node
from allotment.scheduling.state.workloads import Workload

FIRST: Final = 1.0
LONGEST: Final = 30.0


def wait_before(times: int) -> float:
    """How long it is waited before the next look."""
    return float(min(FIRST * 2 ** (times - 1), LONGEST))


def needs_second_look(info: Info) -> bool:
    """Whether something is still to be found for a workload that has quota."""
    workload = info.workload
    if workload.finished or workload.evicted is not None or not workload.reserved or workload.on_hold:
        return False
    return _waits_for_place(workload) or stands_on_failed_node(info)


def _waits_for_place(workload: Workload) -> bool:
    checks = workload.checks
    if not checks or workload.admitted or any(check.state != "Ready" for check in checks):
        return False
    given = workload.admission.pod_sets if workload.admission else ()
    return any(each.placement is None and each.delayed == PENDING for each in given)


def looked_for(
    known: Mapping[str, SecondLook], held: Mapping[str, Info], now: float
) -> dict[str, SecondLook]:
    """Who of those that hold quota is to be looked at again, and when."""
    return {
        key: known.get(key) or SecondLook(now + wait_before(1))
        for key, info in held.items()
        if (info.workload.unhealthy or info.workload.checks) and needs_second_look(info)
    }
