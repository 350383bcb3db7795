"""What is said of an image follows from what its registry says, and from nothing else."""

from __future__ import annotations

import pytest

from allotment.kubernetes.images import (
    Absent,
    ImageFacts,
    Looked,
    Reference,
    State,
    Untold,
    Use,
    check_image,
    judged,
    reference_of,
)

DIGEST = "sha256:" + "ab" * 32
IMAGE = f"registry.example.org/read@{DIGEST}"
AMD = ("linux/amd64",)


@pytest.mark.parametrize(
    ("name", "host", "repository", "address"),
    [
        ("registry.example.org/a/b", "registry.example.org", "a/b", "https://registry.example.org/v2/a/b"),
        ("registry.example.org:5000/a", "registry.example.org:5000", "a", None),
        ("localhost:5000/a", "localhost:5000", "a", "http://localhost:5000/v2/a"),
        ("localhost.example.org/a", "localhost.example.org", "a", "https://localhost.example.org/v2/a"),
        ("127.0.0.1:5000/a", "127.0.0.1:5000", "a", "http://127.0.0.1:5000/v2/a"),
        ("127.0.0.2/a", "127.0.0.2", "a", "https://127.0.0.2/v2/a"),
        ("python", "docker.io", "library/python", "https://registry-1.docker.io/v2/library/python"),
        ("pytorch/pytorch", "docker.io", "pytorch/pytorch", None),
        ("index.docker.io/python", "docker.io", "library/python", None),
    ],
)
def test_who_is_asked_for_an_image(name: str, host: str, repository: str, address: str | None) -> None:
    found = reference_of(f"{name}@{DIGEST}")
    assert found == Reference(host, repository, DIGEST)
    assert address in {None, found.address}


@pytest.mark.parametrize(
    ("looked", "injected", "state", "words"),
    [
        (ImageFacts(AMD, {"io.allotment.runner": "1"}), False, State.FINE, "keeps the contract"),
        (ImageFacts(AMD), True, State.FINE, "brought along"),
        (ImageFacts(AMD, env={"PYTHON_VERSION": "3.11.9"}), True, State.FINE, "brought along"),
        (ImageFacts(AMD, env={"PYTHON_VERSION": "nonsense"}), True, State.FINE, "brought along"),
        (ImageFacts(AMD, env={"PYTHON_VERSION": "3.9.18"}), True, State.WRONG, "its Python is 3.9"),
        (ImageFacts(AMD), False, State.WRONG, "no runner in it"),
        (ImageFacts(AMD, {"io.allotment.runner": "0"}), False, State.WRONG, "contract '0'"),
        (ImageFacts(AMD, {"io.allotment.runner": "2"}), False, State.WRONG, "contract '2'"),
        (ImageFacts(AMD, {"io.allotment.inject": "1"}), False, State.WRONG, "no runner in it"),
        (ImageFacts(("linux/arm64",)), False, State.WRONG, "not for linux/amd64, but for linux/arm64"),
        (ImageFacts(()), True, State.WRONG, "none that it names"),
        (Untold("nobody answers", "try again"), False, State.UNTOLD, "nobody answers"),
        (Absent("it has no such manifest"), True, State.WRONG, "no such manifest"),
    ],
)
def test_a_verdict_says_what_is_wrong_and_what_to_do(
    looked: Looked, injected: bool, state: State, words: str
) -> None:
    verdict = check_image(IMAGE, injected=injected, fetch=lambda _image, _platforms: looked)
    assert verdict.state is state
    assert words in verdict.said
    assert bool(verdict.remedy) == (state is not State.FINE)


def test_a_cluster_of_several_platforms_may_have_nodes_that_it_is_not_for() -> None:
    facts = ImageFacts(AMD, {"io.allotment.runner": "1"})
    both = ("linux/amd64", "linux/arm64")
    verdict = check_image(IMAGE, injected=False, fetch=lambda _image, _platforms: facts, platforms=both)
    assert (verdict.state, "not for linux/arm64, which nodes" in verdict.said) == (State.UNTOLD, True)


@pytest.mark.parametrize(("labels", "state"), [({"io.allotment.inject": "1"}, State.FINE), ({}, State.WRONG)])
def test_the_image_that_brings_the_runner_says_so(labels: dict[str, str], state: State) -> None:
    verdict = judged(IMAGE, Use.BRINGER, lambda _image, _platforms: ImageFacts(AMD, labels))
    assert verdict.state is state


def test_an_image_whose_program_is_not_ours_must_only_be_there() -> None:
    verdict = judged(IMAGE, Use.PROGRAM, lambda _image, _platforms: ImageFacts(AMD))
    assert (verdict.state, verdict.said) == (State.FINE, "it is there")
