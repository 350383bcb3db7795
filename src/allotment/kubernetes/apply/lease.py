"""Against two who apply at once: a Lease in the team's namespace, held while anything is sent.

Facts: ``coordination.k8s.io/v1``: a holder says who it is and when it renewed; one that has not renewed for
``leaseDurationSeconds`` holds nothing any more. Every write names the version that it was made from, so that
of two who take it at once one is refused. Who loses it sends nothing further.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from allotment.errors import WorldError
from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.client.transport import CutError
from allotment.kubernetes.kinds import LEASE, Object
from allotment.kubernetes.render.names import labels_of

NAME: Final = "allotment-apply"
SECONDS: Final = 60
RENEWED_AFTER: Final = SECONDS / 3
TRIES: Final = 5
_FORM: Final = "%Y-%m-%dT%H:%M:%S.%fZ"


class LostLeaseError(WorldError):
    """Somebody else applies now: nothing further is sent."""


class Lease:
    """The one right to apply in a namespace. ``holder`` is different for every apply."""

    def __init__(
        self, client: Client, namespace: str, team: str, holder: str, now: Callable[[], float]
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._team = team
        self._holder = holder
        self._now = now
        self._held: Object | None = None
        self._renewed = 0.0

    def take(self) -> None:
        """Take it, from nobody, or from one who has let it expire; WorldError where somebody has it."""
        for _ in range(TRIES):
            found = self._client.get(LEASE, NAME, self._namespace)
            if found is not None and not self._is_open(found):
                raise self._taken(found)
            if self._written(found):
                return
        raise WorldError(
            "the right to apply could not be taken: others take it at the same time",
            where=self._client.name,
            remedy="apply again in a moment",
        )

    def keep(self) -> None:
        """Renew it when it is time; LostLeaseError when it is another's. Called before everything sent."""
        if self._now() < self._renewed + RENEWED_AFTER:
            return
        for _ in range(TRIES):
            if self._written(self._held):
                return
            found = self._client.get(LEASE, NAME, self._namespace)
            if found is None or _holder_of(found) != self._holder:
                break
            self._held = found
        raise LostLeaseError(
            f"the right to apply in namespace `{self._namespace}` was lost, so nothing further is sent",
            where=self._client.name,
            remedy=f"`kubectl get lease {NAME} -n {self._namespace} -o yaml` says whose it is; apply again",
        )

    def release(self) -> None:
        """Give it back; where that fails it expires by itself."""
        if self._held is None:
            return
        spec = {**self._held["spec"], "holderIdentity": "", "renewTime": self._stamp()}
        held, self._held = self._held, None
        try:
            self._client.replace({**held, "spec": spec}, manager=NAME)
        except (ApiError, CutError):
            return

    def _written(self, found: Object | None) -> bool:
        """Whether it is ours now; False where another was quicker, or nobody knows."""
        now = self._now()
        try:
            if found is None:
                self._held = self._client.create(self._object(), manager=NAME)
            else:
                self._held = self._client.replace({**found, "spec": self._spec(found)}, manager=NAME)
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

    def _taken(self, found: Object) -> WorldError:
        spec = found["spec"]
        return WorldError(
            f"`{_holder_of(found)}` is applying in namespace `{self._namespace}` (since "
            f"{spec.get('acquireTime', 'an unknown time')}), so nothing was sent",
            where=self._client.name,
            remedy=f"apply again when it has ended; if it died, its right ends by itself within {SECONDS} s",
        )

    def _object(self) -> Object:
        metadata = {
            "name": NAME,
            "namespace": self._namespace,
            "labels": labels_of(team=self._team),
        }
        spec = {
            "holderIdentity": self._holder,
            "leaseDurationSeconds": SECONDS,
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
            "leaseDurationSeconds": SECONDS,
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
