"""What starts a brought runner refuses an image that it does not go with, each in one sentence."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tests.kubernetes.images.brought import IMAGES, module

ABOUT = {
    "python": [3, 11],
    "pythons": ["3.11", "3.12"],
    "machine": "x86_64",
    "glibc": "2.28",
    "packages": {"pillow": ">=11.3,<14", "urllib3": ">=2.5,<3", "plain": ""},
}
LAUNCH = module("launch")


def refusal(called: Any, *arguments: Any) -> str:
    """What is said; nothing where nothing is refused."""
    try:
        called(*arguments)
    except LAUNCH.RefusedError as error:
        return f"{error} ({error.code})"
    return ""


@pytest.mark.parametrize(
    ("version", "name", "flags", "words"),
    [
        ((3, 11, 0), "cpython", "", ""),
        ((3, 14, 2), "cpython", "", ""),
        ((4, 0, 0), "cpython", "", ""),
        ((3, 10, 13), "cpython", "", "it needs Python 3.11 or newer, and `python3` is Python 3.10.13"),
        ((3, 6, 15), "cpython", "m", "`python3` is Python 3.6.15"),
        ((3, 11, 9), "pypy", "", "`python3` is pypy"),
        ((3, 13, 0), "cpython", "t", "a free-threaded build"),
    ],
)
def test_which_pythons_do(version: tuple[int, ...], name: str, flags: str, words: str) -> None:
    said = refusal(LAUNCH.look_at_python, ABOUT, version, name, flags)
    assert words in said
    assert said.endswith("(126)") == bool(words)


@pytest.mark.parametrize(
    ("machine", "libc", "words"),
    [
        ("x86_64", "2.28", ""),
        ("x86_64", "2.41", ""),
        ("x86_64", "3.0", ""),
        ("x86_64", "2.17", "it needs the GNU C library 2.28, and this image has 2.17"),
        ("x86_64", "2.9", "has 2.9"),
        ("x86_64", None, "as Alpine has"),
        ("aarch64", "2.41", "it was brought for x86_64, and this is aarch64"),
    ],
)
def test_which_machines_and_libraries_do(machine: str, libc: str | None, words: str) -> None:
    said = refusal(LAUNCH.look_at_machine, ABOUT, machine, libc)
    assert words in said
    assert said.endswith("(126)") == bool(words)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({}, ""),
        ({"pillow": "12.0"}, ""),
        ({"pillow": "13.9.9.post1"}, ""),
        ({"pillow": "11.3.0"}, ""),
        ({"pillow": "11.2.1"}, "the image has pillow 11.2.1, and it needs pillow>=11.3,<14"),
        ({"pillow": "9.5"}, "the image has pillow 9.5"),
        ({"pillow": "14.0.0rc1"}, "the image has pillow 14.0.0rc1"),
        ({"urllib3": "1.26.20"}, "the image has urllib3 1.26.20"),
        (
            {"pillow": None},
            "pillow is neither in the image nor brought for this Python (it was for 3.11, 3.12)",
        ),
    ],
)
def test_the_images_own_packages_count(found: dict[str, str | None], words: str) -> None:
    there: dict[str, str | None] = {"pillow": "11.3", "urllib3": "2.5", "plain": "0", **found}
    said = refusal(LAUNCH.look_at_packages, ABOUT, there.get)
    assert words in said
    assert said.endswith("(126)") == bool(words)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["/f", "/site"], ["/f/own", "/work", "/site", "/f/cp312", "/f/any"]),
        (["/site"], ["/f/own", "/site", "/f/cp312", "/f/any"]),
        ([], ["/f/own", "/f/cp312", "/f/any"]),
    ],
)
def test_the_runner_comes_first_and_what_it_needs_last(before: list[str], after: list[str]) -> None:
    LAUNCH.enter(before, "/f", (3, 12, 1), "/work")
    assert before == after


def test_a_folder_that_is_not_there_is_missing(tmp_path: Path) -> None:
    for text in (None, "{"):
        if text is not None:
            (tmp_path / "runner.json").write_text(text)
        with pytest.raises(LAUNCH.RefusedError, match="nothing was brought") as caught:
            LAUNCH.about_folder(str(tmp_path))
        assert caught.value.code == 127
    (tmp_path / "runner.json").write_text(json.dumps(ABOUT))
    assert LAUNCH.about_folder(str(tmp_path)) == ABOUT


@pytest.mark.parametrize("name", ["launch", "inject"])
def test_a_python_that_is_too_old_can_read_it_and_say_so(name: str) -> None:
    ast.parse((IMAGES / f"{name}.py").read_text(encoding="utf-8"), feature_version=(3, 4))


def test_the_c_library_of_this_machine_is_known_or_another() -> None:
    found = LAUNCH.libc_here()
    assert found is None or LAUNCH.release(found) > (2,)
