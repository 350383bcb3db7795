"""Against two who do one thing at once: a Lease in a namespace, held while anything is sent.

Facts: ``coordination.k8s.io/v1``: a holder says who it is and when it renewed; one that has not renewed for
``leaseDurationSeconds`` holds nothing any more. Every write names the version that it was made from, so that
of two who take it at once one is refused. Who loses it sends nothing further.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from allotment.errors import WorldError
from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.client.transport import CutError
from allotment.kubernetes.kinds import LEASE, Object
from allotment.kubernetes.render.names import labels_of

NAME: Final = "allotment-apply"
SECONDS: Final = 60
TRIES: Final = 5
_FORM: Final = "%Y-%m-%dT%H:%M:%S.%fZ"


class LostLeaseError(WorldError):
    """Somebody else does it now: nothing further is sent."""


class TakenLeaseError(WorldError):
    """Somebody else has it."""


@dataclass(frozen=True, slots=True)
class Right:
    """What only one may do at a time: the Lease's name, what it is called, and for how long it is held."""

    name: str = NAME
    to: str = "apply"
    doing: str = "is applying"
    seconds: int = SECONDS


APPLYING: Final = Right()


class Lease:
    """The one right to do a thing in a namespace. ``holder`` is different for everybody who does it."""

    def __init__(
        self,
        client: Client,
        namespace: str,
        team: str | None,
        holder: str,
        now: Callable[[], float],
        *,
        right: Right = APPLYING,
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._team = team
        self._holder = holder
        self._now = now
        self._right = right
        self._held: Object | None = None
        self._renewed = 0.0

    def take(self) -> None:
        """Take it, from nobody, or from one who has let it expire; TakenLeaseError where somebody has it."""
        for _ in range(TRIES):
            found = self._client.get(LEASE, self._right.name, self._namespace)
            if found is not None and not self._is_open(found):
                raise self._taken(found)
            if self._written(found):
                return
        raise WorldError(
            f"the right to {self._right.to} could not be taken: others take it at the same time",
            where=self._client.name,
            remedy=f"{self._right.to} again in a moment",
        )

    def keep(self) -> None:
        """Renew it when it is time; LostLeaseError when it is another's. Called before everything sent."""
        if self._now() < self._renewed + self._right.seconds / 3:
            return
        for _ in range(TRIES):
            if self._written(self._held):
                return
            found = self._client.get(LEASE, self._right.name, self._namespace)
            if found is None or _holder_of(found) != self._holder:
                break
            self._held = found
        raise LostLeaseError(
            f"the right to {self._right.to} in namespace `{self._namespace}` was lost, so nothing further is "
            "sent",
            where=self._client.name,
            remedy=f"`kubectl get lease {self._right.name} -n {self._namespace} -o yaml` says whose it is; "
            f"{self._right.to} again",
        )

    def release(self) -> None:
        """Give it back; where that fails it expires by itself."""
        if self._held is None:
            return
        spec = {**self._held["spec"], "holderIdentity": "", "renewTime": self._stamp()}
        held, self._held = self._held, None
        try:
            self._client.replace({**held, "spec": spec}, manager=self._right.name)
        except (ApiError, CutError):
            return

    def _written(self, found: Object | None) -> bool:
        """Whether it is ours now; False where another was quicker, or nobody knows."""
        now = self._now()
        try:
            if found is None:
                self._held = self._client.create(self._object(), manager=self._right.name)
            else:
                self._held = self._client.replace(
                    {**found, "spec": self._spec(found)}, manager=self._right.name
                )
        except CutError:
            return False
        except ApiError as error:
            if error.status in {0, 404, 409}:
                return False
            raise
        self._renewed = now
        return True

    def _is_open(self, found: Object) -> bool:
        return _holder_of(found) in {"", self._holder} or self._now() >= _expiry_of(found)

    def _taken(self, found: Object) -> TakenLeaseError:
        spec = found["spec"]
        return TakenLeaseError(
            f"`{_holder_of(found)}` {self._right.doing} in namespace `{self._namespace}` (since "
            f"{spec.get('acquireTime', 'an unknown time')}), so nothing was sent",
            where=self._client.name,
            remedy=f"{self._right.to} again when it has ended; if it died, its right ends by itself within "
            f"{self._right.seconds} s",
        )

    def _object(self) -> Object:
        metadata = {
            "name": self._right.name,
            "namespace": self._namespace,
            "labels": labels_of(**({} if self._team is None else {"team": self._team})),
        }
        spec = {
            "holderIdentity": self._holder,
            "leaseDurationSeconds": self._right.seconds,
            "acquireTime": self._stamp(),
            "renewTime": self._stamp(),
            "leaseTransitions": 0,
        }
        return {"apiVersion": LEASE.api_version, "kind": LEASE.name, "metadata": metadata, "spec": spec}

    def _spec(self, found: Object) -> dict[str, Any]:
        before: dict[str, Any] = dict(found.get("spec") or {})
        is_ours = before.get("holderIdentity") == self._holder
        changes = int(before.get("leaseTransitions") or 0)
        return {
            **before,
            "holderIdentity": self._holder,
            "leaseDurationSeconds": self._right.seconds,
            "renewTime": self._stamp(),
            "acquireTime": before.get("acquireTime") if is_ours else self._stamp(),
            "leaseTransitions": changes if is_ours else changes + 1,
        }

    def _stamp(self) -> str:
        return datetime.fromtimestamp(self._now(), UTC).strftime(_FORM)


def _holder_of(found: Object) -> str:
    return str((found.get("spec") or {}).get("holderIdentity") or "")


def _expiry_of(found: Object) -> float:
    """When the holder holds nothing any more; a Lease that says no time is open."""
    spec = found.get("spec") or {}
    told = spec.get("renewTime") or spec.get("acquireTime")
    if told is None:
        return 0.0
    seconds = timedelta(seconds=int(spec.get("leaseDurationSeconds") or SECONDS))
    return (datetime.fromisoformat(str(told)) + seconds).timestamp()
