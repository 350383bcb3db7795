"""`allot doctor --cluster` and `--snapshot` as a person uses them: whole answers, exit codes, refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from allotment.cli import cluster_doctor, invoke
from allotment.kubernetes.client import Client
from allotment.kubernetes.cluster.file import snapshot_text
from allotment.kubernetes.cluster.reading import read_snapshot
from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.transport import FakeTransport
from tests.kubernetes.ready.clusters import TIME
from tests.kubernetes.ready.servers import broken, good
from tests.kubernetes.stored import ROOT

PICTURES = Path(__file__).parent / "pictures"
EXAMPLE = ROOT / "examples" / "cluster"
WORDS = ("doctor", "-C", str(EXAMPLE), "--platform", str(EXAMPLE / "cluster.yaml"), "--team", "archive")


def use(monkeypatch: pytest.MonkeyPatch, server: FakeApiServer) -> None:
    monkeypatch.setattr(cluster_doctor, "client_for", lambda _: Client(FakeTransport(server)))
    monkeypatch.setattr(cluster_doctor, "time", TIME.timestamp)


@pytest.mark.parametrize(("name", "made", "code"), [("good", good, 0), ("broken", broken, 1)])
def test_the_whole_picture(
    name: str,
    made: Callable[[], FakeApiServer],
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    use(monkeypatch, made())
    assert invoke([*WORDS, "--cluster"]) == code
    told = capsys.readouterr()
    assert told.err == ""
    said = told.out.replace(f"{EXAMPLE}/", "")
    assert said == (PICTURES / f"doctor-{name}.txt").read_text(encoding="utf-8")


def test_programs_are_told_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, broken())
    assert invoke([*WORDS, "--cluster", "-o", "json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["format_version"], told["ready"]) == (1, False)
    assert {each["state"] for each in told["checks"]} == {"fine", "note", "problem"}
    assert all(each["remedy"] for each in told["checks"] if each["state"] == "problem")


def test_what_mends_several_things_is_told_once_and_counted_with_the_options_of_the_call(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, broken())
    assert invoke([*WORDS, "--cluster"]) == 1
    told = capsys.readouterr().out
    mends = f"allot render --platform-objects --platform {EXAMPLE / 'cluster.yaml'} | kubectl apply"
    assert told.count(f"    {mends}") == 1
    assert f"3 of them are mended by: {mends}" in told.splitlines()[-1]


def test_a_file_tells_what_it_can(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    snapshot = read_snapshot(Client(FakeTransport(broken())), now=TIME.timestamp())
    file = tmp_path / "cluster.yaml"
    file.write_text(snapshot_text(snapshot), encoding="utf-8")
    assert invoke([*WORDS, "--snapshot", str(file)]) == 1
    told = capsys.readouterr().out
    assert "✗ driver: 1 node with cards of which gpu.nvidia.com publishes none: node-b" in told
    assert "✗ active queues: ClusterQueue archive takes no work: Stopped: is stopped" in told
    assert (
        "• credentials: whether secret `archive-bucket` of namespace archive is there cannot be told" in told
    )
    assert "not looked at: " in told
    assert "rights" not in told
    assert "clock" not in told


def test_a_file_that_somebody_has_put_together_calls_nothing_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "nodes.yaml"
    file.write_text("{apiVersion: v1, kind: Node, metadata: {name: a}}")
    invoke([*WORDS, "--snapshot", str(file)])
    told = capsys.readouterr().out
    assert "✗" not in told
    assert "as the platform's file has it" not in told


def test_a_platform_of_this_machine_is_no_clusters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "platform.yaml").write_text("engine: local\n")
    words = ["doctor", "-C", str(tmp_path), "--platform", str(tmp_path / "platform.yaml"), "--cluster"]
    assert invoke(words) == 2
    assert "which is this machine alone, and no cluster can be held against it" in capsys.readouterr().err


def test_two_clusters_are_one_too_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text("")
    assert invoke([*WORDS, "--snapshot", str(file), "--cluster"]) == 2
    assert "--cluster and --snapshot name two clusters" in capsys.readouterr().err


def test_without_a_team_all_are_looked_at(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, good())
    assert invoke([*WORDS[:-2], "--cluster"]) == 1
    assert "✗ credentials: there is no secret `laboratory-bucket`" in capsys.readouterr().out
