"""One volume from its lease to its manifest.

    lease -> what is there -> may it be started? -> attempt -> pages -> verification -> manifest -> end ->
    release

A volume that is complete costs one look, one that somebody else holds costs no attempt, and one that has
failed for good is not tried again before somebody asks for it.
"""

from __future__ import annotations

import logging

from allotment.buckets.keys import NameRefused, RecipeKeys, VolumeKeys
from allotment.errors import AllotmentError
from allotment.running.assignment import VolumeSpec
from allotment.running.attempting import Attempting, how_ended
from allotment.running.attempts import read_history
from allotment.running.endings import DeadlinePassed, Ended, Outcome, PermanentFailureError, Stopped
from allotment.running.lease import Held, Lease, LeaseLostError, take_lease
from allotment.running.manifest import read_counts
from allotment.running.marks import mark_complete
from allotment.running.resume import read_resume
from allotment.running.surroundings import Surroundings
from allotment.running.telling import Teller

HELD_AGAIN_SECONDS = 1.0

log = logging.getLogger(__name__)


class VolumeRun:
    """Runs one volume of an assignment, once."""

    def __init__(self, around: Surroundings, volume: VolumeSpec) -> None:
        self._around = around
        self._volume = volume
        self._teller = Teller(around, volume.id)

    def run(self) -> Outcome:
        """Work on the volume; the outcome says all."""
        try:
            keys = self._keys()
            if (complete := self._complete(keys)) is not None:
                return complete
            lease = self._lease(keys)
            if isinstance(lease, Held):
                return self._teller.held("held", f"{lease.holder} works on it")
            return self._leased(keys, lease)
        except LeaseLostError:
            return self._teller.held("lease-lost", "somebody else has taken it over")
        except (Exception, Stopped, DeadlinePassed) as error:  # noqa: BLE001 - every end is told
            ended, why = how_ended(error, self._around)
            if ended is Ended.RECLAIMED:
                return self._teller.reclaimed(why)
            return self._teller.failed(why, permanent=ended is Ended.PERMANENT)

    def _keys(self) -> VolumeKeys:
        assignment = self._around.assignment
        try:
            return RecipeKeys(assignment.team, assignment.pipeline, assignment.recipe).volume(self._volume.id)
        except NameRefused as error:
            raise PermanentFailureError("bad-name", f"{error.what}; {error.remedy}") from error

    def _complete(self, keys: VolumeKeys) -> Outcome | None:
        """The outcome of a volume that has its manifest."""
        bucket = self._around.patient()
        if not bucket.exists(keys.manifest):
            return None
        counts = read_counts(bucket, keys)
        mark_complete(bucket, keys, pages=counts["pages"], failed=counts["failed"])
        return self._teller.complete(total=counts["pages"], failed=counts["failed"])

    def _lease(self, keys: VolumeKeys) -> Lease | Held:
        """The volume's lease, waited for as long as the assignment says."""
        around = self._around
        until = around.monotonic() + around.assignment.limits.lease_wait_seconds
        while True:
            lease = take_lease(
                around.for_leases(), keys, around.holder, clock=around.clock, is_dead=around.is_dead
            )
            left = until - around.monotonic()
            if isinstance(lease, Lease) or left <= 0:
                return lease
            around.interrupts.sleep(min(left, HELD_AGAIN_SECONDS))

    def _leased(self, keys: VolumeKeys, lease: Lease) -> Outcome:
        """Work on a volume that is ours, and let go of it."""
        try:
            with self._around.keep_renewed(lease):
                outcome = self._attempt(keys, lease)
        except (Exception, Stopped, DeadlinePassed):
            self._release(lease)
            raise
        self._release(lease)
        return outcome

    def _attempt(self, keys: VolumeKeys, lease: Lease) -> Outcome:
        if (complete := self._complete(keys)) is not None:
            return complete
        bucket = self._around.patient()
        resume = read_resume(bucket, keys)
        history = read_history(bucket, keys, done=len(resume.records))
        if (refusal := history.refusal(self._around.assignment.limits)) is not None:
            return self._teller.failed(refusal, permanent=True)
        return Attempting(self._around, self._volume, keys, lease, history, resume).run()

    def _release(self, lease: Lease) -> None:
        try:
            lease.release()
        except (AllotmentError, LeaseLostError, Stopped, DeadlinePassed) as error:
            log.info("the lease was not released, and runs out by itself: %s", error)
