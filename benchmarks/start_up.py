"""`allot --help` under 150 ms of CPU: the budget as a ratio of a bare Python start on the same machine.

The absolute figure is the promise; it is held by the least of several runs, which a busy machine inflates
least.
"""

from __future__ import annotations

import resource
import subprocess
import sys

from benchmarks.ratio import Ratio

RUNS = 7
BUDGET_SECONDS = 0.150


def _cpu_seconds(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run() -> list[Ratio]:
    """The least CPU of several starts, of `allot --help` and of an empty Python program."""
    ours = min(_cpu_seconds([sys.executable, "-m", "allotment.cli", "--help"]) for _ in range(RUNS))
    bare = min(_cpu_seconds([sys.executable, "-c", "pass"]) for _ in range(RUNS))
    explanation = f"{ours * 1000:.0f} ms of CPU; an empty program takes {bare * 1000:.0f} ms"
    return [Ratio("allot --help, in parts of 150 ms of CPU", ours / BUDGET_SECONDS, 1.0, explanation)]
