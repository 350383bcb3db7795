"""`allot plan` of 200 volumes on 50 nodes with all of its draws, under each scheduler, by CPU of all of it.

What it may take are ten seconds of two shared cores; and twice the volumes must not take much more than twice
as long.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.ratio import Ratio

VOLUMES, PAGES, WINDOW = 200, 50, 64
FLEET = "25 nodes of 8 x H100-SXM, 25 nodes of 4 x L4"
SECONDS, CORES = 10.0, 2
TWICE = 2.2
SCHEDULERS = ("default", "kueue", "kai", "both")
PIPELINE = (
    f"image: registry.example.org/htr@sha256:{'a' * 64}\ngpu: {{memory: 40Gi}}\nsteps: [{{step: ocr}}]\n"
)
PLATFORM = """engine: kubernetes
scheduler: SCHEDULER
bucket: ./results
teams: {archive: {namespace: archive, queue: {quota: 64}}, museum: {namespace: museum, queue: {quota: 100}}}
sources: {hosts: [images.example.org]}
"""


def run() -> list[Ratio]:
    """Each scheduler against the seconds, and twice the volumes against as many."""
    found = []
    for scheduler in SCHEDULERS:
        whole = _planned(scheduler, VOLUMES)
        found.append(
            Ratio(
                f"a plan of {VOLUMES} volumes on 50 nodes with {scheduler}, of {CORES} cores' {SECONDS:g} s",
                whole / (SECONDS * CORES),
                1.0,
                f"{whole:.1f} s of CPU",
            )
        )
    single, twice = _planned("default", VOLUMES), _planned("default", 2 * VOLUMES)
    found.append(
        Ratio("a plan of twice the volumes", twice / single, TWICE, f"{twice:.1f} and {single:.1f} s")
    )
    return found


def _planned(scheduler: str, volumes: int) -> float:
    """CPU of the command and of the processes that it starts."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _write(root / "pipelines" / "demo.yaml", PIPELINE)
        _write(root / "campaigns" / "books.yaml", _campaign(volumes))
        _write(root / "cluster.yaml", PLATFORM.replace("SCHEDULER", scheduler))
        words = ["plan", "--platform", "cluster.yaml", "--team", "archive", "--describe", FLEET]
        before = _children()
        subprocess.run(
            [sys.executable, "-m", "allotment.cli", *words],
            cwd=root,
            env={**os.environ},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        return _children() - before


def _campaign(volumes: int) -> str:
    lines = ["pipeline: demo", f"window: {WINDOW}", "volumes:"]
    for volume in range(volumes):
        pages = ", ".join(f"https://images.example.org/{volume}/{page}.jpg" for page in range(PAGES))
        lines.append(f"  - {{id: v{volume}, images: [{pages}]}}")
    return "\n".join(lines) + "\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
