"""What the comparisons come to: counts, rates, and which differences are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.conformance.comparing import Compared
from tests.conformance.floors import Floors, Known
from tests.conformance.suites import Suite


@dataclass(frozen=True)
class Count:
    """How many comparisons agree, of how many."""

    passed: int
    total: int

    @property
    def failed(self) -> int:
        """How many differ."""
        return self.total - self.passed

    @property
    def rate(self) -> float:
        """The part that agrees, in per cent; nothing compared is nothing reached."""
        return 100 * self.passed / self.total if self.total else 0.0


def count(compared: Sequence[Compared]) -> Count:
    """The count of these."""
    return Count(sum(each.agrees for each in compared), len(compared))


@dataclass(frozen=True)
class SuiteResult:
    """One suite's comparisons beside what is asked of it."""

    suite: Suite
    floor: float
    known: tuple[Known, ...]
    compared: tuple[Compared, ...]

    @cached_property
    def all(self) -> Count:
        """The whole suite."""
        return count(self.compared)

    @cached_property
    def features(self) -> Mapping[str, Count]:
        """Each feature by its name, in the order of the names."""
        by_name: dict[str, list[Compared]] = {}
        for each in self.compared:
            by_name.setdefault(each.feature, []).append(each)
        return {name: count(by_name[name]) for name in sorted(by_name)}

    @cached_property
    def held(self) -> Count:
        """What the floor is held against: everything but the known differences."""
        known = sum(known is not None for _, known in self.differences)
        return Count(self.all.passed, self.all.total - known)

    @property
    def below(self) -> bool:
        """Whether it agrees less than is asked; what is known to differ throughout is not below."""
        return self.held.total > 0 and self.held.rate < self.floor

    @cached_property
    def differences(self) -> tuple[tuple[Compared, Known | None], ...]:
        """What does not agree, each with its known reason if there is one."""
        return tuple((each, self._known(each)) for each in self.compared if not each.agrees)

    @cached_property
    def gone(self) -> tuple[Known, ...]:
        """Known differences that are there and agree now."""
        cases: dict[Known, bool] = {}
        for each in self.compared:
            known = self._known(each)
            if known is not None:
                cases[known] = cases.get(known, True) and each.agrees
        return tuple(known for known, agrees in cases.items() if agrees)

    @cached_property
    def _known_by_case(self) -> Mapping[str, list[Known]]:
        by_case: dict[str, list[Known]] = {}
        for known in self.known:
            by_case.setdefault(known.case, []).append(known)
        return by_case

    def _known(self, each: Compared) -> Known | None:
        candidates = self._known_by_case.get(each.case, [])
        return next((one for one in candidates if one.means(self.suite.name, each.case, each.feature)), None)


@dataclass(frozen=True)
class Results:
    """All suites, and the files of the folder that none of them reads."""

    suites: tuple[SuiteResult, ...]
    absent: tuple[str, ...]
    unread: tuple[str, ...]

    @cached_property
    def all(self) -> Count:
        """Everything that was compared."""
        return Count(
            sum(each.all.passed for each in self.suites), sum(each.all.total for each in self.suites)
        )

    @property
    def exit_code(self) -> int:
        """1 where a suite is below its floor, or nothing was compared."""
        return 1 if any(each.below for each in self.suites) or not self.all.total else 0


def weigh(
    compared: Mapping[Suite, Sequence[Compared]], floors: Floors, absent: Sequence[str], unread: Sequence[str]
) -> Results:
    """The comparisons beside the floors."""
    suites = (
        SuiteResult(
            suite,
            floors.rates[suite.name],
            tuple(known for known in floors.known if known.suite == suite.name),
            tuple(found),
        )
        for suite, found in compared.items()
    )
    return Results(tuple(suites), tuple(absent), tuple(unread))


def unread_files(data: Path, suites: Sequence[Suite]) -> list[str]:
    """The files of the folder that no suite reads; notes (``.md``) are for people."""
    read = {path for suite in suites for path in (suite.path, suite.beside)}
    inside = (path for path in sorted(data.rglob("*")) if path.is_file() and path.suffix != ".md")
    names = (path.relative_to(data) for path in inside)
    return [
        str(name)
        for name in names
        if not any(str(each) in read for each in (name, *name.parents)) and not name.name.startswith(".")
    ]
