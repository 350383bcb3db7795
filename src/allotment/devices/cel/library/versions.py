"""Versions in selectors: ``semver('1.2.3')``, ``isGreaterThan``, ``major`` (apiserver's
``library/semverlib.go``).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.declarations import Library, Overload, member
from allotment.devices.cel.problems import EvaluationError
from allotment.quantities.semver import Semver, SemverError


@lru_cache(maxsize=1024)
def parse_semver(text: str, *, normalize: bool = False) -> Semver:
    """A version from its text; what is no version is an error of the evaluation."""
    try:
        return Semver.normalize(text) if normalize else Semver.parse(text)
    except SemverError as error:
        raise EvaluationError(str(error)) from error


def _semver(text: str, normalize: bool = False) -> Semver:  # noqa: FBT001, FBT002 - as selectors call it
    return parse_semver(text, normalize=normalize)


def _is_semver(text: str, normalize: bool = False) -> bool:  # noqa: FBT001, FBT002 - as selectors call it
    try:
        parse_semver(text, normalize=normalize)
    except EvaluationError:
        return False
    return True


def _is_greater(one: Semver, other: Semver) -> bool:
    return one.compare(other) > 0


def _is_less(one: Semver, other: Semver) -> bool:
    return one.compare(other) < 0


def _major(version: Semver) -> int:
    return version.major


def _minor(version: Semver) -> int:
    return version.minor


def _patch(version: Semver) -> int:
    return version.patch


_V: Final = t.SEMVER
_PARSE: Final = Overload("string_to_semver", (t.STRING,), _V, _semver)
_IS: Final = Overload("is_semver_string", (t.STRING,), t.BOOL, _is_semver)
_OF_VERSIONS: Final[dict[str, tuple[Overload, ...]]] = {
    "isGreaterThan": (member("semver_is_greater_than", (_V, _V), t.BOOL, _is_greater),),
    "isLessThan": (member("semver_is_less_than", (_V, _V), t.BOOL, _is_less),),
    "compareTo": (member("semver_compare_to", (_V, _V), t.INT, Semver.compare),),
    "major": (member("semver_major", (_V,), t.INT, _major),),
    "minor": (member("semver_minor", (_V,), t.INT, _minor),),
    "patch": (member("semver_patch", (_V,), t.INT, _patch),),
}
VERSIONS_BEFORE_1_33: Final = Library({"semver": (_PARSE,), "isSemver": (_IS,), **_OF_VERSIONS})
VERSIONS: Final = Library(
    {
        "semver": (_PARSE, Overload("string_bool_to_semver", (t.STRING, t.BOOL), _V, _semver)),
        "isSemver": (_IS, Overload("is_semver_string_bool", (t.STRING, t.BOOL), t.BOOL, _is_semver)),
        **_OF_VERSIONS,
    },
)
