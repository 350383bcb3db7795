"""`allot snapshot` as a person meets it: the file, and a summary of what was and was not read."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from allotment.cli import cluster as of_cluster
from allotment.cli import invoke
from allotment.errors import EXIT_FINE, EXIT_REFUSED, EXIT_USAGE, EXIT_WORLD
from allotment.kubernetes.client import Client
from allotment.kubernetes.cluster.file_reading import read_file
from allotment.kubernetes.kinds import CLUSTER_QUEUE, NODE, POD
from allotment.kubernetes.testing import FakeApiServer, faults
from allotment.kubernetes.testing.custom_kinds import KUEUE
from allotment.kubernetes.testing.transport import FakeTransport

Run = Callable[..., tuple[int, str, str]]
CONFIG = (
    "apiVersion: v1\nkind: Config\ncurrent-context: prod\n"
    "contexts: [{name: prod, context: {cluster: c, user: u, namespace: team-a}}]\n"
    "clusters: [{name: c, cluster: {server: http://127.0.0.1:1}}]\nusers: [{name: u, user: {}}]\n"
)


def plan(_number: int, request: Any) -> Any:
    forbidden = request.path in {POD.path(), "/api/v1/resourcequotas"}
    return faults.Fault(403, "Forbidden", "pods is forbidden") if forbidden else None


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    server = FakeApiServer(kinds=KUEUE, plan=plan)
    server.add_namespace("team-a")
    for kind, name in ((NODE, "oak"), (NODE, "ash"), (CLUSTER_QUEUE, "archive")):
        server.request("POST", kind.path(), body={"metadata": {"name": name}})
    monkeypatch.setattr(of_cluster, "client_for", lambda _: Client(FakeTransport(server)))
    (tmp_path / "config").write_text(CONFIG)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)

    def run_snapshot(*words: str) -> tuple[int, str, str]:
        code = invoke(["snapshot", *words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run_snapshot


def test_the_current_clusters_snapshot_goes_to_a_file(run: Run, tmp_path: Path) -> None:
    code, out, err = run("--out", "cluster.yaml")
    assert (code, out) == (EXIT_FINE, "")
    lines = err.splitlines()
    assert re.match(r"the fake cluster, Kubernetes 1\.36, as of .*: 4 objects, in cluster\.yaml$", lines[0])
    assert lines[1] == "  2 Nodes, 1 ClusterQueue, 1 Namespace"
    assert any(line.startswith("  forbidden outside of namespace team-a: pods") for line in lines)
    assert any("queues (scheduling.run.ai)" in line and "not served" in line for line in lines)
    assert len(read_file(tmp_path / "cluster.yaml").of(NODE)) == 2
    assert [path.name for path in tmp_path.glob(".cluster*")] == []


def test_without_a_file_it_is_printed(run: Run) -> None:
    code, out, _ = run("--cluster=prod")
    assert code == EXIT_FINE
    assert out.startswith("apiVersion: v1\nkind: List\nformat_version: 1\ntime: ")


def test_it_is_packed_on_request(run: Run, tmp_path: Path) -> None:
    assert run("--out", "cluster.yaml.gz")[0] == EXIT_FINE
    assert gzip.decompress((tmp_path / "cluster.yaml.gz").read_bytes()).startswith(b"apiVersion: v1\n")
    assert len(read_file(tmp_path / "cluster.yaml.gz").of(NODE)) == 2


def test_one_namespace_alone(run: Run) -> None:
    _, out, err = run("--cluster=prod", "--namespace", "team-a")
    assert "left out outside of namespace team-a: " in err
    assert "name: team-a" in out


def test_an_anonymous_file_is_made_of_another(run: Run) -> None:
    run("--out", "cluster.yaml")
    code, out, err = run("--snapshot", "cluster.yaml", "--anonymous")
    assert code == EXIT_FINE
    assert err.startswith("an anonymous cluster")
    assert not re.search("oak|ash|archive", out)
    assert "node-02" in out


def test_the_snapshot_of_kais_scheduler_is_rewritten(run: Run, tmp_path: Path) -> None:
    raw = {"rawObjects": {"nodes": [{"metadata": {"name": "oak"}}]}}
    (tmp_path / "kai.json").write_text(json.dumps(raw))
    code, out, err = run("--snapshot", "kai.json")
    assert code == EXIT_FINE
    assert "kind: Node" in out
    assert "it does not say when it was taken" in err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--cluster=prod", "--snapshot", "config"], EXIT_USAGE),
        (["--snapshot", "none.yaml"], EXIT_USAGE),
        (["--snapshot", "broken.yaml"], EXIT_REFUSED),
        (["--out", "no/such/folder.yaml"], EXIT_WORLD),
    ],
)
def test_what_cannot_be_done_is_said(run: Run, tmp_path: Path, words: list[str], code: int) -> None:
    (tmp_path / "broken.yaml").write_text("a: [")
    assert run(*words)[0] == code


def test_a_pipe_is_read_as_a_file_is(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _, text, _ = run("--cluster=prod")
    for data in (text.encode(), gzip.compress(text.encode())):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        code, again, err = run("--snapshot", "-")
        assert (code, again) == (EXIT_FINE, text)
        assert err.startswith("the fake cluster")


def test_a_pipe_that_makes_no_sense_is_told_of_by_its_name(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"- 1\n")))
    code, _, err = run("--snapshot", "-")
    assert code == EXIT_REFUSED
    assert err.startswith("standard input:1:1 error no-object")
