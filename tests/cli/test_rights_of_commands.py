"""A team's Roles let its commands do all that they do, and let nobody write what no command writes."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from allotment.cli import invoke, unfit_images
from allotment.kubernetes.client.asked import Request
from allotment.kubernetes.images import ImageFacts
from allotment.kubernetes.render.platform import render_platform
from allotment.kubernetes.rights import CLUSTER_ROLE, ROLE
from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.loopback import listening
from allotment.kubernetes.testing.permissions import Permissions, of_roles
from allotment.platform.file import scan_platform
from allotment.repository.model import Pipeline, StepCall
from allotment.repository.recipe import recipe_of
from tests.kubernetes.ready.clusters import ready_server, slice_of
from tests.kubernetes.stored import ROOT

Done = tuple[str, str, str]
"""Group, resource, verb."""

WRITING = frozenset({"create", "delete", "patch", "update"})
ASKING = frozenset({"selfsubjectaccessreviews", "selfsubjectreviews", "selfsubjectrulesreviews"})
SCHEDULERS = ("default", "both")
SPACE = "archive"
SHARED = """\
image: {image}
gpu: {{memory: 20Gi, sharing: time-slicing}}
steps: [{{step: checksum}}]
"""
MEASURED = """\
format: 1
measured:
- {{pipeline: shared, recipe: "{recipe}", card: A100-80, peak: 6Gi, steadiness: 0.93, volumes: 3, pages: 240,
   page_seconds: {{p50: 1.4, p95: 2.1, max: 3.8}}, device_wait: 0.12, told_by: process,
   measured: "2026-05-31T12:00:00Z"}}
"""
FINE = ImageFacts(("linux/amd64",), {"io.allotment.inject": "1"})
OF_ADMINISTRATORS = {
    ("", "secrets"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
    ("rbac.authorization.k8s.io", "clusterrolebindings"),
    ("rbac.authorization.k8s.io", "clusterroles"),
    ("rbac.authorization.k8s.io", "rolebindings"),
    ("rbac.authorization.k8s.io", "roles"),
}
"""What the doctor asks for and goes without."""


@dataclass
class Member:
    """Somebody of the team, their copy of the repository, and the cluster that they may work on."""

    folder: Path
    server: FakeApiServer
    permissions: Permissions
    done: set[Done] = field(default_factory=set)
    refused: set[Done] = field(default_factory=set)

    def call(self, *words: str) -> int:
        """Run a command; what it asks of the cluster is noted."""
        self.server.requests.clear()
        import time

        began = time.time()
        code = invoke(words)
        print(words, code, len(self.server.requests), round(time.time() - began, 2))
        for each in self.server.requests:
            request = Request(each.method, each.path, each.query)
            target = request.target
            if not target.plural or target.plural in ASKING:
                continue
            verbs = (request.verb, "create") if each.is_apply else (request.verb,)
            for verb in verbs:
                done = (target.group, target.resource, verb)
                within = target.name if target.plural == "namespaces" else target.namespace
                may = self.permissions.rule(verb, target.group, target.resource, within, target.name)
                (self.done if may else self.refused).add(done)
        return code


@contextmanager
def member(scheduler: str, tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[Member]:
    """Somebody of the team, with a repository of all that there is to send."""
    folder = tmp / "repository"
    shutil.copytree(ROOT / "examples" / "cluster", folder)
    image = f"registry.example.org/htr/reader@sha256:{'3f' * 32}"
    pipeline = Pipeline("shared", (StepCall("checksum"),), image=image)
    (folder / "pipelines" / "shared.yaml").write_text(SHARED.format(image=image))
    (folder / "measured.yaml").write_text(MEASURED.format(recipe=recipe_of(pipeline)))
    (folder / "campaigns" / "shared.yaml").write_text("pipeline: shared\nwindow: 2\nvolumes: [N1, N2]\n")
    file = folder / "cluster.yaml"
    text = re.sub(r"scheduler: \w+", f"scheduler: {scheduler}", file.read_text())
    text = text.replace("  archive:\n", f"  archive:\n    repository: {folder}\n", 1)
    file.write_text(f"{text}\nsharing: [whole, mig, time-slicing]\n")
    platform, _ = scan_platform(file, "cluster.yaml")
    groups = (f"allotment:{SPACE}",)
    server = ready_server(platform)
    for each in (slice_of("node-a", count=16), slice_of("node-b", name="NVIDIA L4", memory="23034Mi")):
        path = f"/apis/resource.k8s.io/v1/resourceslices/{each['metadata']['name']}"
        assert server.request("PUT", path, body=each).status == 200
    rules = of_roles(render_platform(platform).objects, "ada", groups)
    server.permissions = Permissions("ada", groups, rules)
    with listening(server) as address:
        (tmp / "config").write_text(kubeconfig(address, SPACE))
        patch.setenv("KUBECONFIG", str(tmp / "config"))
        patch.setenv("ALLOT_PLATFORM", str(file))
        patch.chdir(folder)
        patch.setattr(unfit_images, "registries", lambda: lambda _reference, _: FINE)
        yield Member(folder, server, server.permissions)


def kubeconfig(address: str, namespace: str) -> str:
    return (
        "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
        f"contexts: [{{name: here, context: {{cluster: c, user: u, namespace: {namespace}}}}}]\n"
        f"clusters: [{{name: c, cluster: {{server: '{address}'}}}}]\nusers: [{{name: u, user: {{}}}}]\n"
    )


def play_kueue(one: Member) -> None:
    """Kueue's Workload of a campaign, which is what a pause is written to."""
    one.server.permissions = None
    job = one.server.request("GET", f"/apis/batch/v1/namespaces/{SPACE}/jobs/church-books").body
    owner = {"apiVersion": "batch/v1", "kind": "Job", "controller": True}
    owner |= {key: job["metadata"][key] for key in ("name", "uid")}
    metadata = {"name": "job-church-books-1", "ownerReferences": [owner]}
    body = {"metadata": metadata, "spec": {"active": True, "queueName": SPACE}}
    path = f"/apis/kueue.x-k8s.io/v1beta2/namespaces/{SPACE}/workloads"
    assert one.server.request("POST", path, body=body).status == 201
    one.server.permissions = one.permissions


def work(one: Member, scheduler: str) -> None:
    """A team's days: all is sent, looked at, changed, and taken away."""
    more = ["--gang-objects"] if scheduler == "default" else []
    assert one.call("apply", *more) in {0, 1}
    if scheduler in {"kueue", "both"}:
        play_kueue(one)
    for command in ("snapshot", "devices", "queues", "status", "doctor"):
        assert one.call(command, "--cluster") in {0, 1}, command
    for command in ("why", "logs"):
        assert one.call(command, "church-books", "--cluster") in {0, 1, 2}, command
    for path in sorted((one.folder / "campaigns").glob("*.yaml")):
        lines = [line for line in path.read_text().splitlines() if not line.startswith(("window", "suspend"))]
        path.write_text("\n".join([*lines, "window: 1", "suspend: true", ""]))
    assert one.call("apply", *more) in {0, 1}
    for folder in ("campaigns", "fleets", "gangs", "pipelines"):
        for path in (one.folder / folder).glob("*.yaml"):
            path.unlink()
    assert one.call("apply", "--prune", "--allow-empty", *more) in {0, 1}


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Member]:
    found = {}
    for scheduler in SCHEDULERS:
        folder = tmp_path_factory.mktemp(scheduler)
        with pytest.MonkeyPatch.context() as patch, member(scheduler, folder, patch) as one:
            work(one, scheduler)
        found[scheduler] = one
    return found


def writes(done: set[Done]) -> set[Done]:
    return {each for each in done if each[2] in WRITING}


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_nothing_that_commands_write_is_refused(scheduler: str, worked: Mapping[str, Member]) -> None:
    assert writes(worked[scheduler].refused) == set()


def test_what_is_refused_is_what_only_an_administrator_looks_at(
    worked: Mapping[str, Member],
) -> None:
    refused = {(group, what) for one in worked.values() for group, what, _ in one.refused}
    granted = {(group, what) for group, resources, _ in (*ROLE, *CLUSTER_ROLE) for what in resources}
    assert refused - granted == OF_ADMINISTRATORS


def test_nobody_may_write_what_no_command_writes(worked: Mapping[str, Member]) -> None:
    written = {(group, what) for one in worked.values() for group, what, _ in writes(one.done)}
    granted = {
        (group, what) for group, resources, verbs in ROLE if WRITING & set(verbs) for what in resources
    }
    assert written == granted
    assert not any(WRITING & set(verbs) for _, _, verbs in CLUSTER_ROLE)


def test_nobody_may_read_what_no_command_reads(worked: Mapping[str, Member]) -> None:
    read = {(group, what) for one in worked.values() for group, what, _ in one.done}
    granted = {(group, what) for group, resources, _ in (*ROLE, *CLUSTER_ROLE) for what in resources}
    assert granted - read == {("", "pods/log")}, "no pod of these campaigns has run"
