"""Volumes that an earlier platform has completed count as done, and are shown as what they are."""

from __future__ import annotations

import json
from pathlib import Path

from allotment.buckets.memory import MemoryBucket
from allotment.running.legacy import legacy_results
from tests.running.engine.harness import Repository


def test_only_complete_volumes_of_the_same_namespace_and_pipeline_count() -> None:
    bucket = MemoryBucket()
    for key in (
        "harbour/read/a/manifest.json",
        "harbour/read/b/page/0001.xml",
        "harbour/read/other/manifest.json",
        "town/read/c/manifest.json",
        "harbour/read-v2/d/manifest.json",
        "harbour/read/0123456789ab/e/manifest.json",
    ):
        bucket.create(key, b"{}")
    assert legacy_results(bucket, "harbour", "read", ["a", "b", "c", "d", "e"]) == {"a"}
    assert legacy_results(bucket, "nobody", "read", ["a"]) == frozenset()


def test_a_run_does_them_not_again_and_results_say_whose_they_are(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r", volumes=3, pages=1).write()
    opened = repository.allot("results", "c", "-o", "json")
    pipeline = json.loads(opened.stdout)["pipeline"]
    first = sorted(path.name for path in (repository.root / "scans").iterdir())[0]
    folder = repository.root / "results/local" / pipeline / first
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text('{"pages": []}')
    ran = repository.allot("run", "c")
    assert ran.returncode == 0, ran.stderr
    assert first not in {execution.volume for execution in repository.executions()}
    shown = json.loads(repository.allot("results", "c", "-o", "json").stdout)["volumes"]
    by_volume = {each["volume"]: (each["state"], each["results"]) for each in shown}
    assert by_volume.pop(first) == ("complete", "legacy")
    assert set(by_volume.values()) == {("complete", "own")}
    status = json.loads(repository.allot("status", "-o", "json").stdout)
    assert status["campaigns"][0]["state"] == "finished"
    assert [path.name for path in folder.iterdir()] == ["manifest.json"]
