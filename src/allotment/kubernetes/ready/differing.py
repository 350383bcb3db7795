"""Where a live object is not what was rendered, field by field.

A live object says more than what was sent: what the server fills in, and what controllers write. So what was
rendered must be there and mean the same (quantities and durations have several spellings), and what a live
spec says beside it counts only where it is no default. Items of a list that have names are told apart by
them. Facts: defaults of ``admissionregistration.k8s.io/v1`` (``pkg/apis/admissionregistration/v1``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from allotment.kubernetes.follow.fields import mapping
from allotment.kubernetes.kinds import Object
from allotment.quantities.duration import parse_duration
from allotment.quantities.quantity import QuantityError, parse_exact

ABSENT: Final = "nothing"
_LONGEST: Final = 60
_LEFT_OUT: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
_DEFAULTS: Final[Mapping[str, Any]] = {
    "matchPolicy": "Equivalent",
    "scope": "*",
    "globalDefault": False,
    "preemptionPolicy": "PreemptLowerPriority",
}
_LABELS: Final = ("allotment/", "pod-security.kubernetes.io/", "app.kubernetes.io/managed-by")


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that differs, how it is, and how it should be; one that is there beside is ``extra``."""

    path: str
    live: str
    wanted: str = ABSENT
    is_extra: bool = False

    def __str__(self) -> str:
        if self.is_extra:
            return f"{self.path} is {self.live}, of which the platform's file says nothing"
        return f"{self.path} is {self.live}, and should be {self.wanted}"


def differences(wanted: Object, live: Object) -> tuple[Difference, ...]:
    """What a live object has otherwise than the rendered one."""
    return tuple(_differences(wanted, live))


def _differences(wanted: Object, live: Object) -> Iterator[Difference]:
    for key in ("labels", "annotations"):
        yield from _missing_or_other(
            mapping(wanted, "metadata", key), mapping(live, "metadata", key), f"metadata.{key}"
        )
    for name in live["metadata"].get("labels") or {}:
        if name.startswith(_LABELS) and name not in (wanted["metadata"].get("labels") or {}):
            yield Difference(
                f"metadata.labels.{name}", _shown(live["metadata"]["labels"][name]), is_extra=True
            )
    own = {key: value for key, value in wanted.items() if key not in _LEFT_OUT}
    yield from _missing_or_other(own, live, "")
    for key, value in own.items():
        yield from _extra(value, live.get(key), key)


def _missing_or_other(wanted: Any, live: Any, path: str) -> Iterator[Difference]:
    if isinstance(wanted, Mapping) and isinstance(live, Mapping):
        for key, value in wanted.items():
            yield from _missing_or_other(value, live.get(key), f"{path}.{key}".lstrip("."))
    elif _is_list(wanted) and _is_list(live):
        yield from _lists(wanted, live, path)
    elif not same(wanted, live):
        yield Difference(path, _shown(live), _shown(wanted))


def _lists(wanted: Sequence[Any], live: Sequence[Any], path: str) -> Iterator[Difference]:
    named, there = _by_name(wanted), _by_name(live)
    if named is not None and there is not None:
        for name, value in named.items():
            yield from _missing_or_other(value, there.get(name), f"{path}[{name}]")
        for name in there.keys() - named.keys():
            yield Difference(f"{path}[{name}]", _shown(there[name]), is_extra=True)
        return
    if len(wanted) != len(live):
        yield Difference(path, _shown(live), _shown(wanted))
        return
    for number, (value, other) in enumerate(zip(wanted, live, strict=True)):
        yield from _missing_or_other(value, other, f"{path}[{number}]")


def _extra(wanted: Any, live: Any, path: str) -> Iterator[Difference]:
    """What a live value says beside what was asked of it."""
    if isinstance(wanted, Mapping) and isinstance(live, Mapping):
        for key, value in live.items():
            below = f"{path}.{key}"
            if key in wanted:
                yield from _extra(wanted[key], value, below)
            elif not _is_nothing(value) and value is not False and _DEFAULTS.get(key) != value:
                yield Difference(below, _shown(value), is_extra=True)
    elif _is_list(wanted) and _is_list(live):
        named, there = _by_name(wanted), _by_name(live)
        if named is not None and there is not None:
            for name in named.keys() & there.keys():
                yield from _extra(named[name], there[name], f"{path}[{name}]")
        elif len(wanted) == len(live):
            for number, (value, other) in enumerate(zip(wanted, live, strict=True)):
                yield from _extra(value, other, f"{path}[{number}]")


def same(wanted: Any, live: Any) -> bool:
    """Whether two values mean the same: nothing in its forms, an amount or a time in its spellings.

    A server leaves out a zero or a `false` of many fields.
    """
    if wanted == live or ((_is_nothing(wanted) or not wanted) and _is_nothing(live)):
        return True
    if isinstance(wanted, bool) or isinstance(live, bool):
        return False
    if isinstance(wanted, int | float | str) and isinstance(live, int | float | str):
        return any(_equal(read, wanted, live) for read in (parse_exact, parse_duration))
    return False


def _equal(read: Any, wanted: Any, live: Any) -> bool:
    try:
        return bool(read(wanted) == read(live))
    except (QuantityError, ValueError, TypeError):
        return False


def _by_name(values: Sequence[Any]) -> Mapping[str, Any] | None:
    """The items of a list by their names, where all have one of their own."""
    if not all(isinstance(each, Mapping) and isinstance(each.get("name"), str) for each in values):
        return None
    found = {each["name"]: each for each in values}
    return found if len(found) == len(values) else None


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_nothing(value: Any) -> bool:
    return value is None or value in ({}, [], (), "")


def _shown(value: Any) -> str:
    if _is_nothing(value):
        return ABSENT
    text = value if isinstance(value, str) else str(value).replace("'", "")
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
