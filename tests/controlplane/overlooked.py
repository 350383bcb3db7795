"""Kueue 0.17 now and then overlooks a pod that it has admitted, and leaves its gate on it for good.

It looks at a Job some milliseconds before the Job's pod is there, and not again until something of the Job
changes. ``allot status`` tells it, and what frees it. Whatever a test is about, it is not this: a Job whose
pod has had the gate for some seconds is touched here, as ``allot status`` says.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from allotment.errors import AllotmentError
from allotment.kubernetes.client import Client
from allotment.kubernetes.kinds import JOB, POD

GATE: Final = "kueue.x-k8s.io/elastic-job"
SECONDS: Final = 6.0
"""How long a pod has the gate before its Job is touched; the next touch comes after as long again."""


class Touching:
    """A thread that touches such Jobs, from ``start`` to ``stop``."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="touching", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._is_over.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._is_over.wait(SECONDS):
            try:
                for namespace, job in sorted(set(self._overlooked(time.time()))):
                    change = {"metadata": {"annotations": {"allotment/touched": f"{time.time():.0f}"}}}
                    self._client.patch(JOB, job, namespace, change, manager="kubectl-annotate")
            except (AllotmentError, OSError):
                continue

    def _overlooked(self, now: float) -> Iterator[tuple[str, str]]:
        for pod in self._client.listed(POD, fields="status.phase=Pending"):
            metadata, gates = pod["metadata"], pod["spec"].get("schedulingGates") or ()
            age = now - datetime.fromisoformat(metadata["creationTimestamp"]).timestamp()
            job = (metadata.get("labels") or {}).get("batch.kubernetes.io/job-name")
            if job and age > SECONDS and GATE in {each["name"] for each in gates}:
                yield metadata["namespace"], job
