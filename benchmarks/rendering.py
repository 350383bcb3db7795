"""`allot render` of a campaign of 10,000 volumes beside a bare YAML dump of the objects and volumes.

Both in one process and one run, by CPU. What is timed of ours is everything between options and output:
reading and checking the files, the objects, the stream. The dump has the volumes as values, as whoever writes
the objects by hand would.
"""

from __future__ import annotations

import gc
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import yaml

from allotment.kubernetes.render import render, to_stream
from allotment.platform.file import scan_platform
from allotment.repository import load_repository
from benchmarks.ratio import Ratio

VOLUMES = 10_000
ROUNDS = 7
BUDGET = 1.0
PLATFORM = """engine: kubernetes
scheduler: kueue
bucket: s3://results
sources: {template: "https://iiif.example.org/{ref}/manifest", hosts: [iiif.example.org]}
teams: {library: {}}
"""
PIPELINE = f"image: registry.example.org/read@sha256:{'a' * 64}\ngpu: {{memory: 20Gi}}\nsteps: [step: ocr]\n"
HEAD = "pipeline: read\nwindow: 8\nvolumes:\n"


def run() -> list[Ratio]:
    """One ratio: all of ours to the dump."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, file, text in (
            ("pipelines", "read", PIPELINE),
            ("campaigns", "books", HEAD + "".join(f"  - R{number:07d}\n" for number in range(VOLUMES))),
            (".", "cluster", PLATFORM),
        ):
            (root / name).mkdir(exist_ok=True)
            (root / name / f"{file}.yaml").write_text(text)
        objects = [_as_values(value) for value in yaml.safe_load_all(_rendered(root))]
        rounds = [(_cpu(lambda: _dump(objects)), _cpu(lambda: _rendered(root))) for _ in range(ROUNDS)]
    dumped, ours = (median(side) for side in zip(*rounds, strict=True))
    explanation = f"{ours * 1000:.0f} ms of CPU; the dump of the same takes {dumped * 1000:.0f} ms"
    return [Ratio("render of 10,000 volumes", median(b / a for a, b in rounds), BUDGET, explanation)]


def _rendered(root: Path) -> str:
    platform, _ = scan_platform(root / "cluster.yaml", "cluster.yaml")
    repository = load_repository(root, platform).checked()
    return to_stream(render(repository, platform, platform.teams["library"]))


def _as_values(value: dict[str, Any]) -> dict[str, Any]:
    """A ConfigMap with what its texts say."""
    if value["kind"] != "ConfigMap":
        return value
    return {**value, "data": {key: json.loads(text) for key, text in value["data"].items()}}


def _dump(objects: list[dict[str, Any]]) -> str:
    text: str = yaml.dump_all(objects, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), sort_keys=False)
    return text


def _cpu(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start
