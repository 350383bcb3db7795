"""Writing and reading a snapshot of 10,000 pods beside PyYAML with libyaml, which checks and sorts nothing.

Both in one process and one run, by CPU. Of ours the reading has all checks of shape, and keeps where each
object stands.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import yaml

from allotment.kubernetes.cluster.file import snapshot_text
from allotment.kubernetes.cluster.file_reading import snapshot_of
from allotment.kubernetes.cluster.snapshot import Snapshot
from benchmarks.ratio import Ratio

PODS = 10_000
RIVALS = 1_000  # PyYAML is given a tenth of them, or this would take a minute
ROUNDS = 3
BUDGET = 0.3


def run() -> list[Ratio]:
    """A ratio for writing and one for reading, per pod."""
    pods = [_pod(number) for number in range(PODS)]
    few = {"apiVersion": "v1", "kind": "List", "items": pods[:RIVALS]}
    whole = Snapshot(0.0, tuple(pods), name="cluster")
    text, dumped = snapshot_text(whole).encode(), _dump(few)
    sides: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "writing": (lambda: _dump(few), lambda: snapshot_text(whole)),
        "reading": (lambda: _load(dumped), lambda: snapshot_of(text, name="cluster.yaml", otherwise=0.0)),
    }
    found = []
    for name, (theirs, ours) in sides.items():
        rounds = [(_cpu(theirs) / RIVALS, _cpu(ours) / PODS) for _ in range(ROUNDS)]
        rival, own = (median(side) for side in zip(*rounds, strict=True))
        explanation = f"{own * PODS:.2f} s of CPU; PyYAML would take {rival * PODS:.2f} s"
        ratio = median(b / a for a, b in rounds)
        found.append(Ratio(f"{name} a snapshot of 10,000 pods", ratio, BUDGET, explanation))
    return found


def _pod(number: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"books-{number}",
            "namespace": f"team-{number % 20}",
            "uid": f"00000000-0000-4000-8000-{number:012}",
            "creationTimestamp": "2026-11-29T10:00:00Z",
            "labels": {
                "allotment/campaign": "books",
                "batch.kubernetes.io/job-completion-index": str(number),
            },
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "books", "uid": "u"}],
        },
        "spec": {
            "nodeName": f"node-{number % 500}",
            "containers": [
                {
                    "name": "runner",
                    "image": f"registry.example.org/read@sha256:{'a' * 64}",
                    "resources": {"requests": {"cpu": "4", "memory": "16Gi"}, "claims": [{"name": "gpu"}]},
                }
            ],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "books"}],
        },
        "status": {
            "phase": "Running",
            "conditions": [
                {"type": kind, "status": "True", "lastTransitionTime": "2026-11-29T10:00:01Z"}
                for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
            ],
        },
    }


def _dump(value: dict[str, Any]) -> str:
    text: str = yaml.dump(value, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper))
    return text


def _load(text: str) -> Any:
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _cpu(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start
