"""What a check of `allot doctor` answers: it is well, or worth knowing, or in the way and how to mend it.

A check asks one thing and never raises: what goes wrong while it asks is its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from allotment.errors import AllotmentError, FindingsError


class State(StrEnum):
    """How much an answer matters: only a problem makes the doctor exit 1."""

    FINE = "fine"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Answer:
    """What was asked (``check``), how it stands, in words, and what to do about it."""

    check: str
    state: State
    said: str
    remedy: str = ""


Check = Callable[[], Iterable[Answer]]


def fine(check: str, said: str) -> Answer:
    """It is as it should be."""
    return Answer(check, State.FINE, said)


def note(check: str, said: str, remedy: str = "") -> Answer:
    """Worth knowing, and nothing stands still for it."""
    return Answer(check, State.NOTE, said, remedy)


def problem(check: str, said: str, remedy: str = "") -> Answer:
    """It is in the way."""
    return Answer(check, State.PROBLEM, said, remedy)


def examine(checks: Iterable[tuple[str, Check]]) -> Iterator[Answer]:
    """The answers of checks in their order; one that fails is a problem by its name."""
    for name, check in checks:
        try:
            yield from check()
        except FindingsError as error:
            for finding in error.findings:
                yield problem(name, f"{finding.position} {finding.message}", finding.hint)
        except AllotmentError as error:
            place = f"{error.where}: " if error.where else ""
            yield problem(name, f"{place}{error.what}", error.remedy)
        except Exception as error:  # noqa: BLE001 - a check that breaks is an answer too
            yield problem(name, f"could not be looked at: {type(error).__name__}: {error}")
