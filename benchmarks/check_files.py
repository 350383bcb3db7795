"""`allot check` of 100,000 volumes beside the mere draining of the same file's YAML events.

Both in one process and one run, by CPU, so that a busy machine slows both. What is timed of ours is all that
`allot check` does between its options and its output; the folders that the campaign names exist.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import yaml

from allotment.cli.checking import check
from allotment.errors import Severity
from benchmarks.ratio import Ratio

VOLUMES = 100_000
ROUNDS = 7
BUDGET = 2.5
PIPELINE = "steps:\n  - step: ocr\n"
PLATFORM = """engine: local
sources: {template: "https://iiif.example.org/{ref}/manifest", hosts: [iiif.example.org]}
"""
HEAD = "pipeline: read\nwindow: 8\nvolumes:\n"
FORMS = {
    "bare ids": lambda number: f"  - R{number:07d}\n",
    "ids in quotes": lambda number: f'  - "{number:07d}"\n',
    "mappings": lambda number: f"  - id: book-{number:06d}\n    folder: scans/book-{number:06d}\n",
    "mappings in one line": lambda number: (
        f"  - {{id: book-{number:06d}, folder: scans/book-{number:06d}}}\n"
    ),
}


def run() -> list[Ratio]:
    """One ratio for each way of writing a volume."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in ("pipelines", "campaigns", "scans"):
            (root / name).mkdir()
        (root / "pipelines/read.yaml").write_text(PIPELINE)
        (root / "platform.yaml").write_text(PLATFORM)
        for number in range(VOLUMES):
            (root / f"scans/book-{number:06d}").mkdir()
        return [_ratio(root, form, line) for form, line in FORMS.items()]


def _ratio(root: Path, form: str, line: Callable[[int], str]) -> Ratio:
    text = HEAD + "".join(map(line, range(VOLUMES)))
    (root / "campaigns/books.yaml").write_text(text)
    rounds = [(_cpu(lambda: _drain(text)), _cpu(lambda: _check(root))) for _ in range(ROUNDS)]
    drained, checked = (median(side) for side in zip(*rounds, strict=True))
    explanation = f"{checked * 1000:.0f} ms of CPU; draining the events takes {drained * 1000:.0f} ms"
    value = median(ours / theirs for theirs, ours in rounds)
    return Ratio(
        f"check of {VOLUMES:,} volumes as {form}, in drainings of its events", value, BUDGET, explanation
    )


def _drain(text: str) -> None:
    loader = yaml.CSafeLoader(text)
    while type(loader.get_event()) is not yaml.StreamEndEvent:
        pass


def _check(root: Path) -> None:
    checked = check(root, (), platform=None, team=None)
    wrong = [finding for finding in checked.findings if finding.severity is not Severity.NOTE]
    if wrong or checked.volumes != VOLUMES:
        raise AssertionError(wrong[:3])


def _cpu(work: Callable[[], None]) -> float:
    """The CPU of this process for some work, begun without garbage of earlier work."""
    gc.collect()
    before = time.process_time()
    work()
    return time.process_time() - before
