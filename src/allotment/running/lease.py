"""Who may work on a volume: a lease of a minute, renewed by writing the next number, never by rewriting.

The bucket can only create keys, so the lease with the highest number is the one that counts, and whoever
creates the next number has it: of two who try, one learns that the key is taken. Numbers leave no gap. So a
holder whose lease ran out while the machine slept, and who still gets the next number, was never replaced;
one who does not has lost the volume and must write nothing more.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from allotment.buckets.bucket import Conflict
from allotment.buckets.keys import parse_lease
from allotment.buckets.once import PatientBucket
from allotment.running.holder import Holder, read_holder
from allotment.running.objects import FORMAT_VERSION, MALFORMED, damaged, dump, read_object

LEASE_SECONDS = 60.0
RENEW_SECONDS = 20.0
ABSURD_SECONDS = 86_400.0
MOST_CONTESTS = 5

IsDead = Callable[[Holder], bool]


class LeaseKeys(Protocol):
    """Where the leases of something lie: of a volume, or of a recipe that is being prepared."""

    @property
    def leases(self) -> str:
        """Below it lie the leases."""

    def lease(self, number: int) -> str:
        """The key of the n-th lease."""


class LeaseLostError(Exception):
    """Somebody else has the volume now: nothing more may be written for it."""


@dataclass(frozen=True, slots=True)
class Held:
    """The volume is somebody else's: whose, and until when (Unix seconds) unless it is renewed."""

    holder: Holder
    expires: float


class Lease:
    """A volume that is ours, as long as `check` does not raise; for the work and one thread that renews."""

    def __init__(
        self,
        bucket: PatientBucket,
        keys: LeaseKeys,
        holder: Holder,
        clock: Callable[[], float],
        number: int,
        *,
        seconds: float = LEASE_SECONDS,
        renew: float = RENEW_SECONDS,
    ) -> None:
        self._seconds = seconds
        self.renew_seconds = renew
        self._bucket = bucket
        self._keys = keys
        self._holder = holder
        self._clock = clock
        self._number = number
        self._lost = False
        self._lock = threading.Lock()
        self._renew_at = 0.0

    def check(self) -> None:
        """Go on only if the lease is ours, and renew it when it is time: before anything is written."""
        if self._lost:
            raise LeaseLostError
        if self._clock() >= self._renew_at:
            self.renew()

    def renew(self) -> None:
        """Write the next number if it is time; raises `LeaseLostError` when somebody else has written it."""
        with self._lock:
            if self._lost:
                raise LeaseLostError
            if self._clock() >= self._renew_at:
                self._write(released=False)

    def release(self) -> None:
        """Say that the volume is free, by the next number."""
        with self._lock:
            if not self._lost:
                self._write(released=True)

    @property
    def lost(self) -> bool:
        """Whether somebody else has it."""
        return self._lost

    def _write(self, *, released: bool) -> None:
        now = self._clock()
        record = _record(self._holder, now if released else now + self._seconds, released=released)
        try:
            self._bucket.put(self._keys.lease(self._number + 1), record)
        except Conflict:
            self._lost = True
            raise LeaseLostError from None
        self._number += 1
        self._renew_at = now + self.renew_seconds
        if released:
            self._lost = True


def take_lease(
    bucket: PatientBucket,
    keys: LeaseKeys,
    holder: Holder,
    *,
    clock: Callable[[], float],
    is_dead: IsDead,
    seconds: float = LEASE_SECONDS,
    renew: float = RENEW_SECONDS,
) -> Lease | Held:
    """The lease of something, or who holds it."""
    held = Held(holder, clock())
    for _ in range(MOST_CONTESTS):
        number, current = newest_lease(bucket, keys)
        if current is not None and in_force(current, clock(), is_dead):
            return current
        lease = Lease(bucket, keys, holder, clock, number, seconds=seconds, renew=renew)
        try:
            lease.renew()
        except LeaseLostError:
            continue
        return lease
    return held


def release_of(bucket: PatientBucket, keys: LeaseKeys, holder: str, *, clock: Callable[[], float]) -> None:
    """Release the volume on behalf of a holder that has died, if it is still theirs."""
    number, current = newest_lease(bucket, keys)
    if current is not None and current.holder.id == holder:
        with contextlib.suppress(LeaseLostError):
            Lease(bucket, keys, current.holder, clock, number).release()


def newest_lease(bucket: PatientBucket, keys: LeaseKeys) -> tuple[int, Held | None]:
    """The highest number of a lease (0: none), and who holds the volume by it, if it is not released."""
    numbers = (parse_lease(entry.key, keys.leases) for entry in bucket.list(keys.leases))
    number = max((number for number in numbers if number is not None), default=0)
    if number == 0:
        return 0, None
    try:
        value = read_object(bucket, keys.lease(number))
        if value["released"]:
            return number, None
        return number, Held(read_holder(value["holder"]), float(value["expires"]))
    except MALFORMED as error:
        raise damaged(keys.lease(number)) from error


def in_force(held: Held, now: float, is_dead: IsDead) -> bool:
    """Whether a lease still keeps others away: it has not run out, and its holder is not known to be dead.

    One that would hold for a day or more is none of ours, or of a clock that is far off, and keeps nobody
    away: if its holder lives, it learns so before it writes anything more.
    """
    return now < held.expires < now + ABSURD_SECONDS and not is_dead(held.holder)


def _record(holder: Holder, expires: float, *, released: bool) -> bytes:
    return dump(
        {
            "format_version": FORMAT_VERSION,
            "holder": holder.to_json(),
            "expires": expires,
            "released": released,
        }
    )
