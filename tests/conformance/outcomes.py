"""What came of one comparison, and the reading of the files that the comparisons come from.

A suite is a function ``run(path, share) -> Iterator[Outcome]`` with a line of its own in ``suites.SUITES``.

* ``path`` is the suite's file (or folder) inside the folder of cases.
* ``share`` says which of the cases this process takes: ``for case in share(cases)``. A long suite is run in
  several processes, each with a share of its own; nothing else is known to a suite about that.
* Each ``Outcome`` is one thing that is compared: the verdict, the chosen devices, the number of steps. Its
  ``feature`` is the line of the table that it is counted in; its ``case`` is the name by which
  ``conformance.toml`` knows it. Both are stable from run to run.
* What is expected and what is found are compared with ``==`` and shown with ``repr``: strings, numbers,
  tuples and frozen dataclasses, nothing that is in another order each time.
* Files are read with ``read_json`` and ``read_json_lines``, which say what is wrong with a broken one.
* ``attempt(call)`` is for what Allotment answers: a fault of its own is then a disagreement of this one case.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

Case = TypeVar("Case")
Found = TypeVar("Found")


class BrokenFile(Exception):
    """A file of cases that cannot be used; the text says which, where and why."""


@dataclass(frozen=True)
class Outcome:
    """A case, the line of the table that it is counted in, and what was expected and found."""

    case: str
    feature: str
    expected: object
    found: object

    @property
    def agrees(self) -> bool:
        """Whether Allotment says the same."""
        return self.expected == self.found


@dataclass(frozen=True)
class Share:
    """Every ``of``-th case, from the one of this ``number`` on."""

    number: int = 0
    of: int = 1

    def __call__(self, cases: Iterable[Case]) -> Iterator[Case]:
        return islice(cases, self.number, None, self.of)


@dataclass(frozen=True)
class Fault:
    """What stands in the place of an answer that Allotment could not give."""

    words: str


ALL = Share()


def attempt(call: Callable[[], Found]) -> Found | Fault:
    """What the call returns, or the fault that it ended with."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001  # whatever it is, it is the answer to this case
        return Fault(f"{type(error).__name__}: {error}")


def read_json(path: Path) -> Any:
    """The one document of a file."""
    return _parsed(_text(path), str(path))


def read_json_lines(path: Path, share: Share = ALL) -> Iterator[Any]:
    """A document a line, those of the share; ``.gz`` is unpacked."""
    lines = enumerate(_text(path).splitlines(), start=1)
    for number, line in share((number, line) for number, line in lines if line.strip()):
        yield _parsed(line, f"{path}:{number}")


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise BrokenFile(f"{path} cannot be read: {error}") from error


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise BrokenFile(f"{place} is not JSON: {error}") from error
