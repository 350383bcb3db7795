"""Whether a pod can run a worker in an image, by what the image's registry says of it.

An image says by a label which contract the runner in it keeps: the form of the assignment, the command line
and the exit codes. Labels are handed down to whatever is built from an image. Official Python images name
their Python in ``PYTHON_VERSION``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from allotment.kubernetes.images.facts import Absent, ImageFacts, Looked, Untold

CONTRACT: Final = 1
"""The contract of the runner that rendered Jobs rely on."""
RUNNER_LABEL: Final = "io.allotment.runner"
"""Of an image that has the runner in it: the contract."""
INJECT_LABEL: Final = "io.allotment.inject"
"""Of the image that copies the runner into a pod: the contract."""
LEAST_PYTHON: Final = (3, 11)
PYTHON_VARIABLE: Final = "PYTHON_VERSION"
_VERSION: Final = re.compile(r"(\d{1,3})\.(\d{1,3})\b")


class State(StrEnum):
    """How it stands with an image."""

    FINE = "fine"
    UNTOLD = "untold"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class ImageVerdict:
    """What is said of an image, and what to do about it."""

    state: State
    said: str
    remedy: str = ""


class Use(StrEnum):
    """What an image is for: it has the runner, the runner is brought into it, it brings it, or none of it."""

    RUNNER = "runner"
    BROUGHT = "brought"
    BRINGER = "bringer"
    PROGRAM = "program"


def verdict_of(looked: Looked, platforms: Sequence[str], use: Use) -> ImageVerdict:
    """The verdict on an image that is to run on nodes of these platforms."""
    if isinstance(looked, Untold):
        return ImageVerdict(State.UNTOLD, looked.why, looked.remedy)
    if isinstance(looked, Absent):
        remedy = "push it, or name the digest that the registry has"
        return ImageVerdict(State.WRONG, looked.why, remedy)
    lacking = [each for each in platforms if each not in looked.platforms]
    if len(lacking) == len(platforms):
        return _for_none(looked, platforms)
    found = _USED[use](looked)
    if found.state is not State.FINE or not lacking:
        return found
    words = f"it is not for {', '.join(lacking)}, which nodes of the cluster are too"
    return ImageVerdict(State.UNTOLD, words, "build it for them too, or keep its pods off those nodes")


def _for_none(facts: ImageFacts, platforms: Sequence[str]) -> ImageVerdict:
    there = ", ".join(facts.platforms) or "none that it names"
    remedy = "build it for them too, and name the digest of the index"
    return ImageVerdict(State.WRONG, f"it is not for {', '.join(platforms)}, but for {there}", remedy)


def _with_python(facts: ImageFacts) -> ImageVerdict:
    said = facts.env.get(PYTHON_VARIABLE, "")
    found = _VERSION.match(said)
    least = ".".join(map(str, LEAST_PYTHON))
    if found and (int(found[1]), int(found[2])) < LEAST_PYTHON:
        remedy = f"build it on Python {least} or newer"
        return ImageVerdict(State.WRONG, f"its Python is {found[0]}, and the runner needs {least}", remedy)
    return ImageVerdict(State.FINE, "it is there, and the runner is brought along")


def _by_label(facts: ImageFacts, label: str) -> ImageVerdict:
    said = facts.labels.get(label)
    brings = label == INJECT_LABEL
    if said is None:
        if brings:
            remedy = "name an image of images/runner, target `inject`, as the platform's `runner.image`"
            return ImageVerdict(State.WRONG, f"nothing in it brings the runner (no label {label})", remedy)
        remedy = "build it from an image with the runner, or have the platform bring one (`runner.image`)"
        return ImageVerdict(State.WRONG, f"it has no runner in it (no label {label})", remedy)
    if said != str(CONTRACT):
        older = said.isdecimal() and int(said) < CONTRACT
        remedy = "build it anew with the runner of this release" if older else "use a newer `allot`"
        words = f"its runner keeps contract {said[:20]!r}, and what is rendered needs {CONTRACT}"
        return ImageVerdict(State.WRONG, words, remedy)
    return ImageVerdict(State.FINE, "it is there, with a runner that keeps the contract")


_USED: Final[Mapping[Use, Callable[[ImageFacts], ImageVerdict]]] = {
    Use.RUNNER: lambda facts: _by_label(facts, RUNNER_LABEL),
    Use.BRINGER: lambda facts: _by_label(facts, INJECT_LABEL),
    Use.BROUGHT: _with_python,
    Use.PROGRAM: lambda _: ImageVerdict(State.FINE, "it is there"),
}
