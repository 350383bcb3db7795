"""How a pod's status is told, as a kubelet tells it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

ADDRESS: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class State:
    """Where a container is: waiting with a reason, running, or ended with a code."""

    name: str
    image: str
    reason: str = "ContainerCreating"
    message: str = ""
    started: str | None = None
    ended: str | None = None
    code: int = 0
    restarts: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As ``status.containerStatuses`` has it."""
        is_running = self.started is not None and self.ended is None
        state: dict[str, Any]
        if self.ended is not None:
            reason = "Completed" if self.code == 0 else "Error"
            times = {"startedAt": self.started, "finishedAt": self.ended}
            state = {"terminated": {"exitCode": self.code, "reason": reason, **times}}
        elif is_running:
            state = {"running": {"startedAt": self.started}}
        else:
            state = {
                "waiting": {"reason": self.reason, **({"message": self.message} if self.message else {})}
            }
        return {
            "name": self.name,
            "image": self.image,
            "imageID": "",
            "ready": is_running,
            "started": is_running,
            "restartCount": self.restarts,
            "state": state,
        }


@dataclass(frozen=True, slots=True)
class Told:
    """A pod's phase, and why."""

    phase: str
    start: str
    main: Sequence[State] = ()
    first: Sequence[State] = ()
    reason: str = ""
    message: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As a pod's status has it."""
        is_ready = self.phase == "Running" and all(each.ended is None for each in self.main)
        is_begun = bool(self.main) and all(each.started for each in self.main)
        found: dict[str, Any] = {
            "phase": self.phase,
            "startTime": self.start,
            "hostIP": ADDRESS,
            "hostIPs": [{"ip": ADDRESS}],
            "podIP": ADDRESS,
            "podIPs": [{"ip": ADDRESS}],
            "conditions": [
                _condition("PodReadyToStartContainers", is_true=True),
                _condition("Initialized", is_true=is_begun or not self.first),
                _condition("ContainersReady", is_true=is_ready),
                _condition("Ready", is_true=is_ready),
            ],
            "containerStatuses": [each.to_dict() for each in self.main],
        }
        if self.first:
            found["initContainerStatuses"] = [each.to_dict() for each in self.first]
        found |= {key: value for key, value in (("reason", self.reason), ("message", self.message)) if value}
        return {**found, **self.more}


def now() -> str:
    """The time as the API writes it."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _condition(kind: str, *, is_true: bool) -> dict[str, str]:
    return {"type": kind, "status": "True" if is_true else "False", "lastTransitionTime": now()}
