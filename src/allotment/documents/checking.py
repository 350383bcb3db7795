"""Where a check stands in a document, and what it has found so far.

A shape (`allotment.documents.shapes`) reads one value through a `Place`: it records what is wrong and raises
`RefusedError`, so that whoever reads the things around it goes on and every finding is told at once.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NoReturn

from allotment.documents.document import Document
from allotment.documents.positions import Loc, Trap
from allotment.documents.scalars import described, read_plain, readings
from allotment.errors import Finding, Severity

LONGEST_SHOWN = 60
MOST_TOLD = 1000
MORE = f"there are more than {MOST_TOLD:,} findings of this kind in the file; the others are from here on"
MORE_HINT = "mend the first, and check again"
MOST_ALIKE = 3
_INDEX = re.compile(r"\[\d+\]")
CREDENTIALS = re.compile(r"//[^/@\s]*@")


class RefusedError(Exception):
    """A value could not be read; the finding that says why is recorded already."""


@dataclass(slots=True)
class _Alike:
    """How many findings say the same, and where the last of them is that is told by itself."""

    count: int = 0
    last: int = 0


@dataclass(slots=True)
class Check:
    """The findings about one document, not very many of each rule: a file may have a million faults."""

    document: Document
    findings: list[Finding] = field(default_factory=list)
    traps: dict[tuple[Loc, bool], Trap] = field(init=False)
    told: Counter[str] = field(default_factory=Counter)
    alike: dict[tuple[str, str, str], _Alike] | None = None

    def __post_init__(self) -> None:
        self.traps = {(trap.loc, trap.is_key): trap for trap in self.document.traps()}

    @property
    def root(self) -> Place:
        """The whole document."""
        return Place(self, ())

    @contextmanager
    def folding(self, what: str) -> Iterator[None]:
        """Tell of what the items of a list (``volumes``) have in common at a few of them, and count the rest.

        Findings are alike that say the same but for the number of the item.
        """
        outer, self.alike = self.alike, {}
        try:
            yield
        finally:
            for each in self.alike.values():
                if each.count > MOST_ALIKE:
                    last = self.findings[each.last]
                    message = f"{last.message}; so it is at {each.count - MOST_ALIKE:,} more {what}"
                    self.findings[each.last] = replace(last, message=message)
            self.alike = outer

    @property
    def failed(self) -> bool:
        """Whether anything was found that makes the file wrong."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Place:
    """One value of a document: what is found about it is found here."""

    check: Check
    loc: Loc

    def __truediv__(self, step: str | int) -> Place:
        return Place(self.check, (*self.loc, step))

    @property
    def name(self) -> str:
        """The value as a message names it: ``gpu.memory``, ``volumes[3].id``."""
        words = "".join(f"[{step}]" if isinstance(step, int) else f".{shown(step)}" for step in self.loc)
        return words.removeprefix(".") or "the file"

    def found(
        self,
        rule: str,
        message: str,
        hint: str = "",
        *,
        key: bool = False,
        severity: Severity = Severity.ERROR,
        evidence: Sequence[str] = (),
    ) -> None:
        """Record a finding about this value, or about its key."""
        if self._is_folded(rule, message, hint) or self.has_told_enough(rule):
            return
        self.check.told[rule] += 1
        position = self.check.document.position(self.loc, key=key)
        if self.has_told_enough(rule):
            message, hint = MORE, MORE_HINT
        found = Finding(position, rule, message, hint, severity, tuple(evidence))
        self.check.findings.append(found)

    def _is_folded(self, rule: str, message: str, hint: str) -> bool:
        """Count a finding that is like earlier ones; whether it is one too many to be told by itself."""
        if self.check.alike is None:
            return False
        key = rule, _INDEX.sub("[]", message), _INDEX.sub("[]", hint)
        if self.has_told_enough(rule) and key not in self.check.alike:
            return False
        alike = self.check.alike.setdefault(key, _Alike())
        alike.count += 1
        if alike.count <= MOST_ALIKE:
            alike.last = len(self.check.findings)
        return alike.count > MOST_ALIKE

    def has_told_enough(self, rule: str) -> bool:
        """Whether more findings of this rule would help nobody."""
        return self.check.told[rule] > MOST_TOLD

    def refuse(self, rule: str, message: str, hint: str = "", *, key: bool = False) -> NoReturn:
        """Record an error about this value, and leave it."""
        self.found(rule, message, hint, key=key)
        raise RefusedError

    def refuse_trap(self, hint: str) -> None:
        """Leave a scalar that readers of YAML disagree on, whatever was expected here."""
        if self.check.traps and (trap := self.check.traps.get((self.loc, False))):
            self.refuse("yaml-trap", f"`{shown(trap.scalar.text)}` is {readings(trap.scalar.text)}", hint)

    def refuse_trap_key(self) -> None:
        """Leave a value whose key some reader of YAML takes for something else than text."""
        if self.check.traps and (trap := self.check.traps.get((self.loc, True))):
            text = trap.scalar.text
            self.refuse(
                "yaml-trap", f"the key `{shown(text)}` is {readings(text)}", quote_hint(text), key=True
            )

    def refuse_type(self, value: object, expected: str) -> NoReturn:
        """Leave a value of another type than expected; text that YAML reads as something else is a trap."""
        scalar = self.check.document.scalar(self.loc)
        if expected == "text" and scalar is not None and not scalar.quoted and scalar.text:
            self.refuse(
                "yaml-trap",
                f"`{shown(scalar.text)}` is {readings(scalar.text)}, and text is expected here",
                quote_hint(scalar.text),
            )
        if value is None:
            self.refuse("no-value", f"`{self.name}` has no value", "fill it in, or take the key out")
        hint = f"write {expected}"
        if scalar is not None and scalar.quoted and described(read_plain(scalar.text)) != "text":
            hint = f"the quotes make it text: write {shown(scalar.text)} without them"
        self.refuse("wrong-type", f"`{self.name}` must be {expected}, and this is {type_words(value)}", hint)

    def traps_below(self) -> None:
        """Tell of the traps in a part of the file that is passed on as it is; there they are warnings."""
        for (loc, is_key), trap in self.check.traps.items():
            if loc[: len(self.loc)] == self.loc:
                text = trap.scalar.text
                ours = read_plain(text)
                impossible = isinstance(ours, float) and not math.isfinite(ours)
                severity = Severity.ERROR if impossible else Severity.WARNING
                passed_on = "JSON cannot hold it" if impossible else f"{described(ours)} is passed on"
                message = f"`{shown(text)}` is {readings(text)}; {passed_on}"
                Place(self.check, loc).found(
                    "yaml-trap", message, quote_hint(text), key=is_key, severity=severity
                )


def quote_hint(text: str) -> str:
    """How to write a scalar so that every reader takes it for text."""
    quoted = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"if text is meant, put it in quotes: {shown(quoted)}"


def shown(text: str) -> str:
    """A text from a file as a message shows it: one line, not too long, no password of an address."""
    line = CREDENTIALS.sub("//…@", text.replace("\r", " ").replace("\n", " "))
    return line if len(line) <= LONGEST_SHOWN else line[: LONGEST_SHOWN - 1] + "…"


def type_words(value: object) -> str:
    """The type of a value in the words of a message."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return f"the text `{shown(value)}`" if value else "an empty text"
    return described(value) if value is None or isinstance(value, bool | int | float) else "something else"
