"""The recipe of our images: pinned, without root, with the labels that are looked for, and complete."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import pytest

from allotment import __version__
from allotment.kubernetes.images.verdict import CONTRACT, INJECT_LABEL, PYTHON_VARIABLE, RUNNER_LABEL
from allotment.kubernetes.render.bringing import BROUGHT, FOLDER
from allotment.kubernetes.render.campaigns import FINAL_CODES
from allotment.kubernetes.render.pods import USER
from allotment.platform.images import IMAGE
from tests.kubernetes.images.brought import IMAGES, ROOT

Stage = Sequence[tuple[str, str]]


def recipe() -> tuple[Mapping[str, str], Mapping[str, Stage]]:
    """The arguments with what they are when not named, and the stages with their instructions."""
    text = re.sub(r"^#.*\n", "", (IMAGES / "Containerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    arguments: dict[str, str] = {}
    stages: dict[str, list[tuple[str, str]]] = {}
    for word, _, rest in (line.partition(" ") for line in lines):
        if word == "FROM":
            base, name = rest.split(" AS ")
            assert base == "${BASE}"
            stages[name] = []
        elif stages:
            stages[next(reversed(stages))].append((word, rest))
        else:
            name, _, value = rest.partition("=")
            arguments[name] = value
    return arguments, stages


ARGUMENTS, STAGES = recipe()


def labels(stage: str) -> Mapping[str, str]:
    (words,) = [rest for word, rest in STAGES[stage] if word == "LABEL"]
    return {
        name: value.replace("${VERSION}", ARGUMENTS["VERSION"])
        for name, value in re.findall(r'(\S+)="([^"]*)"', words)
    }


def test_the_base_is_by_digest_and_the_version_is_ours() -> None:
    assert IMAGE.fullmatch(re.sub(r":[^@/]*@", "@", ARGUMENTS["BASE"]))
    assert ARGUMENTS["VERSION"] == __version__


@pytest.mark.parametrize(("stage", "label"), [("runner", RUNNER_LABEL), ("inject", INJECT_LABEL)])
def test_an_image_says_what_it_is_and_is_not_roots(stage: str, label: str) -> None:
    assert labels(stage)[label] == str(CONTRACT)
    assert labels(stage)["org.opencontainers.image.version"] == __version__
    assert {RUNNER_LABEL, INJECT_LABEL} & labels(stage).keys() == {label}
    instructions = dict(STAGES[stage])
    assert instructions["USER"] == f"{USER}:{USER}"
    assert json.loads(instructions["ENTRYPOINT"])[0].startswith("python")
    assert not [rest for word, rest in STAGES[stage] if word == "RUN"]


def test_what_is_copied_is_there_and_is_let_into_the_build() -> None:
    lines = (IMAGES / "Containerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    let_in = [line[1:] for line in lines if line.startswith("!")]
    assert lines[0] == "*"
    for stage in STAGES.values():
        for word, rest in stage:
            if word == "COPY" and not rest.startswith("--from="):
                for name in rest.split()[:-1]:
                    assert (ROOT / name).exists(), name
                    assert any(name == each or name.startswith(f"{each}/") for each in let_in), name


@pytest.mark.parametrize(
    "word", [RUNNER_LABEL, INJECT_LABEL, PYTHON_VARIABLE, FOLDER, " ".join(BROUGHT), *map(str, FINAL_CODES)]
)
def test_the_page_on_images_says_what_is_so(word: str) -> None:
    assert word in (ROOT / "docs" / "image.md").read_text(encoding="utf-8")


def test_packages_are_installed_with_their_hashes_looked_at() -> None:
    installs = [rest for word, rest in STAGES["build"] if word == "RUN" and " pip install" in rest]
    assert len(installs) == 2
    assert "--require-hashes" in installs[0]
    assert {"--constraints constraints.txt", "--build-constraints constraints.txt"} <= set(
        re.findall(r"--(?:build-)?constraints \S+", installs[1])
    )
