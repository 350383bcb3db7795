"""A worker's limits, set before anything large is imported: processors, threads, memory, and margins of time.

Thread counts are read by numerical libraries when they are loaded, processor affinity when they count
processors; both must therefore be there first. RLIMIT_DATA counts a process's private writable memory
(setrlimit(2), Linux 4.7), so that too much of it ends as a `MemoryError` of the step and not as the
machine's trouble.
"""

from __future__ import annotations

import os
import resource
import sys

from allotment.running.assignment import WorkerSpec

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OMP_THREAD_LIMIT",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "RAYON_NUM_THREADS",
    "TOKENIZERS_NUM_THREADS",
)


def set_limits(worker: WorkerSpec) -> list[str]:
    """Set what the system lets us set; returns what it does not, one sentence each."""
    complaints = []
    for variable in THREAD_VARIABLES:  # what the pipeline says of its own holds
        os.environ.setdefault(variable, str(worker.threads))
    if worker.cpus:
        try:
            os.sched_setaffinity(0, worker.cpus)
        except (OSError, AttributeError, ValueError) as error:
            complaints.append(f"this worker cannot be bound to the processors {list(worker.cpus)}: {error}")
    if worker.memory_limit and sys.platform == "linux":
        try:
            _, hard = resource.getrlimit(resource.RLIMIT_DATA)
            most = worker.memory_limit if hard == resource.RLIM_INFINITY else min(worker.memory_limit, hard)
            resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
        except (OSError, ValueError) as error:
            complaints.append(
                f"this worker's memory cannot be limited to {worker.memory_limit} bytes: {error}"
            )
    return complaints


def soft_grace(grace_seconds: float) -> float:
    """How long after SIGTERM the page in flight may go on: what is left is for writing how it ended."""
    return grace_seconds - min(10.0, grace_seconds * 0.4)


def hard_grace(grace_seconds: float) -> float:
    """How long after SIGTERM the worker may live at all: a little less than the grace period."""
    return grace_seconds - min(5.0, grace_seconds * 0.2)


def bucket_grace(grace_seconds: float) -> float:
    """How long after SIGTERM a request to the bucket that is under way may go on."""
    return min(5.0, grace_seconds * 0.1)


def page_slack(page_seconds: float) -> float:
    """How much longer than its limit a page may take before the worker is ended from outside."""
    return min(30.0, max(2.0, page_seconds * 0.1))


DEADLINE_SLACK = 10.0
