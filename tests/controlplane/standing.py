"""A control plane that stays until it is told to end, with a store and a team that can use it."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from allotment.kubernetes.render.platform import render_platform
from tests.buckets.moto_server import moto
from tests.controlplane import first_steps
from tests.controlplane.kueue_manager import Kueue
from tests.controlplane.nodes import publish
from tests.controlplane.plane import Plane

KUBECONFIG: Final = "kubeconfig"
PROCESS: Final = "keeper.pid"


def stand(folder: Path, describe: str, *, with_kueue: bool) -> None:
    """Start all of it in this folder, write the kubeconfig when it is ready, wait for the signal to end."""
    ended = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ended)
    (folder / PROCESS).write_text(str(os.getpid()), encoding="ascii")
    with ExitStack() as after:
        for name in (PROCESS, KUBECONFIG):
            after.callback((folder / name).unlink, missing_ok=True)
        store = after.enter_context(moto())
        plane = Plane(folder)
        after.callback(plane.stop)
        plane.start()
        plane.start_kubelet()
        publish(plane.client(), describe, port=plane.kubelet.port)
        platform = first_steps.write(folder, describe, "kueue" if with_kueue else "default", store)
        if with_kueue:
            (configuration,) = render_platform(platform).settings
            kueue = Kueue(plane, configuration.value)
            after.callback(kueue.stop)
            kueue.start()
        first_steps.prepare(plane.client(), platform)
        plane.kubeconfig().rename(folder / KUBECONFIG)
        signal.sigwait(ended)
