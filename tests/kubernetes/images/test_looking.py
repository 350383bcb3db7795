"""Every image that a repository names is looked at for what it is for, and told where it is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from allotment.errors import Severity
from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.images import Absent, ImageFacts, Looked, Reference, Untold
from allotment.kubernetes.images.looking import finding_of, images_of, looked_at, platforms_of, unseen
from allotment.kubernetes.render import render
from allotment.platform.model import Platform, PodRunner, Team
from allotment.repository import load_repository
from allotment.repository.model import Repository

DIGEST = "sha256:" + "ab" * 32
PLATFORM = Platform(engine="kubernetes", bucket="s3://results")
BROUGHT = replace(PLATFORM, runner=PodRunner(f"registry.example.org/inject@{DIGEST}"))
FILES = {
    "pipelines/own.yaml": f"image: registry.example.org/read@{DIGEST}\nsteps: [{{step: checksum}}]\n",
    "pipelines/theirs.yaml": f"image: registry.example.org/htr@{DIGEST}\nsteps: [{{step: Segmentation}}]\n",
    "pipelines/none.yaml": "steps: [{step: checksum}]\n",
    "campaigns/ours.yaml": "pipeline: own\nvolumes: [{id: a, images: ['https://iiif.example.org/1.jpg']}]\n",
    "fleets/serve.yaml": f"image: registry.example.org/serve@{DIGEST}\ncommand: [serve]\n",
    "gangs/train.yaml": f"command: [train]\nworkers: 2\nimage: registry.example.org/train@{DIGEST}\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    platform = replace(PLATFORM, sources=replace(PLATFORM.sources, hosts=("iiif.example.org",)))
    return load_repository(tmp_path, platform).checked()


@pytest.mark.parametrize(("platform", "use"), [(PLATFORM, "runner"), (BROUGHT, "brought")])
def test_what_each_image_is_for(repository: Repository, platform: Platform, use: str) -> None:
    found = {each.about: str(each.use) for each in images_of(repository, platform, "platform.yaml")}
    assert found.pop("platform", None) == (None if platform is PLATFORM else "bringer")
    assert found == {
        "pipelines/own": use,
        "pipelines/theirs": "program",
        "fleets/serve": "program",
        "gangs/train": "program",
    }


def test_what_is_wrong_is_told_where_the_image_is_named(repository: Repository) -> None:
    answers: Mapping[str, Looked] = {
        "read": Absent("it has no such image"),
        "htr": Untold("nobody answers", "look at the network"),
    }

    def fetch(reference: Reference, _platforms: object) -> Looked:
        return answers.get(reference.repository, ImageFacts(("linux/amd64",)))

    named = images_of(repository, PLATFORM, "platform.yaml")
    own, theirs = (finding_of(*each) for each in looked_at(named, fetch))
    assert str(own).startswith(f"{repository.root / 'pipelines/own.yaml'}:1:8 error image-unfit: ")
    assert own.message == "registry.example.org/read@sha256:abababababab…: it has no such image"
    assert (theirs.rule, theirs.severity, theirs.hint) == (
        "image-untold",
        Severity.WARNING,
        "look at the network",
    )


def snapshot(*objects: Mapping[str, Any]) -> Snapshot:
    return Snapshot(0.0, tuple(objects))


def node(**labels: str) -> Mapping[str, Any]:
    said = {f"kubernetes.io/{name}": value for name, value in labels.items()}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": str(labels), "labels": said}}


@pytest.mark.parametrize(
    ("nodes", "platforms"),
    [
        ([], ("linux/amd64",)),
        ([node()], ("linux/amd64",)),
        ([node(os="linux", arch="arm64"), node(arch="arm64")], ("linux/arm64",)),
        ([node(arch="arm64"), node(arch="amd64")], ("linux/amd64", "linux/arm64")),
    ],
)
def test_platforms_are_those_of_the_nodes(nodes: list[Mapping[str, Any]], platforms: tuple[str, ...]) -> None:
    assert platforms_of(snapshot(*nodes)) == platforms


def test_what_runs_already_is_not_asked_for_again(repository: Repository) -> None:
    rendered = render(repository, BROUGHT, Team("library")).objects
    live = snapshot(*(each for each in rendered if each["kind"] in {"Job", "Deployment"}))

    def left(platform: Platform) -> set[str]:
        named = images_of(repository, platform, "platform.yaml")
        return {each.about for each in unseen(named, live, "library")}

    assert left(BROUGHT) == {"pipelines/theirs"}
    assert left(PLATFORM) == {"pipelines/own", "pipelines/theirs"}
    named = [*images_of(repository, BROUGHT, "platform.yaml")]
    assert [*unseen(named, live, "elsewhere")] == named
