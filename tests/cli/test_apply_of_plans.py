"""A plan on a cluster, kept in a file and applied: as long as nothing has moved, and else with what has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from allotment.cli import invoke
from allotment.kubernetes.apply.lease import Lease
from allotment.kubernetes.client import Client
from allotment.kubernetes.kinds import CLAIM, CONFIG_MAP, JOB, LEASE, NODE, SLICE
from allotment.kubernetes.render.platform import render_platform
from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.loopback import listening
from allotment.kubernetes.testing.transport import FakeTransport
from allotment.platform.file import scan_platform
from tests.planning.scene_files import claim

DIGEST = "a" * 64
FILES = {
    "pipelines/demo.yaml": f"image: registry.example.org/htr@sha256:{DIGEST}\n"
    "gpu: {memory: 40Gi}\nsteps: [{step: checksum}]\n",
    "campaigns/letters.yaml": "pipeline: demo\nwindow: 2\nvolumes:\n"
    "  - {id: one, images: [https://images.example.org/1.jpg]}\n",
    "campaigns/postcards.yaml": "pipeline: demo\nvolumes:\n"
    "  - {id: two, images: [https://images.example.org/2.jpg]}\n",
}
PLATFORM = """engine: kubernetes
scheduler: default
bucket: s3://results
teams:
  archive: {namespace: archive, repository: ROOT, secret: archive-bucket}
sources: {hosts: [images.example.org]}
images: [registry.example.org/htr]
"""
META = {
    "uuid": {"string": "GPU-0"},
    "type": {"string": "gpu"},
    "productName": {"string": "NVIDIA H100 80GB HBM3"},
}
SLICE_OF_N1: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "n1-gpus"},
    "spec": {
        "driver": "gpu.nvidia.com",
        "nodeName": "n1",
        "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
        "devices": [
            {"name": f"gpu-{number}", "attributes": META, "capacity": {"memory": {"value": "81559Mi"}}}
            for number in range(2)
        ],
    },
}
NODE_1: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "labels": {"kubernetes.io/hostname": "n1"}},
    "status": {
        "allocatable": {"cpu": "32", "memory": "256Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository, in which commands are called."""
    root = tmp_path / "repository"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    platform = tmp_path / "cluster.yaml"
    platform.write_text(PLATFORM.replace("ROOT", str(root)))
    monkeypatch.chdir(root)
    monkeypatch.setenv("ALLOT_PLATFORM", str(platform))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return root


@pytest.fixture
def cluster(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A cluster with a node of two cards, which a kubeconfig names."""
    fake = FakeApiServer()
    client = Client(FakeTransport(fake))
    value = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "gpu.nvidia.com"},
    }
    expression = "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"
    client.create({**value, "spec": {"selectors": [{"cel": {"expression": expression}}]}}, manager="admin")
    for each in (NODE_1, SLICE_OF_N1):
        client.create(each, manager="admin")
    client.patch(NODE, "n1", None, {"spec": {"taints": None}}, manager="admin")
    status = {"status": NODE_1["status"]}
    client.patch(NODE, "n1", None, status, manager="kubelet", subresource="status")
    platform, _ = scan_platform(tmp_path / "cluster.yaml", "cluster.yaml")
    for rendered in render_platform(platform).objects:
        client.apply(rendered, manager="admin")
    with listening(fake) as address:
        path = tmp_path / "kubeconfig"
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "there",
            "contexts": [{"name": "there", "context": {"cluster": "c", "user": "u", "namespace": "archive"}}],
            "clusters": [{"name": "c", "cluster": {"server": address}}],
            "users": [{"name": "u", "user": {}}],
        }
        path.write_text(json.dumps(config))
        monkeypatch.setenv("KUBECONFIG", str(path))
        yield client


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """What a call prints, with the exit code that is expected."""
    found = invoke(words)
    out, err = capsys.readouterr()
    assert found == code, (out, err)
    assert "Traceback" not in err
    return out + err


def plan(capsys: pytest.CaptureFixture[str], *names: str) -> dict[str, Any]:
    """A plan that is kept in ``plan.json``."""
    said(capsys, "plan", *names, "--cluster", "--draws", "2", "-o", "json", "--out", "../plan.json")
    found: dict[str, Any] = json.loads(Path("../plan.json").read_text())
    return found


def apply(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """What applying the plan says."""
    return said(capsys, "apply", "--no-images", "--plan", "../plan.json", *words, code=code)


def test_what_was_planned_is_applied(cluster: Client, capsys: pytest.CaptureFixture[str]) -> None:
    found = plan(capsys)
    changes = {each["name"]: each["becomes"] for each in found["changes"]["items"]}
    assert changes["campaigns/letters"] == changes["campaigns/postcards"] == "new"
    assert found["made_from"]["cluster"] is True
    assert "campaigns/letters created" in apply(capsys)
    assert len(cluster.listed(JOB, "archive")) == 2


def test_after_it_was_applied_there_is_nothing_to_plan(
    cluster: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    plan(capsys)
    apply(capsys)
    assert plan(capsys)["nothing_to_do"] is True
    assert "nothing to do" in apply(capsys)


def test_where_nothing_was_planned_nothing_is_sent(
    cluster: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    plan(capsys)
    apply(capsys)
    plan(capsys)
    for each in cluster.listed(CONFIG_MAP, "archive"):
        if each["metadata"]["name"].startswith("pipeline-demo"):
            cluster.delete(CONFIG_MAP, each["metadata"]["name"], "archive")
    assert "pipelines/demo would be sent now, and was not planned" in apply(capsys, code=1)


def test_a_snapshot_of_what_was_applied_has_nothing_to_plan(
    root: Path, cluster: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    plan(capsys)
    said(capsys, "snapshot", "--out", "../cluster-before.yaml")
    out = said(capsys, "plan", "--snapshot", "../cluster-before.yaml", "--draws", "1")
    assert "+ campaigns/letters: creates" in out
    apply(capsys)
    said(capsys, "snapshot", "--out", "../cluster-after.yaml")
    assert "nothing to do" in said(capsys, "plan", "--snapshot", "../cluster-after.yaml")
    path = root / "campaigns" / "letters.yaml"
    path.write_text(path.read_text() + "  - {id: three, images: [https://images.example.org/3.jpg]}\n")
    out = said(capsys, "plan", "--snapshot", "../cluster-after.yaml", "--draws", "1")
    assert "~ campaigns/letters: creates" in out
    assert "postcards: creates" not in out


def test_a_plan_of_one_campaign_applies_that_one(cluster: Client, capsys: pytest.CaptureFixture[str]) -> None:
    plan(capsys, "letters")
    out = apply(capsys)
    assert "letters created" in out
    assert "postcards" not in out


def moved_file(root: Path, _: Client) -> str:
    """A file is changed."""
    path = root / "campaigns" / "letters.yaml"
    path.write_text(path.read_text().replace("window: 2", "window: 3"))
    return "campaigns/letters.yaml has changed"


def new_file(root: Path, _: Client) -> str:
    """A file is added."""
    (root / "campaigns" / "maps.yaml").write_text((root / "campaigns" / "letters.yaml").read_text())
    return "campaigns/maps.yaml is new"


def moved_platform(root: Path, _: Client) -> str:
    """The platform's file is changed."""
    path = root.parent / "cluster.yaml"
    path.write_text(path.read_text() + "defaults: {retries: 5}\n")
    return "the platform has changed"


def cordoned(_: Path, client: Client) -> str:
    """A node takes no more pods."""
    client.patch(NODE, "n1", None, {"spec": {"unschedulable": True}}, manager="admin")
    return "node n1 has changed"


def lost_card(_: Path, client: Client) -> str:
    """A card is not published any more."""
    client.delete(SLICE, "n1-gpus")
    spec = {**SLICE_OF_N1["spec"], "devices": SLICE_OF_N1["spec"]["devices"][:1]}
    client.create({**SLICE_OF_N1, "spec": spec}, manager="admin")
    return "card gpu-1 of n1 (gpu.nvidia.com) is gone"


def lost_node(_: Path, client: Client) -> str:
    """A node is gone."""
    client.delete(NODE, "n1")
    return "node n1 is gone"


@pytest.mark.parametrize(
    "move",
    [moved_file, new_file, moved_platform, cordoned, lost_card, lost_node],
    ids=lambda move: move.__name__.replace("_", " "),
)
def test_what_has_moved_is_told_and_nothing_is_sent(
    root: Path, cluster: Client, capsys: pytest.CaptureFixture[str], move: Any
) -> None:
    plan(capsys)
    told = move(root, cluster)
    out = apply(capsys, code=1)
    assert "the plan is not applied" in out
    assert told in out
    assert not cluster.listed(JOB, "archive")


def test_heartbeats_pods_and_claims_that_come_are_no_moves(
    cluster: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    plan(capsys)
    beats = [
        {"type": "Ready", "status": "True", "lastHeartbeatTime": "2030-01-01T00:00:00Z", "reason": "Again"},
        {"type": "DiskPressure", "status": "False", "lastHeartbeatTime": "2030-01-01T00:00:00Z"},
    ]
    status = {"conditions": beats, "images": [{"names": ["x"], "sizeBytes": 3}]}
    cluster.patch(NODE, "n1", None, {"status": status}, manager="kubelet", subresource="status")
    cluster.patch(NODE, "n1", None, {"metadata": {"annotations": {"a": "b"}}}, manager="kubelet")
    others = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "others"}}
    cluster.create(others, manager="admin")
    container = {"name": "c", "image": "x"}
    of_others = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "others"}}
    cluster.create({**of_others, "spec": {"nodeName": "n1", "containers": [container]}}, manager="admin")
    held = claim("c", "others", "p", "gpu-0", "n1")
    cluster.create({key: each for key, each in held.items() if key != "status"}, manager="admin")
    told = {"status": held["status"]}
    cluster.patch(CLAIM, "c", "others", told, manager="scheduler", subresource="status")
    assert "campaigns/letters created" in apply(capsys)


def test_a_world_that_moves_while_others_apply_is_seen(
    root: Path, cluster: Client, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan(capsys)
    take = Lease.take

    def after_a_while(self: Lease) -> None:
        cordoned(root, cluster)
        take(self)

    monkeypatch.setattr(Lease, "take", after_a_while)
    assert "node n1 has changed" in apply(capsys, code=1)
    assert not cluster.listed(JOB, "archive")


@pytest.mark.parametrize("sent", range(4))
@pytest.mark.parametrize("form", ["text", "json"])
def test_what_was_sent_is_told_when_it_is_interrupted_and_the_next_apply_goes_on(
    cluster: Client, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, sent: int, form: str
) -> None:
    plan(capsys)
    left = iter([True] * sent)
    with monkeypatch.context() as patched:
        done = Client.apply

        def interrupted(self: Client, value: Any, **rest: Any) -> Any:
            if not rest.get("dry_run") and value["kind"] != "Lease" and not next(left, False):
                raise KeyboardInterrupt
            return done(self, value, **rest)

        patched.setattr(Client, "apply", interrupted)
        assert invoke(["apply", "--no-images", "--plan", "../plan.json", "-o", form]) == 130
    out, err = capsys.readouterr()
    assert err.endswith("interrupted\n")
    if form == "json":
        assert json.loads(out)["error"] == "interrupted"
    assert "interrupted while it was sent" in out
    holders = [each["spec"].get("holderIdentity") for each in cluster.listed(LEASE, "archive")]
    assert holders == [""]
    invoke(["apply", "--no-images"])
    assert len(cluster.listed(JOB, "archive")) == 2


@pytest.mark.usefixtures("cluster")
def test_a_plan_leaves_no_room_for_other_wishes(capsys: pytest.CaptureFixture[str]) -> None:
    plan(capsys, "letters")
    assert "so would --prune" in apply(capsys, "--prune", code=2)
    assert "this plan is of letters" in apply(capsys, "postcards", code=2)


@pytest.mark.usefixtures("root")
def test_a_plan_of_no_cluster_is_not_applied(capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "plan", "--describe", "1 x H100-SXM", "--draws", "1", "-o", "json", "--out", "../plan.json")
    assert "for the described fleet, was made of a file, of words" in apply(capsys, code=2)


@pytest.mark.usefixtures("cluster")
def test_a_plan_of_a_snapshot_is_for_reading(capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "snapshot", "--out", "../now.yaml")
    words = ("--snapshot", "../now.yaml", "--draws", "1", "-o", "json", "--out", "../plan.json")
    said(capsys, "plan", *words)
    assert "was made of a file" in apply(capsys, code=2)


def test_a_plan_that_was_made_for_another_scheduler_says_so(
    cluster: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--scheduler", "kai", "--draws", "1", "-o", "json", "--out", "../plan.json", "--cluster")
    invoke(["plan", *words])
    capsys.readouterr()
    out = apply(capsys, code=1)
    assert "made for the scheduler `kai`, and the platform says `default`" in out
    assert "the platform has changed" not in out
    assert not cluster.listed(JOB, "archive")


def test_a_plan_of_another_team_is_not_applied(cluster: Client, capsys: pytest.CaptureFixture[str]) -> None:
    found = plan(capsys)
    Path("../plan.json").write_text(json.dumps({**found, "team": "museum"}))
    assert "of team `museum`, and this is team `archive`" in apply(capsys, code=1)
    assert not cluster.listed(JOB, "archive")


@pytest.mark.usefixtures("cluster")
def test_where_the_cluster_has_another_name_it_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    found = plan(capsys)
    assert "the plan was made on" not in apply(capsys, "--dry-run")
    Path("../plan.json").write_text(json.dumps({**found, "world": "elsewhere"}))
    assert "the plan was made on `elsewhere`, and is applied to `there`" in apply(capsys, "--dry-run")


@pytest.mark.usefixtures("root")
def test_what_is_no_plan_is_not_applied(capsys: pytest.CaptureFixture[str]) -> None:
    Path("../plan.json").write_text("{}")
    assert "this is no plan" in apply(capsys, code=2)
