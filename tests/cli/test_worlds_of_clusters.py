"""`--cluster` and `--snapshot` where a command looks at devices: one world, and only one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from allotment.cli import cluster as of_cluster
from allotment.cli import invoke
from allotment.devices.describe import parse_description
from allotment.errors import EXIT_FINE, EXIT_REFUSED, EXIT_USAGE
from allotment.kubernetes.client import Client
from allotment.kubernetes.cluster.file import snapshot_text
from allotment.kubernetes.cluster.snapshot import Missing, Snapshot
from allotment.kubernetes.kinds import DEVICE_CLASS, NODE, SLICE, Kind
from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.transport import FakeTransport

Run = Callable[..., tuple[int, str, str]]
PIPELINE = "steps: [{step: checksum}]\ngpu: {memory: 70Gi}\n"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ALLOT_LEDGER", str(tmp_path / "ledger"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines" / "p.yaml").write_text(PIPELINE)
    (tmp_path / "config").write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: prod\n"
        "contexts: [{name: prod, context: {cluster: c, user: u, namespace: team-a}}]\n"
        "clusters: [{name: c, cluster: {server: http://127.0.0.1:1}}]\nusers: [{name: u, user: {}}]\n"
    )

    def run_command(*words: str) -> tuple[int, str, str]:
        code = invoke(words)
        told = capsys.readouterr()
        return code, told.out, told.err

    return run_command


def objects(text: str) -> tuple[dict[str, Any], ...]:
    world = parse_description(text)
    both: tuple[Any, ...] = (*world.slices, *world.classes.values())
    return tuple(each.to_dict() for each in both)


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    path = tmp_path / "cluster.yaml"
    missing = (Missing(NODE, "forbidden"),)
    found = Snapshot(1.8e9, objects("2 x H100-SXM"), name="prod", version="1.36", missing=missing)
    path.write_text(snapshot_text(found))
    return str(path)


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> FakeApiServer:
    server = FakeApiServer()
    server.add_namespace("team-a")
    kinds: dict[str, Kind] = {"ResourceSlice": SLICE, "DeviceClass": DEVICE_CLASS}
    for each in objects("1 x L4"):
        answer = server.request("POST", kinds[each["kind"]].path(), body=each)
        assert answer.status == 201, answer.body
    monkeypatch.setattr(of_cluster, "client_for", lambda _: Client(FakeTransport(server)))
    return server


def test_devices_of_a_snapshot(run: Run, snapshot: str) -> None:
    code, out, _ = run("devices", "--snapshot", snapshot)
    assert code == EXIT_FINE
    assert out.splitlines()[0].startswith("prod")
    assert "2 cards; 2 free" in out.splitlines()[0]
    assert "note: nodes could not be read: forbidden" in out


def test_devices_of_a_cluster(run: Run, live: FakeApiServer) -> None:
    code, out, _ = run("devices", "--cluster")
    assert (code, "1 card; 1 free" in out.splitlines()[0]) == (EXIT_FINE, True)
    assert out.splitlines()[0].startswith("the fake cluster")
    assert {request.method for request in live.requests[-10:]} == {"GET"}


def test_a_claim_and_a_need_are_held_against_a_snapshot(run: Run, snapshot: str) -> None:
    code, out, _ = run("claim", "p", "--snapshot", snapshot, "-o", "text")
    assert (code, "prod" in out) == (EXIT_FINE, True)
    code, out, _ = run("why", "p", "--snapshot", snapshot)
    assert (code, "fits" in out.splitlines()[0]) == (EXIT_FINE, True)


def test_a_need_is_held_against_a_cluster(run: Run, live: FakeApiServer) -> None:
    code, out, _ = run("why", "p", "--cluster=prod")
    assert (code, "never" in out.splitlines()[0]) == (EXIT_FINE, True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--cluster=prod", "--describe", "1 x T4"], "--describe and --cluster name two worlds"),
        (["--devices", "x", "--describe", "1 x T4", "--cluster=a"], "name three worlds"),
        (["--snapshot", "none.yaml"], "none.yaml"),
    ],
)
def test_a_command_looks_at_one_world(run: Run, words: list[str], told: str) -> None:
    code, _, err = run("devices", *words)
    assert (code, told in err) == (EXIT_USAGE, True)


def test_a_snapshot_that_is_none_is_told_where(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text("apiVersion: v1\nkind: List\nformat_version: 1\nitms: []\n")
    code, _, err = run("devices", "--snapshot", str(path))
    assert code == EXIT_REFUSED
    assert f"{path}:4:1" in err
    assert "did you mean `items`?" in err


def test_a_check_holds_needs_against_a_snapshot(run: Run, snapshot: str, tmp_path: Path) -> None:
    assert run("check", "--snapshot", snapshot)[0] == EXIT_FINE
    (tmp_path / "pipelines" / "p.yaml").write_text(PIPELINE.replace("70Gi", "90Gi"))
    code, out, err = run("check", "--snapshot", snapshot)
    assert (code, "never-fits" in out + err) == (EXIT_REFUSED, True)


def test_a_run_pretends_to_have_what_a_snapshot_has(run: Run, snapshot: str) -> None:
    code, _, err = run("run", "none", "--snapshot", snapshot)
    assert (code, "prod is not this machine" in err) == (EXIT_USAGE, True)
