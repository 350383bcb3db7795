"""`allot operate` beside a plane, as a process of its own, and peers that want their cards back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import yaml

from allotment.kubernetes.kinds import CLAIM_TEMPLATE, CLUSTER_QUEUE, JOB, POD, WORKLOAD, Object
from allotment.kubernetes.render.platform.controller import NAME, SYSTEM
from tests.controlplane.installing import RESTRICTED
from tests.controlplane.processes import die_with_parent, until
from tests.controlplane.team import TEAM, Team

PEER: Final = "laboratory"
QUICKLY: Final = ("--interval=1", "--settle=1", "--patience=4", "--minimum-runtime=0", "--grow")
IMAGE: Final = "registry.example.org/htr/reader@sha256:" + "3f" * 32


class Controller:
    """A running `allot operate`."""

    def __init__(self, team: Team, *words: str, kubeconfig: Path | None = None) -> None:
        folder = team.folder.parent
        self._log = folder / f"operate-{len(list(folder.glob('operate-*')))}.log"
        environment = {
            **os.environ,
            "KUBECONFIG": str(kubeconfig or team.plane.kubeconfig("admin", TEAM)),
            "ALLOT_PLATFORM": str(folder / "platform.yaml"),
            "ALLOT_LOG": "json",
        }
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [str(Path(sys.executable).parent / "allot"), "operate", *QUICKLY, *words],
                cwd=team.folder,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=die_with_parent,  # noqa: PLW1509 - one call of the kernel, found beforehand
            )

    def kill(self) -> None:
        """End it without a word."""
        self._process.kill()
        self._process.wait()

    def end(self) -> int:
        """Tell it to end; its exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(timeout=30)

    @property
    def said(self) -> list[dict[str, Any]]:
        """The lines that it wrote."""
        lines = self._log.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    @property
    def moves(self) -> list[tuple[str, int, int]]:
        """What it moved."""
        data = [each["data"] for each in self.said if each.get("data", {}).get("moved")]
        return [(each["verb"], each["from"], each["to"]) for each in data]


@contextmanager
def operating(team: Team, *words: str, kubeconfig: Path | None = None) -> Iterator[Controller]:
    """A controller for as long as the block lasts."""
    found = Controller(team, *words, kubeconfig=kubeconfig)
    try:
        yield found
    finally:
        found.kill()


def as_installed(team: Team) -> Path:
    """A kubeconfig of the account that the controller has in a cluster."""
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    path = f"/api/v1/namespaces/{SYSTEM}/serviceaccounts/{NAME}/token"
    token = team.plane.client().ask(path, asked)["status"]["token"]
    told = yaml.safe_load(team.plane.kubeconfig("admin", SYSTEM).read_text(encoding="utf-8"))
    told["users"][0]["user"] = {"token": token}
    found = team.folder.parent / "controller.kubeconfig"
    found.write_text(yaml.safe_dump(told), encoding="utf-8")
    return found


def indexed(
    name: str, *, completions: int, width: int, script: str, namespace: str = TEAM, queue: str | None = None
) -> Object:
    """An Indexed Job of restricted pods with a card each; with a queue an elastic one of Kueue's."""
    metadata: dict[str, Any] = {"name": name, "namespace": namespace}
    if queue is not None:
        metadata["labels"] = {"kueue.x-k8s.io/queue-name": queue}
        metadata["annotations"] = {"kueue.x-k8s.io/elastic-job": "true"}
    container = {
        "name": "worker",
        "image": IMAGE,
        "command": ["sh", "-c", script],
        "resources": {"requests": {"cpu": "100m", "memory": "16Mi"}, "claims": [{"name": "gpu"}]},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    pod = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 5,
        "securityContext": dict(RESTRICTED),
        "containers": [container],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-card"}],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {
            "completionMode": "Indexed",
            "completions": completions,
            "parallelism": width,
            "backoffLimitPerIndex": 0,
            "podReplacementPolicy": "Failed",
            **({"suspend": True} if queue is not None else {}),
            "template": {"spec": pod},
        },
    }


def one_card(namespace: str) -> Object:
    """The claim of such a Job's pods."""
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu-a100-80", "count": 1}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "one-card", "namespace": namespace},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }


@contextmanager
def peer(team: Team, cards: int, name: str = "peer") -> Iterator[None]:
    """Somebody of another team who wants so many cards at once, until the block ends."""
    client = team.plane.client()
    client.apply(one_card(PEER), manager="tests", force=True)
    value = indexed(name, completions=cards, width=cards, script="sleep 600", namespace=PEER, queue=PEER)
    client.create(value, manager="tests")
    try:
        yield
    finally:
        client.delete(JOB, name, PEER)
        until(lambda: not client.listed(POD, PEER), "the peer's pods to be gone", seconds=60)
        client.delete(CLAIM_TEMPLATE, "one-card", PEER)


def live_slices(team: Team, job: str) -> list[Mapping[str, Any]]:
    """The Workloads of a Job that have not finished."""
    found = team.plane.client().listed(WORKLOAD, TEAM)
    return [
        each
        for each in found
        if each["metadata"]["ownerReferences"][0]["name"] == job and not condition(each, "Finished")
    ]


def condition(value: Mapping[str, Any], kind: str) -> bool:
    """Whether a condition is true."""
    told = value.get("status", {}).get("conditions") or ()
    return any((each["type"], each["status"]) == (kind, "True") for each in told)


def queue_is(team: Team, name: str, change: Mapping[str, Any]) -> None:
    """Change a ClusterQueue."""
    team.plane.client().patch(CLUSTER_QUEUE, name, None, {"spec": change}, manager="administrator")


def active(team: Team, job: str) -> int:
    """How many pods of a Job are at work."""
    return int(team.job(job).get("status", {}).get("active") or 0)


def running_indexes(team: Team, job: str) -> list[int]:
    """Which indexes have a pod that runs and is not being ended."""
    found = []
    for each in team.plane.client().listed(POD, TEAM):
        metadata = each["metadata"]
        owner = (metadata.get("ownerReferences") or [{}])[0].get("name")
        is_running = each["status"].get("phase") == "Running" and not metadata.get("deletionTimestamp")
        if owner == job and is_running:
            found.append(int(metadata["annotations"]["batch.kubernetes.io/job-completion-index"]))
    return sorted(found)
