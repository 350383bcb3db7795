"""What a file of `kubectl get resourceslices,nodes` does not tell is not known, and refuses nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from allotment.cli import invoke
from allotment.devices.describe import parse_description
from allotment.kubernetes import kinds
from allotment.kubernetes.cluster.file import snapshot_text
from allotment.kubernetes.cluster.file_reading import read_file
from allotment.kubernetes.cluster.reading import ASKED
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.cluster.unasked import NOT_IN_FILE
from allotment.kubernetes.kinds import Object
from tests.planning.scene_files import IMAGE, NOW, node

PIPELINE = f"image: {IMAGE}\nsteps: [{{step: checksum}}]\ngpu: {{memory: 20Gi}}\n"
CAMPAIGN = "pipeline: read\nvolumes: [{id: a, images: ['https://x.org/1.jpg', 'https://x.org/2.jpg']}]\n"
PLATFORM = """
engine: kubernetes
scheduler: {scheduler}
bucket: ./results
teams: {{archive: {{queue: {{quota: 2, limit: 3}}}}, laboratory: {{queue: {{quota: 2}}}}}}
sources: {{hosts: [x.org]}}
"""
SCHEDULERS = ("default", "kueue", "kai", "both")
Said = Callable[..., str]


def published() -> list[Object]:
    """Slices and nodes, as whoever asks for nothing else gets them."""
    slices = parse_description("1 nodes of 4 x A100-80").slices
    return [*(each.to_dict() for each in slices), *(node(each.node_name or "") for each in slices)]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Said:
    """What a command prints of the cluster in ``now.yaml``; its exit code is held."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("pipelines/read.yaml", PIPELINE), ("campaigns/letters.yaml", CAMPAIGN)):
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text(text)
    listed = {"apiVersion": "v1", "kind": "List", "items": published()}
    (tmp_path / "now.yaml").write_text(json.dumps(listed))

    def run(*words: str, scheduler: str = "kueue", code: int = 0) -> str:
        (tmp_path / "cluster.yaml").write_text(PLATFORM.format(scheduler=scheduler))
        found = invoke([words[0], "--platform", "cluster.yaml", "--snapshot", "now.yaml", *words[1:]])
        told = capsys.readouterr()
        assert found == code, told.out + told.err
        return told.out + told.err

    return run


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_plan_takes_what_was_not_asked_for_as_rendered_and_says_so(said: Said, scheduler: str) -> None:
    plan = json.loads(said("plan", "--team", "archive", "--draws", "2", "-o", "json", scheduler=scheduler))
    assert [each["becomes"] for each in plan["changes"]["items"]] == ["new", "new"]
    (work,) = plan["works"]
    assert work["never"] is None
    assert work["end_seconds"]["p50"] > 0
    text = said("plan", "--team", "archive", "--draws", "2", scheduler=scheduler)
    assert "the files hold no device class" in text
    assert "no claims are in the file" in text
    assert "could not be read" not in text
    for who, there in (("Kueue", {"kueue", "both"}), ("KAI", {"kai", "both"})):
        assert (f"no queues of {who}'s are in now.yaml (`kubectl get " in text) == (scheduler in there)


def test_schedulers_are_compared_by_it(said: Said) -> None:
    words = ("--draws", "2", "--scheduler", "kueue", "--scheduler", "kai", "-o", "json")
    found = json.loads(said("compare", "--team", "archive", *words))
    assert len(found["columns"]) == 2
    assert found["nothing_to_do"] is False


@pytest.mark.parametrize(
    ("scheduler", "quota"),
    [
        ("default", ""),
        ("kueue", "ClusterQueue `archive` may have at most 3"),
        ("kai", "a quota of 2 and a limit of 3"),
        ("both", "ClusterQueue `archive` may have at most 3"),
    ],
)
def test_why_is_told_by_the_platforms_queues(said: Said, scheduler: str, quota: str) -> None:
    text = said("why", "letters", "--team", "archive", scheduler=scheduler)
    assert "it fits: 4 of 4 devices would do" in text
    assert quota in text
    assert "would do if it were sent" in text


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_queues_are_those_of_the_platform(said: Said, scheduler: str) -> None:
    text = said("queues", scheduler=scheduler)
    assert "now.yaml has 4 x A100-80, and of queues its file tells nothing" in text
    told = "its queues are those that the platform's file becomes: `kubectl get " in text
    assert told == (scheduler != "default")
    assert "nothing is guaranteed to anybody" not in text


def test_without_a_clusters_platform_it_is_said_that_no_queues_are_in_the_file(
    said: Said, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "here.yaml").write_text("engine: local\n")
    assert invoke(["queues", "--platform", "here.yaml", "--snapshot", "now.yaml"]) == 0
    text = capsys.readouterr().out
    assert "no queues are in the file: `kubectl get " in text
    assert "nothing is guaranteed to anybody" not in text


@pytest.mark.parametrize(
    ("scheduler", "lacks"), [("kueue", "Kueue has no LocalQueue"), ("kai", "KAI has no Queue")]
)
def test_what_a_whole_snapshot_lacks_is_not_there(
    said: Said, tmp_path: Path, scheduler: str, lacks: str
) -> None:
    whole = Snapshot(NOW, tuple(published()), name="prod", version="1.36")
    (tmp_path / "now.yaml").write_text(snapshot_text(whole))
    text = said("plan", "--team", "archive", scheduler=scheduler, code=1)
    assert "which the cluster does not have" in text
    assert lacks in text


def test_a_file_without_a_header_lacks_the_kinds_that_are_not_in_it(said: Said, tmp_path: Path) -> None:
    snapshot = read_file(tmp_path / "now.yaml")
    lacked = {each.kind for each in snapshot.missing}
    assert lacked == {each.kind for each in ASKED} - {kinds.SLICE, kinds.NODE}
    assert {each.why for each in snapshot.missing} == {NOT_IN_FILE}
    (tmp_path / "again.yaml").write_text(snapshot_text(snapshot))
    assert read_file(tmp_path / "again.yaml").missing == snapshot.missing
    assert "everything is ready" in said("doctor")
