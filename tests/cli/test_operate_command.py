"""`allot operate` as it is called: what it says and exits with, once and until it is told to end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from allotment.cli import invoke, unfit_images
from allotment.cli.commands import apply as applying
from allotment.kubernetes.client import Client
from allotment.kubernetes.images import ImageFacts
from allotment.kubernetes.kinds import JOB, LEASE
from allotment.kubernetes.render.platform import render_platform
from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.custom_kinds import KAI, KUEUE
from allotment.kubernetes.testing.loopback import listening
from allotment.kubernetes.testing.transport import FakeTransport
from allotment.platform.file import scan_platform
from tests.kubernetes.stored import ROOT

SPACE = "archive"
FINE = ImageFacts(("linux/amd64",), {"io.allotment.inject": "1"})


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeApiServer:
    """A cluster with the example applied to it by the default scheduler, which a person narrows."""
    root = tmp_path / "repository"
    shutil.copytree(ROOT / "examples" / "cluster", root)
    path = root / "cluster.yaml"
    told = yaml.safe_load(path.read_text())
    told["scheduler"] = "default"
    told["teams"][SPACE]["repository"] = str(root)
    path.write_text(yaml.safe_dump(told))
    monkeypatch.chdir(root)
    monkeypatch.setenv("ALLOT_PLATFORM", str(path))
    monkeypatch.setattr(unfit_images, "registries", lambda: lambda _reference, _pull: FINE)
    platform, _ = scan_platform(path, "cluster.yaml")
    fake = FakeApiServer(kinds=(*KUEUE, *KAI))
    client = Client(FakeTransport(fake))
    for each in render_platform(platform).objects:
        client.apply(each, manager="admin")
    monkeypatch.setattr(applying, "client_for", lambda _: Client(FakeTransport(fake)))
    invoke(["apply", "church-books"])
    note = {"metadata": {"annotations": {"allotment/at-most": "2"}}}
    client.patch(JOB, "church-books", SPACE, note, manager="somebody")
    return fake


@pytest.fixture
def kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for a kubeconfig, which is named."""
    found = tmp_path / "kubeconfig"
    monkeypatch.setenv("KUBECONFIG", str(found))
    return found


def written(kubeconfig: Path, address: str) -> None:
    cluster = {"name": "c", "cluster": {"server": address}}
    context = {"name": "c", "context": {"cluster": "c", "namespace": SPACE}}
    kubeconfig.write_text(
        yaml.safe_dump({"current-context": "c", "clusters": [cluster], "contexts": [context]})
    )


def width(server: FakeApiServer) -> int:
    found = Client(FakeTransport(server)).get(JOB, "church-books", SPACE)
    assert found is not None
    return int(found["spec"]["parallelism"])


def test_once_says_what_is_done_and_why(
    server: FakeApiServer, kubeconfig: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    with listening(server) as address:
        written(kubeconfig, address)
        before = width(server)
        assert invoke(["operate", "--once", "--dry-run"]) == 0
        assert f"church-books shrinks {before} -> 2: allotment/at-most says 2" in capsys.readouterr().out
        assert width(server) == before
        assert invoke(["operate", "--once", "--team", SPACE]) == 0
        assert "church-books shrinks" in capsys.readouterr().out
        assert width(server) == 2
        assert invoke(["operate", "--once"]) == 0
        assert "church-books stays 2 wide: allotment/at-most says 2" in capsys.readouterr().out


def test_in_json_every_line_is_an_object(
    server: FakeApiServer,
    kubeconfig: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    capsys.readouterr()
    monkeypatch.setenv("ALLOT_LOG", "json")
    with listening(server) as address:
        written(kubeconfig, address)
        assert invoke(["operate", "--once"]) == 0
    (told,) = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (told["level"], told["team"], told["campaign"]) == ("info", SPACE, "church-books")
    data: dict[str, Any] = told["data"]
    assert (data["namespace"], data["job"], data["verb"], data["to"]) == (SPACE, "church-books", "shrinks", 2)
    assert data["moved"] is True


def test_it_ends_when_it_is_told_and_gives_the_lease_back(server: FakeApiServer, kubeconfig: Path) -> None:
    with listening(server) as address:
        written(kubeconfig, address)
        process = subprocess.Popen(
            [str(Path(sys.executable).parent / "allot"), "operate"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            text=True,
        )
        assert process.stdout is not None
        assert "church-books shrinks" in process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=90) == 0
        process.stdout.close()
    lease = Client(FakeTransport(server)).get(LEASE, "allotment-window", SPACE)
    assert lease is not None
    assert lease["spec"]["holderIdentity"] == ""


def test_a_team_that_is_not_there_is_refused(kubeconfig: Path, server: FakeApiServer) -> None:
    assert invoke(["operate", "--once", "--team", "nobody"]) == 2
