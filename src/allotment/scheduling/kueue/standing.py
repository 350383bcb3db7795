"""How a workload stands: whether it may wait in line, may be tried now, holds quota, or gives some back.

The rules are those of ``IsAdmissible`` and ``HasQuotaReservation`` in ``pkg/workload`` and of
``backoffWaitingTimeExpired`` in ``pkg/cache/queue``.
"""

from __future__ import annotations

from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.kueue.settings import Settings
from allotment.scheduling.kueue.slices import counts_of, scaled_down
from allotment.scheduling.state.workloads import Workload


def is_ready(workload: Workload, now: float) -> bool:
    """Whether nothing holds a workload back for a while."""
    return not workload.held_back and (workload.requeue_at is None or now >= workload.requeue_at)


def is_admissible(workload: Workload, settings: Settings) -> bool:
    """Whether a workload may stand in line."""
    gated = workload.gated and settings.on(Gate.ADMISSION_GATED)
    return workload.active and not (gated or workload.finished or workload.reserved or workload.on_hold)


def holds_quota(workload: Workload | None) -> bool:
    """Whether quota is reserved for it and not given back."""
    return workload is not None and workload.reserved and workload.active and not workload.finished


def gives_room(old: Workload, new: Workload) -> bool:
    """Whether a workload that keeps its quota uses less of it now, or matters less or more."""
    shrunk = scaled_down(counts_of(old), counts_of(new))
    done = old.admitted and new.admitted and old.reclaimable != new.reclaimable
    return shrunk or done or old.priority != new.priority or old.boost != new.boost
