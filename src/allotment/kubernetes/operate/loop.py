"""The window controller at work: it looks, decides, writes, and waits for something to happen.

Only who holds the Lease writes. A write names the Job (by its uid) and the version of it that was looked at,
and no field but the width, by a manager of its own and without force: what has changed since, or belongs to
somebody else, is refused by the server and looked at again. So it may be killed at any moment, and two of
them, though the Lease lets only one be at work, would not do a thing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, cast

from allotment.errors import AllotmentError
from allotment.kubernetes.apply.fields import WINDOW
from allotment.kubernetes.apply.lease import Lease, LostLeaseError, Right, TakenLeaseError
from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.client.transport import CutError
from allotment.kubernetes.kinds import JOB
from allotment.kubernetes.operate.deciding import decide
from allotment.kubernetes.operate.reading import Looked, Scope, look
from allotment.kubernetes.operate.values import Decision, Memory, Pace

RIGHT: Final = Right("allotment-window", "operate", "moves windows", 30)
SHORTEST: Final = 2.0
"""Seconds between two looks at least, however much happens."""
WATCHED_SELECTOR: Final = "app.kubernetes.io/managed-by=allotment"


class Telling(Protocol):
    """Whoever hears of what is decided and of what goes wrong."""

    def decided(self, decision: Decision) -> None:
        """A Job was looked at: nothing was written."""
        ...

    def moved(self, decision: Decision) -> None:
        """A Job has its new width."""
        ...

    def refused(self, decision: Decision, error: AllotmentError) -> None:
        """The server did not take it."""
        ...

    def troubled(self, error: AllotmentError) -> None:
        """The cluster could not be asked, or somebody else is at work."""
        ...


@dataclass(slots=True)
class Operator:
    """One controller. ``now`` and ``sleep`` are the clock's."""

    client: Client
    scope: Scope
    lease: Lease
    telling: Telling
    now: Callable[[], float]
    sleep: Callable[[float], None]
    pace: Pace = field(default_factory=Pace)
    memory: Memory = field(default_factory=Memory)
    dry_run: bool = False
    is_leading: bool = False

    def once(self) -> Looked:
        """One look and what follows from it; AllotmentError where it could not be had."""
        if not self.dry_run:
            self._lead()
        looked = look(self.client, self.scope, self.now())
        decisions, memory = decide(looked.snapshot, self.memory, self.now(), self.pace)
        for each in decisions:
            if each.is_move and not self.dry_run:
                self._write(each)
            else:
                self.telling.decided(each)
        self.memory = memory
        return looked

    def forever(self, interval: float) -> None:
        """Look again whenever something happens, and at least after so many seconds."""
        while True:
            try:
                looked = self.once()
            except (AllotmentError, CutError) as error:
                self.is_leading = self.is_leading and not isinstance(error, LostLeaseError)
                self.telling.troubled(_told(error))
                self.sleep(interval)
                continue
            self._wait(looked, interval)

    def end(self) -> None:
        """Let another one go on at once."""
        if self.is_leading:
            self.is_leading = False
            self.lease.release()

    def _lead(self) -> None:
        if self.is_leading:
            self.lease.keep()
            return
        self.lease.take()
        self.is_leading = True

    def _write(self, decision: Decision) -> None:
        self.lease.keep()
        metadata = {
            "name": decision.name,
            "namespace": decision.namespace,
            "uid": decision.uid,
            "resourceVersion": decision.version,
        }
        said: dict[str, Any] = {"apiVersion": JOB.api_version, "kind": JOB.name, "metadata": metadata}
        try:
            self.client.apply({**said, "spec": {"parallelism": decision.to}}, manager=WINDOW)
        except ApiError as error:
            self.telling.refused(decision, error)
        else:
            self.telling.moved(decision)

    def _wait(self, looked: Looked, interval: float) -> None:
        """Until something happens, or for ``interval``."""
        self.sleep(min(SHORTEST, interval))
        seconds = int(interval - SHORTEST)
        if seconds < 1:
            return
        labels = WATCHED_SELECTOR if looked.kind is JOB else ""
        namespaces = self.scope.namespaces
        namespace = namespaces[0] if len(namespaces) == 1 else None
        began = self.now()
        try:
            events = self.client.watch(
                looked.kind, namespace, labels=labels, since=looked.version or None, seconds=seconds
            )
            with closing(cast("Iterator[Any]", iter(events))) as happening:  # type: ignore[type-var]  # a generator
                next(happening, None)
        except (ApiError, CutError):
            self.sleep(max(0.0, interval - (self.now() - began)))


def holds(error: AllotmentError) -> bool:
    """Whether it says only that another controller is at work."""
    return isinstance(error, TakenLeaseError)


def _told(error: AllotmentError | CutError) -> AllotmentError:
    return error if isinstance(error, AllotmentError) else AllotmentError(str(error))
