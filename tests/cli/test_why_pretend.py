"""`allot why` of what runs on a world that it pretends to have: held against that world, not this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from allotment.cli.world import AskedWorld
from tests.running.engine.harness import Repository, eventually

FLEET = "1 x H100-SXM, 1 x L4"


@pytest.mark.parametrize(
    "asked",
    [
        AskedWorld(describe=FLEET),
        AskedWorld((Path("/a/one.yaml"), Path("/b/two.yaml"))),
        AskedWorld((Path("-"),)),
        AskedWorld(snapshot=Path("/a/cluster.yaml")),
        AskedWorld(cluster="prod"),
        AskedWorld(),
    ],
)
def test_what_names_a_world_is_read_back(asked: AskedWorld) -> None:
    assert AskedWorld.of_options(asked.options()) == asked


def test_files_are_named_for_any_folder() -> None:
    assert AskedWorld((Path("one.yaml"),)).options() == ("--devices", str(Path("one.yaml").absolute()))
    assert AskedWorld.of_options(["--devices", "x", "--unknown", "y", "--describe"]) == AskedWorld(
        (Path("x"),)
    )


def test_a_run_that_pretends_is_asked_about_on_its_world(tmp_path: Path) -> None:
    queue = "teams: {archive: {queue: {quota: 1, limit: 2}}}\n"
    repository = Repository(tmp_path, volumes=3, pages=200, seconds=0.05, bucket=queue).write()
    pipeline = tmp_path / "pipelines" / "tally.yaml"
    pipeline.write_text(pipeline.read_text().replace("{cpu: 1}", "{memory: 40Gi}"))
    before = repository.allot("why", "c", "--pretend", "--describe", FLEET)
    assert "c: it fits" in before.stdout, before.stderr
    run = repository.start("run", "c", "--plain", "--pretend", "--describe", FLEET)
    try:
        told: dict[str, str] = {}

        def holds() -> bool:
            ended = repository.allot("why", "c")
            told.update(text=ended.stdout, error=ended.stderr)
            return "it waits: the only device that would do is in use" in ended.stdout

        assert eventually(holds), told
        assert "of the described fleet, in name only" in told["text"]
        assert "its run: running" in told["text"]
        assert "its share: team `archive` has 1 GPU, its share is 1 (quota 1, limit 2)" in told["text"]
        assert "held by c/" in told["text"]
        named = repository.allot("why", "c", "--pretend", "--describe", FLEET, "-o", "json")
        (answer,) = json.loads(named.stdout)["answers"]
        assert (answer["state"], answer["run"]["state"]) == ("waits", "running")
        plain = repository.allot("why", "c", "--describe", FLEET)  # another machine's, and nobody's there
        assert "c: it fits" in plain.stdout
    finally:
        repository.allot("stop", "c")
        run.wait(30)


def test_to_pretend_needs_a_world(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=1, pages=1).write()
    ended = repository.allot("why", "c", "--pretend")
    assert (ended.returncode, "--pretend needs a world" in ended.stderr) == (2, True)
