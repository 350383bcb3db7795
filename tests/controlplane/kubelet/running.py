"""A pod from when it is bound to its node until it has gone: one step at a time.

As a kubelet does it: init containers one after the other, then the others together; an image that cannot be
had, or a volume that is made of what is not there, is waited for; a deletion is SIGTERM to each first
process, and SIGKILL when the grace is over; the status is told at each change, and a deleted pod that has
ended is let go. Nothing is pulled: every image is this machine, but for those of a host ``.invalid``.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tests.controlplane.kubelet.api import Api, Pod
from tests.controlplane.kubelet.containers import Command, Container
from tests.controlplane.kubelet.fields import (
    TEMPORARY,
    Mapped,
    base_environment,
    expanded,
    variables,
)
from tests.controlplane.kubelet.status import State, Told, now
from tests.controlplane.kubelet.volumes import Missing, make_volumes

PLAYED: Final = "controlplane.test/plays"
"""An annotation of a namespace or a pod: a shell's words that are run instead of the container's.

They are told ``PLAYED_POD`` and ``PLAYED_NODE``.
"""
RETRY_SECONDS: Final = 0.5
RESTART_SECONDS: Final = 1.0
ENDED: Final = ("Succeeded", "Failed")


class RunningPod:
    """A pod on this machine. ``pod`` is how the API server has it now."""

    def __init__(self, api: Api, pod: Pod, folder: Path, played: str | None) -> None:
        self.pod = pod
        self.folder = folder
        self.is_over = (pod.get("status") or {}).get("phase") in ENDED
        self._api = api
        self._played = played
        self._start = now()
        self._volumes: dict[str, Path] | None = None
        self._wait_until = 0.0
        self._kill_at: float | None = None
        self._reason = ""
        self._began: float | None = None
        self._first = [_waiting(each) for each in pod["spec"].get("initContainers") or ()]
        self._main = [_waiting(each) for each in pod["spec"]["containers"]]
        self._live: dict[str, Container] = {}

    def step(self, time: float) -> None:
        """Do what is to be done now."""
        if self.pod["metadata"].get("deletionTimestamp"):
            self._end(time, self.pod["metadata"].get("deletionGracePeriodSeconds") or 0)
        if self.is_over:
            if self.pod["metadata"].get("deletionTimestamp") and self._kill_at != float("inf"):
                self._kill_at = float("inf")
                self._api.forget(self.pod)
            return
        self._watch_deadline(time)
        self._collect()
        if self._kill_at is not None:
            self._finish_ending(time)
        elif time >= self._wait_until:
            self._go_on(time)

    def vanish(self) -> None:
        """It is no longer there: end everything, leave nothing."""
        for each in self._live.values():
            each.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log_of(self, container: str) -> Path:
        """Where a container's output goes."""
        return self.folder / f"{container}.log"

    def _go_on(self, time: float) -> None:
        if not self._has_images() or not self._has_volumes(time):
            return
        for number, state in enumerate(self._first):
            if state.ended is not None and state.code == 0:
                continue
            if state.ended is not None:
                self._fail_or_restart(self._first, number, time)
            elif state.started is None:
                self._run(self._first, number, self.pod["spec"]["initContainers"][number], time)
            return
        changed = False
        for number, state in enumerate(self._main):
            if state.started is None:
                self._run(self._main, number, self.pod["spec"]["containers"][number], time)
                changed = True
        if changed:
            self._tell("Running")
        elif all(each.ended is not None for each in self._main):
            for number in range(len(self._main)):
                self._fail_or_restart(self._main, number, time)

    def _has_images(self) -> bool:
        spec = self.pod["spec"]
        images = [each["image"] for each in (*(spec.get("initContainers") or ()), *spec["containers"])]
        bad = [each for each in images if each.split("/")[0].endswith(".invalid")]
        if bad and self._main[0].reason != "ErrImagePull":
            self._main = [
                replace(each, reason="ErrImagePull", message=f"no such host: {bad[0]}") for each in self._main
            ]
            self._tell("Pending")
        return not bad

    def _has_volumes(self, time: float) -> bool:
        if self._volumes is not None:
            return True
        try:
            self._volumes = make_volumes(self._api, self.pod, self.folder / "volumes")
        except Missing as reason:
            if self._wait_until == 0.0:
                self._tell("Pending", message=str(reason))
            self._wait_until = time + RETRY_SECONDS
            return False
        for each in self.pod["spec"]["containers"][:1]:
            mapped = Mapped(each, self._volumes)
            for place in self._volumes.values():
                mapped.files(place)
        self._began = time
        return True

    def _run(self, states: list[State], number: int, container: Mapping[str, Any], time: float) -> None:
        self._live[container["name"]] = Container(self._command(container))
        states[number] = replace(states[number], started=now(), ended=None)
        self._wait_until = time
        if states is self._first:
            self._tell("Pending")

    def _command(self, container: Mapping[str, Any]) -> Command:
        mapped = Mapped(container, self._volumes or {})
        told = {key: mapped.text(value) for key, value in variables(self._api, self.pod, container).items()}
        temporary = mapped.mounts.get(TEMPORARY, self.folder / "tmp")
        folder = Path(mapped.text(container["workingDir"])) if "workingDir" in container else self.folder
        for each in (temporary, folder):
            each.mkdir(parents=True, exist_ok=True)
        words = [*(container.get("command") or ()), *(container.get("args") or ())]
        if self._played is not None:
            words = ["/bin/sh", "-c", self._played]
        words = [mapped.text(expanded(each, told)) for each in words] or ["true"]
        environment = {**base_environment(), "TMPDIR": str(temporary), **told}
        if self._played is not None:
            metadata, node = self.pod["metadata"], self.pod["spec"]["nodeName"]
            environment |= {"PLAYED_POD": metadata["name"], "PLAYED_NODE": node}
        return Command(words, folder, environment, self.log_of(container["name"]))

    def _collect(self) -> None:
        """Take down which processes have ended."""
        for states in (self._first, self._main):
            for number, state in enumerate(states):
                live = self._live.get(state.name)
                if live is None or state.started is None or state.ended is not None:
                    continue
                if live.exit_code is not None:
                    states[number] = replace(state, ended=now(), code=live.exit_code)
                    live.kill()

    def _fail_or_restart(self, states: list[State], number: int, time: float) -> None:
        state, policy = states[number], self.pod["spec"].get("restartPolicy", "Always")
        if policy == "Always" or (policy == "OnFailure" and state.code):
            states[number] = replace(
                state, started=None, ended=None, restarts=state.restarts + 1, reason="CrashLoopBackOff"
            )
            self._wait_until = time + RESTART_SECONDS
            self._tell("Running")
            return
        self._close()

    def _watch_deadline(self, time: float) -> None:
        limit = self.pod["spec"].get("activeDeadlineSeconds")
        if limit and self._began is not None and self._kill_at is None and time > self._began + limit:
            self._reason = "DeadlineExceeded"
            self._end(time, self.pod["spec"].get("terminationGracePeriodSeconds", 30))

    def _end(self, time: float, grace: float) -> None:
        """Tell each process to end, once, and say when they will be killed."""
        if self._kill_at is None and not self.is_over:
            self._kill_at = time + grace
            for each in self._live.values():
                each.tell()
        elif self._kill_at is not None and self._kill_at != float("inf"):
            self._kill_at = min(self._kill_at, time + grace)

    def _finish_ending(self, time: float) -> None:
        states = (*self._first, *self._main)
        running = [each for each in states if each.started is not None and each.ended is None]
        if running and self._kill_at is not None and time >= self._kill_at:
            for each in running:
                self._live[each.name].kill()
            self._collect()
            running = []
        if not running:
            self._close()

    def _close(self) -> None:
        """Everything has ended: say so for good."""
        states = (*self._first, *self._main)
        is_good = not self._reason and all(each.ended is not None and each.code == 0 for each in states)
        self.is_over = True
        self._tell("Succeeded" if is_good else "Failed")

    def _tell(self, phase: str, message: str = "") -> None:
        told = Told(phase, self._start, self._main, self._first, self._reason, message)
        self._api.report(self.pod, told.to_dict())


def _waiting(container: Mapping[str, Any]) -> State:
    return State(container["name"], container["image"])
