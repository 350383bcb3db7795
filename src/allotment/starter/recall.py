"""How well pages were read: the share of the words that really stand on them which were found.

Words are compared without regard to case, punctuation and order, each as often as it stands there; a word
that is read with one letter wrong is not found. `python -m allotment.starter.recall REPOSITORY` says it for
every volume of a starter repository, from `truth/` and the bucket in `results/`.
"""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

LEAST = 0.95


@dataclass(frozen=True, slots=True)
class Recall:
    """Words found, of words that stand there."""

    found: int
    words: int

    @property
    def share(self) -> float:
        """From 0 to 1; of no words, all were found."""
        return self.found / self.words if self.words else 1.0

    def __add__(self, other: Recall) -> Recall:
        return Recall(self.found + other.found, self.words + other.words)


def words_of(text: str) -> Counter[str]:
    """The words of a text: letters and digits only, composed, without regard to case, counted."""
    folded = unicodedata.normalize("NFC", text).casefold()
    letters = "".join(char if char.isalnum() else " " for char in folded)
    return Counter(letters.split())


def recall(truth: str, read: str) -> Recall:
    """How many of the words of one page were read."""
    wanted, found = words_of(truth), words_of(read)
    return Recall(sum((wanted & found).values()), sum(wanted.values()))


def volume_recalls(truth: Path, results: Path, step: str = "ocr") -> dict[str, Recall]:
    """The recall of each volume: a page that is missing from the results was not read at all."""
    recalls = {}
    for volume in sorted(path for path in truth.iterdir() if path.is_dir()):
        total = Recall(0, 0)
        for number, page in enumerate(sorted(volume.glob("*.txt")), start=1):
            read = _read_texts(results, volume.name, f"{number:04d}.{step}.txt")
            total += max((recall(page.read_text(encoding="utf-8"), text) for text in read), key=_found)
        recalls[volume.name] = total
    return recalls


def _read_texts(results: Path, volume: str, name: str) -> list[str]:
    """What was read of a page, under any team, pipeline and recipe; nothing at all is an empty text."""
    paths = sorted(results.glob(f"*/*/*/{volume}/pages/{name}"))
    return [path.read_text(encoding="utf-8") for path in paths] or [""]


def _found(recall: Recall) -> int:
    return recall.found


def report(recalls: Iterable[tuple[str, Recall]]) -> tuple[str, Recall]:
    """A table with a line for each volume and one for all, and the recall of all."""
    lines, total = [], Recall(0, 0)
    for volume, one in recalls:
        lines.append(_line(volume, one))
        total += one
    return "\n".join([*lines, _line("all volumes", total)]), total


def _line(name: str, one: Recall) -> str:
    return f"  {name:<20} word recall {one.share:.3f}  ({one.found} of {one.words} words)"


def main(arguments: Sequence[str]) -> int:
    """Print the recall of the repository at the path; 0 if it is good enough, else 1."""
    root = Path(arguments[0] if arguments else ".")
    if not (root / "truth").is_dir():
        sys.stderr.write(
            f"{root / 'truth'}: there is no such folder; name a repository that `allot init` wrote\n"
        )
        return 2
    table, total = report(volume_recalls(root / "truth", root / "results").items())
    sys.stdout.write(table + "\n")
    return 0 if total.share >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
