"""Whose a fleet or a gang is: a lease in the bucket, so that two engines never run one at the same time.

It is a lease as volumes have one, by numbers that are only ever created, but of five minutes: a fleet runs
for weeks, and each renewal is an object that stays. An engine that died on this machine holds nothing; of one
that died elsewhere the lease has to run out.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Final, Self

from allotment.buckets.bucket import Bucket
from allotment.buckets.keys import ProgramKeys
from allotment.buckets.once import Patience, PatientBucket
from allotment.errors import EXIT_REFUSED, AllotmentError
from allotment.running.engine.program import Program
from allotment.running.holder import Holder, is_dead
from allotment.running.lease import Held, Lease, LeaseLostError, take_lease
from allotment.running.renewing import renewed

LEASE_SECONDS: Final = 300.0
RENEW_SECONDS: Final = 100.0
LONGEST_RELEASE: Final = 10.0

log = logging.getLogger(__name__)


@dataclass(eq=False)
class ProgramInUseError(AllotmentError):
    """Another engine runs the fleet or gang."""

    exit_code: int = field(default=EXIT_REFUSED, kw_only=True)


@dataclass(slots=True)
class ProgramLeases:
    """The leases of an engine's fleets and gangs, renewed in the background while it is entered."""

    bucket: Bucket
    holder: Holder
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], object] = time.sleep
    is_dead: Callable[[Holder], bool] = is_dead
    patience: Patience = field(default_factory=Patience)
    _leases: dict[str, Lease] = field(default_factory=dict)
    _renewals: ExitStack = field(default_factory=ExitStack)
    _releases: list[threading.Thread] = field(default_factory=list)

    def take(self, programs: Iterable[Program]) -> None:
        """Take them all; raises `ProgramInUseError` for one that another engine runs, with whose it is."""
        bucket = PatientBucket(self.bucket, sleep=self.sleep, patience=self.patience)
        for program in programs:
            keys = ProgramKeys(program.team, program.name)
            lease = take_lease(
                bucket,
                keys,
                self.holder,
                clock=self.clock,
                is_dead=self.is_dead,
                seconds=LEASE_SECONDS,
                renew=RENEW_SECONDS,
            )
            if isinstance(lease, Held):
                raise _in_use(program, lease)
            self._leases[program.name] = lease
            self._renewals.enter_context(renewed(lease))

    def ours(self, name: str) -> bool:
        """Whether it is still this engine's."""
        lease = self._leases.get(name)
        return lease is None or not lease.lost

    def over(self, name: str) -> None:
        """Let others have it, in the background."""
        lease = self._leases.pop(name, None)
        if lease is not None:
            thread = threading.Thread(target=_release, args=(lease,), name="release", daemon=True)
            thread.start()
            self._releases.append(thread)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._renewals.close()
        for name in tuple(self._leases):
            self.over(name)
        for thread in self._releases:
            thread.join(LONGEST_RELEASE)


def _release(lease: Lease) -> None:
    with suppress(LeaseLostError):
        try:
            lease.release()
        except AllotmentError as error:
            log.info("a lease was not released, and will run out: %s", error)


def _in_use(program: Program, held: Held) -> ProgramInUseError:
    return ProgramInUseError(
        f"the {program.kind} is run by another engine: {held.holder}",
        program.name,
        "end it there first (`allot stop`), or wait for its end; of an engine that died on another machine "
        f"its hold runs out within {LEASE_SECONDS / 60:.0f} minutes",
    )
