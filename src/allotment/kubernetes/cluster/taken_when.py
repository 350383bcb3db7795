"""When a file of objects was taken that does not say so: the newest time in it that a cluster has set.

What is renewed while a cluster runs (the heartbeats of nodes, every five minutes at the latest; leases, every
ten seconds or so) tells it nearly to the minute, changes of conditions and of fields as well as a cluster is
busy. The times at which objects were created tell nothing: slices and nodes live for months. Times that lie
ahead when they are set, such as the end of a pod's grace, are none of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from allotment.kubernetes.cluster.file import time_of, time_text
from allotment.kubernetes.kinds import Object

_CREATED: Final = "creationTimestamp"
_CHANGED: Final = frozenset(
    {
        "acquireTime", "allocationTimestamp", "completionTime", "eventTime", "finishedAt", "firstTimestamp",
        "lastHeartbeatTime", "lastProbeTime", "lastScheduleTime", "lastTimestamp", "lastTransitionTime",
        "lastUpdateTime", "renewTime", "startTime", "startedAt", "time", "timeAdded",
    }
)  # fmt: skip


@dataclass(slots=True)
class TakenWhen:
    """The newest times of the objects that were looked at; zero where there is none."""

    created: float = 0.0
    changed: float = 0.0

    def look_at(self, value: Object) -> None:
        """Take the times of an object, wherever they stand in it."""
        left: list[object] = [value]
        while left:
            each = left.pop()
            if isinstance(each, list):
                left += each
            elif isinstance(each, dict):
                for key, inner in each.items():
                    if isinstance(inner, str):
                        self._look(key, inner)
                    else:
                        left.append(inner)

    def _look(self, key: object, text: str) -> None:
        if key == _CREATED:
            self.created = max(self.created, time_of(text) or 0.0)
        elif key in _CHANGED:
            self.changed = max(self.changed, time_of(text) or 0.0)

    @property
    def is_known(self) -> bool:
        """Whether anything tells more than when objects were created."""
        return self.changed > 0

    def time(self, otherwise: float) -> float:
        """The newest of all; ``otherwise`` where there is none at all."""
        return max(self.created, self.changed) or otherwise

    def words(self) -> str:
        """What is taken for the time of the file, and why."""
        if self.is_known:
            newest = time_text(self.time(0.0))
            return f"it does not say when it was taken: {newest}, the newest time in it, is assumed"
        return (
            "it does not say when it was taken, and its age is not known: it tells only when objects were "
            "created (nodes tell more, and `allot snapshot` writes it down)"
        )
