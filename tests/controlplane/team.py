"""A team on a plane: its platform installed, its credentials there, a repository, a bucket, and `allot`."""

from __future__ import annotations

import http.client
import io
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import yaml
from PIL import Image

from allotment.kubernetes.client import Client
from allotment.kubernetes.kinds import CLAIM_TEMPLATE, CONFIG_MAP, JOB, LEASE, POD, SECRET
from allotment.kubernetes.render.platform import render_platform
from allotment.platform.file import scan_platform
from allotment.platform.model import Platform
from tests.buckets.moto_server import AUTHORIZATION, KEYS, make_bucket
from tests.controlplane.components import MINOR
from tests.controlplane.installing import installed
from tests.controlplane.plane import Plane
from tests.controlplane.processes import until

TEAM: Final = "archive"
IMAGE: Final = "registry.example.org/htr/reader@sha256:" + "3f" * 32
SECONDS: Final = 60
NOWHERE: Final = "http://127.0.0.1:1"
SENT: Final = (JOB, CLAIM_TEMPLATE, CONFIG_MAP, LEASE, SECRET)
PIPELINE: Final[Mapping[str, Any]] = {
    "image": IMAGE,
    "gpu": {"card": "a100", "memory": "40Gi"},
    "resources": {"cpu": 0.5, "memory": "256Mi"},
    "steps": [{"step": "checksum"}],
}


def held(go: Path, pipeline: Mapping[str, Any] = PIPELINE) -> dict[str, Any]:
    """A pipeline whose pages wait until a file is there."""
    return _copying(f'while [ ! -e "{go}" ]; do sleep 0.1; done', pipeline)


def slow(pipeline: Mapping[str, Any] = PIPELINE) -> dict[str, Any]:
    """A pipeline whose pages take a while each."""
    return _copying("sleep 0.1", pipeline)


def _copying(words: str, pipeline: Mapping[str, Any]) -> dict[str, Any]:
    run = ["sh", "-c", f'{words}; cp "$0" "$1/text"', "{page}", "{out}"]
    return {**pipeline, "steps": [{"step": "command", "settings": {"run": run}}]}


@dataclass(frozen=True, slots=True)
class Said:
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str


class Team:
    """What somebody of the team does. ``folder`` is the repository, ``store`` the address of the bucket."""

    def __init__(self, plane: Plane, folder: Path, store: str) -> None:
        self.plane = plane
        self.folder = folder
        self.store = store
        self.client: Client = plane.client(TEAM)

    def write(self, name: str, value: Mapping[str, Any]) -> None:
        """A file of the repository."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(dict(value), sort_keys=False), encoding="utf-8")

    def campaign(self, name: str, volumes: Sequence[str], **more: Any) -> None:
        """A campaign over volumes that lie in the store."""
        sources = [{"id": each, "folder": f"s3://scans/incoming/{each}"} for each in volumes]
        self.write(f"campaigns/{name}.yaml", {"pipeline": "pages", **more, "volumes": sources})

    def scan(self, volume: str, pages: int) -> None:
        """Put pages of a volume where they come from."""
        for number in range(1, pages + 1):
            buffer = io.BytesIO()
            Image.new("L", (8 + number, 8), number).save(buffer, "PNG")
            _put(self.store, f"scans/incoming/{volume}/{number:04d}.png", buffer.getvalue())

    def allot(self, *words: str) -> Said:
        """A command of ours, as a member of the team."""
        environment = {
            **os.environ,
            "KUBECONFIG": str(self.plane.kubeconfig(TEAM, TEAM)),
            "ALLOT_PLATFORM": str(self.folder.parent / "platform.yaml"),
            "AWS_SHARED_CREDENTIALS_FILE": str(self.folder.parent / "credentials"),
        }
        ended = subprocess.run(
            [str(Path(sys.executable).parent / "allot"), *words],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        return Said(ended.returncode, ended.stdout, ended.stderr)

    def applied(self, *words: str) -> str:
        """What an apply says that goes well."""
        said = self.allot("apply", *words)
        assert said.code == 0, (said.out, said.err)
        return said.out

    def job(self, name: str) -> dict[str, Any]:
        """A Job of the team, or nothing."""
        return dict(self.client.get(JOB, name, TEAM) or {})

    def finished(self, name: str, seconds: float = 90) -> dict[str, Any]:
        """The Job once it has ended."""
        until(lambda: ending(self.job(name)), f"Job {name} to end", seconds=seconds)
        return self.job(name)

    def complete(self) -> set[str]:
        """The volumes whose manifest is in the bucket."""
        keys = _listed(self.store, "results")
        return {key.split("/")[-2] for key in keys if key.endswith("/manifest.json")}


def ending(job: Mapping[str, Any]) -> str | None:
    """``Complete``, ``Failed``, or None for what goes on."""
    told = job.get("status", {}).get("conditions") or ()
    ends = (
        each["type"] for each in told if each["status"] == "True" and each["type"] in {"Complete", "Failed"}
    )
    return next(ends, None)


@contextmanager
def team_on(plane: Plane, folder: Path, store: str, scheduler: str) -> Iterator[Team]:
    """The team, with the platform in force."""
    team = Team(plane, folder / "repository", store)
    team.folder.mkdir(parents=True)
    file = folder / "platform.yaml"
    platform = platform_for(file, scheduler, store=store, repository=str(team.folder))
    profile = "\n".join(["[default]", *(f"{key.lower()} = {value}" for key, value in KEYS.items())]) + "\n"
    (folder / "credentials").write_text(profile, encoding="utf-8")
    client = plane.client()
    for bucket in ("results", "scans"):
        make_bucket(store, bucket)
    team.write("pipelines/pages.yaml", PIPELINE)
    with installed(client, render_platform(platform).objects):
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bucket", "namespace": TEAM}}
        client.apply({**secret, "stringData": {"credentials": profile}}, manager="administrator")
        try:
            yield team
        finally:
            for kind in SENT:
                for each in client.listed(kind, TEAM):
                    client.delete(kind, each["metadata"]["name"], TEAM)
            until(lambda: not client.listed(POD, TEAM), "the team's pods to be gone")


def platform_for(file: Path, scheduler: str, *, store: str = NOWHERE, repository: str = TEAM) -> Platform:
    """The platform of the teams here, written down."""
    file.write_text(yaml.safe_dump(_platform(store, repository, scheduler)), encoding="utf-8")
    platform, findings = scan_platform(file, file.name)
    assert not findings, findings
    return platform


def kueue_configuration(folder: Path) -> Mapping[str, Any]:
    """What the administrator puts into Kueue's configuration for the teams here."""
    (setting,) = render_platform(platform_for(folder / "platform.yaml", "kueue")).settings
    return setting.value


def _platform(store: str, repository: str, scheduler: str) -> dict[str, Any]:
    return {
        "engine": "kubernetes",
        "scheduler": scheduler,
        "versions": {"kubernetes": MINOR, "kueue": "0.17.0"},
        "bucket": "s3://results",
        "bucket_options": {"endpoint": store, "region": "us-east-1", "allow_http": True},
        "teams": {
            TEAM: {
                "repository": repository,
                "namespace": TEAM,
                "queue": {"quota": 2, "limit": 4},
                "secret": "bucket",
            },
            "laboratory": {"namespace": "laboratory", "queue": {"quota": 2}},
        },
        "cards": {"a100": {"card": "A100-80", "class": "gpu-a100-80"}},
        "sources": {"buckets": ["s3://scans/incoming"]},
        "images": ["registry.example.org/htr"],
        "defaults": {"grace_seconds": 5},
    }


def objects_below(store: str, bucket: str, part: str) -> Iterator[tuple[str, bytes]]:
    """Everything with this part in its key."""
    for key in _listed(store, bucket):
        if part in key:
            status, body = _asked(store, "GET", f"/{bucket}/{key}")
            assert status == 200
            yield key, body


def _put(store: str, key: str, data: bytes) -> None:
    assert _asked(store, "PUT", f"/{key}", data)[0] == 200


def _listed(store: str, bucket: str) -> list[str]:
    status, body = _asked(store, "GET", f"/{bucket}?list-type=2&max-keys=10000")
    assert status == 200
    return [part.split("</Key>")[0] for part in body.decode().split("<Key>")[1:]]


def _asked(store: str, method: str, path: str, data: bytes | None = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(urlsplit(store).netloc, timeout=30)
    try:
        connection.request(method, path, body=data, headers={"Authorization": AUTHORIZATION})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()
