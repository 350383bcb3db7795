"""Recorded situations, and what is told of the one campaign, fleet or gang in each."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.cluster.file_reading import read_file
from allotment.kubernetes.follow import Followed, follow

SITUATIONS = Path(__file__).parent / "situations"
NAMES = tuple(sorted(path.stem for path in SITUATIONS.glob("*.yaml")))
NAMESPACE = "archive"


@cache
def situation(name: str) -> Snapshot:
    """The snapshot of a situation."""
    return read_file(SITUATIONS / f"{name}.yaml")


@cache
def told(name: str) -> Followed:
    """What is told of it."""
    (found,) = follow(situation(name), NAMESPACE)
    return found
