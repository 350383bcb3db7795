"""One thing that is wrong with a need, at its place within the need."""

from __future__ import annotations

from dataclasses import dataclass

from allotment.errors import Severity


@dataclass(frozen=True, slots=True)
class Fault:
    """``loc`` is its place within the need, the key last; ``evidence`` what was seen, a line each."""

    loc: tuple[str | int, ...]
    rule: str
    message: str
    hint: str
    severity: Severity = Severity.ERROR
    evidence: tuple[str, ...] = ()
