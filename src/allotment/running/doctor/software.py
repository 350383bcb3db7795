"""What is installed: Python, the libraries of the `ocr` step, steps and preparations of packages."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from allotment import install_command
from allotment.answers import Answer, fine, note, problem
from allotment.repository.steps import GROUP, PREPARE_GROUP
from allotment.running.steps.loading import in_words

LEAST_PYTHON = (3, 11)
OCR_LIBRARIES = ("rapidocr", "onnxruntime")
OCR = "ocr"


class EntryPoint(Protocol):
    """A name that a package offers, and what is behind it."""

    @property
    def name(self) -> str:
        """The name."""

    def load(self) -> Any:
        """Import what is behind it."""


def python(version: tuple[int, ...] = sys.version_info[:3], system: str = sys.platform) -> Iterator[Answer]:
    """Whether this Python, on this system, will do."""
    written = ".".join(map(str, version[:3]))
    if version < LEAST_PYTHON:
        yield problem("python", f"Python {written} is too old", "install 3.11 or newer")
    else:
        yield fine("python", f"Python {written} at {sys.executable}")
    if system != "linux":
        words = f"this is {system}: workers that are orphaned may live on, and no processor is bound"
        yield note("system", words, "run on Linux for everything that is promised")


def ocr(
    wanted_by: Iterable[str], load: Callable[[str], object] = importlib.import_module
) -> Iterator[Answer]:
    """Whether the `ocr` step's libraries can be imported; a problem only for pipelines that want it."""
    pipelines = sorted(wanted_by)
    for library in OCR_LIBRARIES:
        try:
            load(library)
        except Exception as error:  # noqa: BLE001 - a library may fail as it likes
            say = problem if pipelines else note
            needed = (
                f", and {', '.join(f'`{name}`' for name in pipelines)} reads with it" if pipelines else ""
            )
            words = f"the step `ocr` cannot be used{needed}: {in_words(error)}"
            yield say("ocr", words, install_command("ocr"))
            return
    yield fine("ocr", f"the step `ocr` has its libraries: {', '.join(OCR_LIBRARIES)}")


def steps(points: Callable[[str], Iterable[EntryPoint]] | None = None) -> Iterator[Answer]:
    """Whether what packages offer as steps and preparations can be imported."""
    find = points or (lambda group: importlib.metadata.entry_points(group=group))
    for group, what in ((GROUP, "steps"), (PREPARE_GROUP, "preparations")):
        good = []
        for point in sorted(find(group), key=lambda point: point.name):
            try:
                point.load()
            except Exception as error:  # noqa: BLE001 - foreign code
                yield problem("steps", f"`{point.name}` of {group} cannot be imported: {in_words(error)}")
            else:
                good.append(point.name)
        if good:
            yield fine("steps", f"{what}: {', '.join(good)}")
        else:
            words = f"no package offers {what} here"
            yield problem("steps", words, f"install Allotment anew: {install_command(anew=True)}")
