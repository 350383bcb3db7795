"""A control plane that stays until it is told to end."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Final

from tests.controlplane.kueue_manager import Kueue
from tests.controlplane.nodes import publish
from tests.controlplane.plane import Plane
from tests.controlplane.team import kueue_configuration

KUBECONFIG: Final = "kubeconfig"
PROCESS: Final = "keeper.pid"


def stand(folder: Path, describe: str, *, with_kueue: bool) -> None:
    """Start all of it in this folder, write the kubeconfig when it is ready, wait for the signal to end."""
    ended = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ended)
    plane, kueue = Plane(folder), None
    (folder / PROCESS).write_text(str(os.getpid()), encoding="ascii")
    try:
        plane.start()
        plane.start_kubelet()
        publish(plane.client(), describe, port=plane.kubelet.port)
        if with_kueue:
            kueue = Kueue(plane, kueue_configuration(folder))
            kueue.start()
        plane.kubeconfig().rename(folder / KUBECONFIG)
        signal.sigwait(ended)
    finally:
        if kueue is not None:
            kueue.stop()
        plane.stop()
        (folder / KUBECONFIG).unlink(missing_ok=True)
        (folder / PROCESS).unlink(missing_ok=True)
