"""``python -m tests.controlplane.kubelet``: the kubelet of every node of a plane, which runs pods here."""

from __future__ import annotations

import queue
import signal
import sys
import time
from pathlib import Path
from typing import Any, Final

import click

from tests.controlplane.certificates import Pair
from tests.controlplane.kubelet.api import Api, Change
from tests.controlplane.kubelet.logs import serve
from tests.controlplane.kubelet.running import PLAYED, RunningPod
from tests.controlplane.talking import Talk

LOOK_SECONDS: Final = 0.03


class Kubelet:
    """All pods that are bound to nodes."""

    def __init__(self, talk: Talk, folder: Path) -> None:
        self._api = Api(talk)
        self._folder = folder
        self._pods: dict[str, RunningPod] = {}

    def run(self) -> None:
        """For ever."""
        changes = self._api.changes()
        while True:
            self._hear(changes)
            for each in list(self._pods.values()):
                each.step(time.monotonic())

    def find(self, namespace: str, name: str, container: str) -> tuple[Path, bool] | None:
        """A container's output, and whether more may come."""
        for each in list(self._pods.values()):
            metadata = each.pod["metadata"]
            if (metadata["namespace"], metadata["name"]) == (namespace, name):
                return each.log_of(container), not each.is_over
        return None

    def _hear(self, changes: queue.Queue[Change]) -> None:
        try:
            change = changes.get(timeout=LOOK_SECONDS)
            while True:
                self._note(change)
                change = changes.get_nowait()
        except queue.Empty:
            return

    def _note(self, change: Change) -> None:
        uid = change.pod["metadata"]["uid"]
        if change.is_gone:
            found = self._pods.pop(uid, None)
            if found is not None:
                found.vanish()
        elif uid in self._pods:
            self._pods[uid].pod = change.pod
        else:
            folder = self._folder / uid
            folder.mkdir(parents=True, exist_ok=True)
            self._pods[uid] = RunningPod(self._api, change.pod, folder, self._played(change.pod))

    def _played(self, pod: Any) -> str | None:
        told = pod["metadata"].get("annotations") or {}
        if PLAYED in told:
            return str(told[PLAYED])
        return self._api.notes_of(pod["metadata"]["namespace"]).get(PLAYED)


@click.command()
@click.option("--server", required=True)
@click.option("--authority", type=Path, required=True)
@click.option("--token", default="admin")
@click.option("--folder", type=Path, required=True)
@click.option("--port", type=int, required=True)
@click.option("--certificate", type=Path, required=True)
@click.option("--key", type=Path, required=True)
def main(folder: Path, port: int, certificate: Path, key: Path, **server: Any) -> None:
    """Run the pods of every node of this API server."""
    kubelet = Kubelet(Talk(server["server"], server["authority"], server["token"]), folder)
    serve(port, Pair(certificate, key), kubelet.find)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    kubelet.run()


if __name__ == "__main__":
    main(prog_name="python -m tests.controlplane.kubelet")
