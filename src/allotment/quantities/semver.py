"""Versions in the form of semver.org 2.0.0, compared as Kubernetes compares them.

Device drivers publish versions as attributes of their own type, and selectors compare them. Kubernetes takes
them by way of blang/semver (strict: three numbers, no leading zeros, no ``v``); ``normalize`` is what its
selectors' ``semver(text, true)`` forgives. Build metadata never counts.
"""

from __future__ import annotations

from functools import total_ordering
from typing import Final, Self

from allotment.quantities.quoting import quoted

_DIGITS: Final = frozenset("0123456789")
_WORD: Final = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-")
_LARGEST: Final = 2**64 - 1


class SemverError(ValueError):
    """A text that is no version; the message is that of blang/semver, which selectors pass on."""


@total_ordering
class Semver:
    """A version: three numbers, and what comes before a release."""

    __slots__ = ("_rank", "build", "major", "minor", "patch", "prerelease")

    def __init__(
        self,
        major: int,
        minor: int,
        patch: int,
        prerelease: tuple[int | str, ...] = (),
        build: tuple[str, ...] = (),
    ) -> None:
        self.major = major
        self.minor = minor
        self.patch = patch
        self.prerelease = prerelease
        self.build = build
        parts = tuple((0, part, "") if isinstance(part, int) else (1, 0, part) for part in prerelease)
        self._rank = (major, minor, patch, not prerelease, parts)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The version that a text says."""
        if not text:
            raise SemverError("Version string empty")
        parts = text.split(".", 2)
        if len(parts) != 3:
            raise SemverError("No Major.Minor.Patch elements found")
        major = _number(parts[0], "major")
        minor = _number(parts[1], "minor")
        patch, plus, build = parts[2].partition("+")
        patch, minus, prerelease = patch.partition("-")
        number = _number(patch, "patch")
        before = tuple(_prerelease(part) for part in prerelease.split(".")) if minus else ()
        after = tuple(_build(part) for part in build.split(".")) if plus else ()
        return cls(major, minor, number, before, after)

    @classmethod
    def normalize(cls, text: str) -> Self:
        """The version that a text says, a leading ``v``, leading zeros and missing numbers forgiven."""
        parts = [_unpadded(part) for part in text.removeprefix("v").split(".", 2)]
        if len(parts) < 3:
            if set(parts[-1]) & {"+", "-"}:
                raise SemverError("short version cannot contain PreRelease/Build meta data")
            parts += ["0"] * (3 - len(parts))
        return cls.parse(".".join(parts))

    def compare(self, other: Semver) -> int:
        """-1, 0 or 1: which comes later."""
        return (self._rank > other._rank) - (self._rank < other._rank)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Semver) and self._rank == other._rank

    def __lt__(self, other: Semver) -> bool:
        return self._rank < other._rank

    def __hash__(self) -> int:
        return hash(self._rank)

    def __str__(self) -> str:
        before = "-" + ".".join(map(str, self.prerelease)) if self.prerelease else ""
        after = "+" + ".".join(self.build) if self.build else ""
        return f"{self.major}.{self.minor}.{self.patch}{before}{after}"

    def __repr__(self) -> str:
        return f"Semver({str(self)!r})"


def _number(text: str, what: str) -> int:
    if not set(text) <= _DIGITS:
        raise SemverError(f"Invalid character(s) found in {what} number {quoted(text)}")
    if len(text) > 1 and text[0] == "0":
        raise SemverError(f"{what.capitalize()} number must not contain leading zeroes {quoted(text)}")
    if not text:
        raise SemverError('strconv.ParseUint: parsing "": invalid syntax')
    if int(text[:21]) > _LARGEST:
        raise SemverError(f"strconv.ParseUint: parsing {quoted(text)}: value out of range")
    return int(text)


def _prerelease(part: str) -> int | str:
    if not part:
        raise SemverError("Prerelease is empty")
    if set(part) <= _DIGITS:
        if len(part) > 1 and part[0] == "0":
            raise SemverError(f"Numeric PreRelease version must not contain leading zeroes {quoted(part)}")
        if int(part[:21]) > _LARGEST:
            raise SemverError(f"strconv.ParseUint: parsing {quoted(part)}: value out of range")
        return int(part)
    if not set(part) <= _WORD:
        raise SemverError(f"Invalid character(s) found in prerelease {quoted(part)}")
    return part


def _build(part: str) -> str:
    if not part:
        raise SemverError("Build meta data is empty")
    if not set(part) <= _WORD:
        raise SemverError(f"Invalid character(s) found in build meta data {quoted(part)}")
    return part


def _unpadded(part: str) -> str:
    """A number without leading zeros; what follows the digits stays."""
    if len(part) < 2:
        return part
    rest = part.lstrip("0")
    return rest if rest and rest[0] in _DIGITS else f"0{rest}"
