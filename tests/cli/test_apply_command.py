"""`allot apply` as it is called: on the examples, over HTTP, and what it says and exits with."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from allotment.cli import invoke, unfit_images
from allotment.cli.commands import apply as module
from allotment.errors import EXIT_INTERRUPTED
from allotment.kubernetes.client import Client
from allotment.kubernetes.images import Absent, ImageFacts, Looked, Untold
from allotment.kubernetes.kinds import JOB, LEASE
from allotment.kubernetes.render.platform import render_platform
from allotment.kubernetes.testing import FakeApiServer, faults
from allotment.kubernetes.testing.asked import Request
from allotment.kubernetes.testing.custom_kinds import KAI, KUEUE
from allotment.kubernetes.testing.loopback import listening
from allotment.kubernetes.testing.transport import FakeTransport
from allotment.platform.file import scan_platform

EXAMPLE = Path(__file__).parents[2] / "examples" / "cluster"
SPACE = "archive"
FINE = ImageFacts(("linux/amd64",), {"io.allotment.inject": "1"})
IMAGES: dict[str, Looked] = {}
"""What registries say of images otherwise, by their repositories."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example, in which commands are called."""
    root = tmp_path / "repository"
    shutil.copytree(EXAMPLE, root)
    path = root / "cluster.yaml"
    text = path.read_text()
    path.write_text(text.replace("  archive:\n", f"  archive:\n    repository: {root}\n", 1))
    monkeypatch.chdir(root)
    monkeypatch.setenv("ALLOT_PLATFORM", str(root / "cluster.yaml"))
    monkeypatch.setattr(
        unfit_images, "registries", lambda: lambda reference, _: IMAGES.get(reference.repository, FINE)
    )
    return root


@pytest.fixture
def server(folder: Path) -> FakeApiServer:
    """A cluster that its platform was applied to."""
    platform, _ = scan_platform(folder / "cluster.yaml", "cluster.yaml")
    fake = FakeApiServer(kinds=(*KUEUE, *KAI))
    client = Client(FakeTransport(fake))
    for name in ("gpu.nvidia.com", "mig.nvidia.com"):
        value = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}}
        client.create({**value, "spec": {}}, manager="admin")
    for each in render_platform(platform).objects:
        client.apply(each, manager="admin")
    return fake


@pytest.fixture
def cluster(server: FakeApiServer, monkeypatch: pytest.MonkeyPatch) -> FakeApiServer:
    """The cluster in the place of a kubeconfig's."""
    monkeypatch.setattr(module, "client_for", lambda _: Client(FakeTransport(server)))
    return server


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """What a call prints, with the exit code that is expected."""
    found = invoke(["apply", *words])
    out, err = capsys.readouterr()
    assert found == code, (out, err)
    return out + err


def test_the_example_is_applied_and_then_there_is_nothing_to_do(
    cluster: FakeApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    first = said(capsys)
    assert "campaigns/church-books created" in first
    assert "campaigns/paused unchanged\n  paused: nothing of it is out" in first
    assert "gangs/training created" in first
    assert "fleets/reader created" in first
    again = said(capsys)
    assert "nothing to do: all is as the repository says" in again


def test_a_dry_run_writes_nothing(cluster: FakeApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "--dry-run", "-v")
    assert "campaigns/church-books would be created" in out
    assert "jobs.batch/church-books would be created" in out
    assert Client(FakeTransport(cluster)).listed(JOB, SPACE) == ()


def test_json_names_every_object(cluster: FakeApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    invoke(["apply", "-o", "json"])
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (told["format_version"], told["team"], told["namespace"]) == (1, "archive", SPACE)
    group = next(each for each in told["groups"] if each["name"] == "campaigns/church-books")
    assert {"name": "jobs.batch/church-books", "verb": "created"} in group["objects"]


def test_a_name_sends_that_campaign_alone(cluster: FakeApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "small-notes")
    assert "campaigns/small-notes created" in out
    assert {
        each["metadata"]["labels"]["allotment/campaign"]
        for each in Client(FakeTransport(cluster)).listed(JOB, SPACE)
    } == {"small-notes"}


def test_what_left_the_repository_is_told_and_pruned_when_asked(
    cluster: FakeApiServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys)
    (folder / "campaigns" / "small-notes.yaml").unlink()
    assert "campaigns/small-notes left" in said(capsys)
    assert "campaigns/small-notes pruned" in said(capsys, "--prune")
    assert "nothing to do" in said(capsys, "--prune")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--prune", "church-books"), "--prune looks at the whole repository"),
        (("--again", "church-boks"), "did you mean `church-books`?"),
    ],
)
def test_options_that_do_not_go_together(
    words: tuple[str, ...], told: str, cluster: FakeApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told in said(capsys, *words, code=2)


def test_an_empty_repository_is_pruned_only_when_that_is_said(
    cluster: FakeApiServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys)
    for name in ("campaigns", "fleets", "gangs", "pipelines"):
        for path in (folder / name).iterdir():
            path.unlink()
    assert "--allow-empty" in said(capsys, "--prune", code=2)
    said(capsys, "--prune", "--allow-empty")
    assert Client(FakeTransport(cluster)).listed(JOB, SPACE) == ()


def test_this_machine_is_no_cluster(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "cluster.yaml").write_text("format: 1\nengine: local\n")
    told = said(capsys, code=2)
    assert "says `engine: local`, which is this machine alone, and `allot apply` sends to a cluster" in told
    assert "with --platform or $ALLOT_PLATFORM" in told


def test_a_pipeline_without_an_image_is_refused(
    cluster: FakeApiServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "pipelines" / "swedish-hand.yaml"
    text = path.read_text()
    path.write_text("\n".join(line for line in text.splitlines() if not line.startswith("image:")))
    cluster.requests.clear()
    assert "swedish-hand.yaml:2:1 error no-image: no image is named" in said(capsys, code=1)
    assert cluster.requests == []


def test_a_finding_of_check_sends_nothing(
    cluster: FakeApiServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "campaigns" / "broken.yaml").write_text("pipeline: nothing\nvolumes: [a]\n")
    cluster.requests.clear()
    assert "campaigns/broken.yaml" in said(capsys, code=1)
    assert cluster.requests == []


def test_another_team_cannot_be_chosen(cluster: FakeApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert "belongs to team `archive`" in said(capsys, "--team", "laboratory", code=2)


def test_an_image_that_is_not_there_is_refused_with_its_campaigns(
    cluster: FakeApiServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(IMAGES, "htr/layout", Absent("the registry has no such image"))
    out = said(capsys, code=1)
    assert "campaigns/small-notes refused" in out
    assert "registry.example.org/htr/layout@sha256:3f3f3f3f3f3f…: the registry has no such image" in out
    assert "push it, or name the digest that the registry has" in out
    assert "campaigns/church-books created" in out
    assert "small-notes" not in [
        each["metadata"]["name"] for each in Client(FakeTransport(cluster)).listed(JOB, SPACE)
    ]
    assert "campaigns/small-notes created" in said(capsys, "--no-images")


def test_the_image_that_brings_the_runner_holds_back_all_that_it_serves(
    cluster: FakeApiServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(IMAGES, "htr/runner-inject", ImageFacts(("linux/amd64",)))
    out = said(capsys, code=1)
    assert "campaigns/church-books refused" in out
    assert "nothing in it brings the runner" in out
    assert "fleets/reader created" in out


def test_a_registry_that_does_not_say_is_a_warning(
    cluster: FakeApiServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(IMAGES, "htr/layout", Untold("nobody answers", "look at the network"))
    out = said(capsys)
    assert "warning image-untold" in out
    assert "campaigns/small-notes created" in out
    assert "image-untold" not in said(capsys), "what runs already is not asked for"


@pytest.fixture
def kubeconfig(server: FakeApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A kubeconfig with the context ``there``."""
    with listening(server) as address:
        path = tmp_path / "kubeconfig"
        path.write_text(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "current-context": "there",
                    "contexts": [{"name": "there", "context": {"cluster": "c", "user": "u"}}],
                    "clusters": [{"name": "c", "cluster": {"server": address}}],
                    "users": [{"name": "u", "user": {}}],
                }
            )
        )
        monkeypatch.setenv("KUBECONFIG", str(path))
        yield path


def test_a_cluster_of_a_kubeconfig_is_applied_to_over_http(
    kubeconfig: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "campaigns/church-books created" in said(capsys)
    assert "nothing to do" in said(capsys, "--cluster", "there")
    assert "nothing to do" in said(capsys, "--dry-run")


def test_a_need_that_no_published_device_meets_is_refused(
    cluster: FakeApiServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    client = Client(FakeTransport(cluster))
    memory = {"memory": {"value": "8Gi"}}
    driver, node = "gpu.nvidia.com", "node-1"
    device = {
        "name": "gpu-0",
        "attributes": {"productName": {"string": "NVIDIA L4"}, "type": {"string": "gpu"}},
        "capacity": memory,
    }
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": driver, "nodeName": node, "pool": pool, "devices": [device]}
    said_by = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "one"}}
    client.create({**said_by, "spec": spec}, manager="driver")
    out = said(capsys, "church-books", code=1)
    assert "campaigns/church-books refused" in out
    assert "in the cluster" in out
    assert client.listed(JOB, SPACE) == ()


def test_a_cluster_that_does_not_answer_is_the_worlds_fault(
    server: FakeApiServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server.plan = lambda _, __: faults.UNAVAILABLE
    monkeypatch.setattr(module, "client_for", lambda _: Client(FakeTransport(server)))
    assert "503" in said(capsys, code=3)


def test_what_was_sent_is_told_when_the_cluster_fails_in_the_middle(
    server: FakeApiServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def plan(_: int, request: Request) -> faults.Fault | None:
        is_sent = request.method == "PATCH" and "dryRun" not in request.query
        return faults.BROKEN if is_sent and "church-books-volumes" in request.path else None

    server.plan = plan
    monkeypatch.setattr(module, "client_for", lambda _: Client(FakeTransport(server)))
    out = said(capsys, code=3)
    assert "campaigns/all-checksums created" in out
    assert "campaigns/church-books failed" in out


def test_an_interrupt_is_told_as_one(
    server: FakeApiServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def plan(number: int, _: Request) -> faults.Fault | None:
        if number > 40 and not server.plan == faults.none:
            server.plan = faults.none
            raise KeyboardInterrupt
        return None

    server.requests.clear()
    server.plan = plan
    monkeypatch.setattr(module, "client_for", lambda _: Client(FakeTransport(server)))
    assert "interrupted" in said(capsys, code=130)
    assert said(capsys)
    assert "nothing to do" in said(capsys)


def test_a_command_that_is_told_to_end_gives_the_right_to_apply_back(
    cluster: FakeApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[int] = []

    def ending(number: int, request: Request) -> faults.Fault | None:
        is_sent = request.method == "PATCH" and "dryRun" not in request.query and "leases" not in request.path
        if is_sent and not told:
            told.append(number)
            os.kill(os.getpid(), signal.SIGTERM)
        return None

    cluster.plan = ending
    before = signal.getsignal(signal.SIGTERM)
    assert "interrupted: told to end (SIGTERM)" in said(capsys, code=EXIT_INTERRUPTED)
    assert signal.getsignal(signal.SIGTERM) is before
    leases = Client(FakeTransport(cluster)).listed(LEASE, SPACE)
    assert [each["spec"]["holderIdentity"] for each in leases] == [""]
    assert "created" in said(capsys)


def test_what_several_have_in_common_is_said_once(
    cluster: FakeApiServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys)
    names = ("church-books", "small-notes")
    for name in names:
        (folder / "campaigns" / f"{name}.yaml").unlink()
    out = said(capsys)
    assert all(f"campaigns/{name} left" in out for name in names)
    assert out.count("`allot apply --prune` deletes it") == 1


def test_what_was_put_right_is_named(cluster: FakeApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys)
    patch = {"metadata": {"labels": {"allotment/pipeline": None}}}
    Client(FakeTransport(cluster)).patch(JOB, "church-books", SPACE, patch, manager="kubectl-label")
    assert "campaigns/church-books configured\n  jobs.batch/church-books configured\n" in said(capsys)


def test_what_is_wrong_elsewhere_does_not_hold_a_named_campaign_back(
    cluster: FakeApiServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "campaigns" / "broken.yaml").write_text("pipeline: nothing\nvolumes: [a]\n")
    assert "campaigns/small-notes created" in said(capsys, "small-notes")
    assert "broken.yaml" in said(capsys, code=1)


def test_a_campaign_that_has_ended_is_run_anew_by_name(
    cluster: FakeApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, "small-notes")
    client = Client(FakeTransport(cluster))
    client.delete(JOB, "small-notes", SPACE)
    assert "`allot apply --again small-notes` runs it anew" in said(capsys, "small-notes")
    assert client.listed(JOB, SPACE) == ()
    assert "campaigns/small-notes created" in said(capsys, "small-notes", "--again", "small-notes")
