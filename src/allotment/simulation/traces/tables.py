"""Tables of a trace, read strictly: a cell that is not what its column says is refused with file and line.

A trace that is read with a shift of one column still simulates, and every figure of it is wrong; so nothing
is guessed, and nothing is skipped.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from allotment.errors import AllotmentError, WorldError, did_you_mean

MOST: Final = 1e10
"""No time and no amount of a trace is larger: three hundred years, ten billion MiB."""
MOST_CARDS: Final = 100_000
"""Of one job: what every scheduler's model gets through in a minute."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: its cells by column, and where it stands."""

    cells: Mapping[str, str]
    path: Path
    line: int

    def text(self, column: str) -> str:
        """A cell as it stands; empty where the table does not have the column."""
        return self.cells.get(column, "")

    def number(self, column: str, *, least: float = 0.0, most: float = MOST) -> float:
        """A cell as a number within bounds."""
        text = self.text(column)
        try:
            value = float(text if text.isascii() and "_" not in text else "")
        except ValueError:
            raise self.refused(column, "no number") from None
        if not math.isfinite(value) or value < least:
            raise self.refused(column, f"not a finite number from {least:g} up")
        if value > most:
            raise self.refused(column, f"more than {most:,.0f}")
        return value

    def whole(self, column: str, *, least: int = 0, most: float = MOST) -> int:
        """A cell as a whole number; ``8.0`` is one too."""
        value = self.number(column, least=least, most=most)
        if value != int(value):
            raise self.refused(column, "no whole number")
        return int(value)

    def one_of(self, column: str, known: Iterable[str]) -> str:
        """A cell that is one of these words."""
        text = self.text(column)
        if text not in known:
            raise self.refused(column, "not known here", did_you_mean(text, known))
        return text

    def name(self, column: str, name: str, taken: set[str]) -> str:
        """The name of what the line is of, which no other line has; it is among the taken from here on."""
        if not name:
            raise self.refused(column, "no name")
        if name in taken:
            raise self.refused(column, "which stands twice")
        taken.add(name)
        return name

    def refused(self, column: str, why: str, remedy: str = "") -> AllotmentError:
        """The error that says why a cell will not do."""
        said = f"`{column}` is {self.text(column)!r}, {why}"
        return AllotmentError(said, where=f"{self.path}:{self.line}", remedy=remedy)


def read_table(path: Path, wanted: Iterable[str], *, separator: str = ",") -> Iterator[Row]:
    """The rows of a table whose first line names the columns, of which the wanted ones must be there."""
    with opened(path) as file:
        yield from _rows(csv.reader(file, delimiter=separator, strict=True), path, wanted)


def opened(path: Path) -> TextLines:
    """A text file to read line by line; WorldError where it cannot be."""
    return TextLines(path)


class TextLines:
    """The lines of a UTF-8 file, with errors that say where."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = path.open(encoding="utf-8-sig", newline="")
        except OSError as error:
            raise WorldError(
                f"the trace cannot be read: {error.strerror}",
                where=str(path),
                remedy="traces do not come with allotment: give the folder that has them with --data",
            ) from None

    def __enter__(self) -> TextLines:
        return self

    def __exit__(self, *_ended: object) -> None:
        self._file.close()

    def __iter__(self) -> Iterator[str]:
        try:
            yield from self._file
        except UnicodeDecodeError:
            raise AllotmentError("this is no text in UTF-8", where=str(self._path)) from None


def _rows(lines: Iterator[list[str]], path: Path, wanted: Iterable[str]) -> Iterator[Row]:
    try:
        header = next(lines, [])
        missing = [column for column in wanted if column not in header]
        if missing:
            raise AllotmentError(
                f"the table has no column `{missing[0]}`",
                where=f"{path}:1",
                remedy=f"it has {', '.join(header) or 'no line'}; is it another --format?",
            )
        for number, cells in enumerate(lines, start=2):
            if not cells:
                continue
            if len(cells) != len(header):
                raise AllotmentError(
                    f"{len(cells)} cells stand under {len(header)} columns", where=f"{path}:{number}"
                )
            yield Row(dict(zip(header, cells, strict=True)), path, number)
    except csv.Error as error:
        raise AllotmentError(f"the table cannot be read: {error}", where=str(path)) from None
