"""What is asked of each suite, and which differences are known: ``conformance.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.outcomes import BrokenFile

FILE = Path(__file__).parents[2] / "conformance.toml"
KEYS = frozenset({"suite", "case", "feature", "reason"})


@dataclass(frozen=True)
class Known:
    """A difference with its reason; without a feature it is whatever is compared in the case."""

    suite: str
    case: str
    reason: str
    feature: str | None = None

    def means(self, suite: str, case: str, feature: str) -> bool:
        """Whether this is about that comparison."""
        return (self.suite, self.case) == (suite, case) and self.feature in {None, feature}


@dataclass(frozen=True)
class Floors:
    """The least rate of each suite, in per cent, and the known differences."""

    rates: Mapping[str, float]
    known: tuple[Known, ...] = ()


def read_floors(path: Path, suites: Iterable[str]) -> Floors:
    """The file's floors, one for each suite and none for another; BrokenFile where that is not so."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BrokenFile(f"{path} cannot be read: {error}") from error
    names = set(suites)
    rates = _rates(path, raw.get("floors", {}))
    for name in sorted(names ^ rates.keys()):
        fault = "has no floor for the suite" if name in names else "has a floor for no suite:"
        raise BrokenFile(f"{path} {fault} {name!r}; it needs one line for each of {', '.join(sorted(names))}")
    return Floors(rates, tuple(_known(path, entry, names) for entry in raw.get("known", [])))


def _rates(path: Path, raw: object) -> dict[str, float]:
    if not isinstance(raw, dict):
        raise BrokenFile(f"{path}: floors must be a table of suites and rates")
    for name, rate in raw.items():
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 100:
            raise BrokenFile(f"{path}: the floor of {name} must be a number from 0 to 100, not {rate!r}")
    return {name: float(rate) for name, rate in raw.items()}


def _known(path: Path, entry: Any, names: set[str]) -> Known:
    if not isinstance(entry, dict) or not all(isinstance(value, str) for value in entry.values()):
        raise BrokenFile(f"{path}: a known difference must be a table of texts, not {entry!r}")
    if entry.keys() - KEYS or {"suite", "case", "reason"} - entry.keys():
        raise BrokenFile(
            f"{path}: a known difference has suite, case, reason and perhaps feature, not {entry!r}"
        )
    if entry["suite"] not in names:
        raise BrokenFile(f"{path}: a known difference is of no suite: {entry['suite']!r}")
    if not entry["reason"].strip() or "\n" in entry["reason"]:
        raise BrokenFile(f"{path}: the known difference {entry['case']!r} needs one line that says why")
    return Known(**entry)
