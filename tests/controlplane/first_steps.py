"""What a plane that stays has for somebody who has never used one: a store, a team, pages, and a repository.

It is what whoever runs a cluster, and a team, would do themselves; so all of it lies beside the plane as
files to read and change. The pages are those of the starter repository, and are really read.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Template
from typing import Final

from allotment.devices.catalogue import find
from allotment.kubernetes.client import Client
from allotment.kubernetes.render.platform import render_platform
from allotment.platform.file import scan_platform
from allotment.platform.model import Platform
from allotment.starter.write import SCANS, starter_files
from tests.buckets.moto_server import KEYS, make_bucket, put
from tests.controlplane.components import MINOR
from tests.controlplane.installing import install
from tests.controlplane.team import IMAGE, TEAM

CAMPAIGN: Final = "letters"
ENVIRONMENT: Final = "env"
REPOSITORY: Final = "repository"
PLATFORM: Final = "platform.yaml"
CREDENTIALS: Final = "credentials"
KUBECTL: Final = "kubectl"
"""The manager of fields as `kubectl apply --server-side` calls itself, which may so apply them again."""
_CARD: Final = re.compile(r".*?\d+\s*[x×*]\s*(?P<name>[^\s,]+)\s*")

_PLATFORM: Final = Template(
    """\
# What whoever runs the cluster keeps; `allot render --platform-objects` prints what the cluster was given.
engine: kubernetes
scheduler: $scheduler
versions: {kubernetes: "$kubernetes", kueue: "0.17.0"}
bucket: s3://results
bucket_options: {endpoint: "$store", region: us-east-1, allow_http: true}
teams:
  $team:
    repository: $repository
    namespace: $team
    queue: {quota: 2, limit: 4}
    secret: bucket
  laboratory:
    namespace: laboratory
    queue: {quota: 2}
cards:$cards
sources:
  buckets: ["s3://scans"]
images: [registry.example.org/htr]
defaults: {grace_seconds: 5}
"""
)
_PIPELINE: Final = Template(
    """\
# One card for each volume. This Kueue admits no `memory:` beside the `card:`.
image: $image   # nobody pulls it: pods run with the Python of the checkout
${gpu}resources: {cpu: 1, memory: 1Gi}
steps:
  - step: ocr
"""
)
_VOLUMES: Final = "pipeline: read\nwindow: {min: 2, max: 2}\nvolumes:\n"
_ENVIRONMENT: Final = Template(
    """\
export KUBECONFIG='$folder/kubeconfig'
export ALLOT_PLATFORM='$folder/platform.yaml'
export AWS_SHARED_CREDENTIALS_FILE='$folder/credentials'
export PATH='$programs':"$$PATH"
"""
)


def write(folder: Path, describe: str, scheduler: str, store: str) -> Platform:
    """Write the platform's file, the repository and the environment, put the pages into the store."""
    cards = tuple(dict.fromkeys(whole_cards(describe)))
    repository = folder / REPOSITORY
    lines = [f"\n  {each.lower()}: {{card: {each}, class: gpu-{each.lower()}}}" for each in cards]
    gpu = f"gpu: {{card: {cards[0].lower()}}}\n" if cards else ""
    scans = [(name, page) for name, page in starter_files() if name.parts[0] == SCANS]
    volumes = sorted({name.parts[1] for name, _ in scans})
    asked = "".join(f"  - {{id: {each}, folder: s3://scans/{each}}}\n" for each in volumes)
    files = {
        folder / PLATFORM: _PLATFORM.substitute(
            scheduler=scheduler,
            kubernetes=MINOR,
            store=store,
            team=TEAM,
            repository=repository,
            cards="".join(lines) or " {}",
        ),
        folder / ENVIRONMENT: _ENVIRONMENT.substitute(folder=folder, programs=Path(sys.executable).parent),
        folder / CREDENTIALS: _profile(),
        repository / "pipelines" / "read.yaml": _PIPELINE.substitute(image=IMAGE, gpu=gpu),
        repository / "campaigns" / f"{CAMPAIGN}.yaml": _VOLUMES + asked,
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for bucket in ("results", "scans"):
        make_bucket(store, bucket)
    for name, page in scans:
        put(store, str(name), page)
    platform, findings = scan_platform(folder / PLATFORM, PLATFORM)
    assert not findings, findings
    return platform


def prepare(client: Client, platform: Platform) -> None:
    """What whoever runs the cluster does before the team can use it."""
    install(client, render_platform(platform).objects, KUBECTL)
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bucket", "namespace": TEAM}}
    client.apply({**secret, "stringData": {CREDENTIALS: _profile()}}, manager=KUBECTL)


def whole_cards(describe: str) -> Iterator[str]:
    """The cards that a description has uncut, as the catalogue calls them."""
    for part in describe.split(","):
        found = _CARD.fullmatch(part.strip())
        if found is not None:
            yield find(found["name"]).id


def next_steps(folder: Path) -> Sequence[str]:
    """What to type next."""
    return (
        f"cd {folder / REPOSITORY} && . {folder / ENVIRONMENT}",
        "allot apply --no-images",
        f"allot status {CAMPAIGN} --cluster -w    # until Ctrl-C",
        f"allot results {CAMPAIGN} --text",
    )


def _profile() -> str:
    return "\n".join(["[default]", *(f"{key.lower()} = {value}" for key, value in KEYS.items())]) + "\n"
