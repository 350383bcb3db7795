"""Reading an assignment: what does not hold together is refused as a whole, with the key that is wrong.

Nothing large is imported: a worker reads its assignment before it sets its limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from allotment.running.assignment import (
    FORMAT_VERSION,
    Assignment,
    AssignmentError,
    Limits,
    Network,
    StepSpec,
    VolumeSpec,
    WorkerSpec,
)

T = TypeVar("T")


def read_assignment(value: object) -> Assignment:
    """The assignment that a JSON value describes; raises `AssignmentError`. ``volumes`` is one pack."""
    record = _Reader(value, "")
    version = record.take("format_version", _integer, FORMAT_VERSION)
    if version != FORMAT_VERSION:
        raise AssignmentError(f"format_version is {version}; this version reads {FORMAT_VERSION}")
    if record.has("indexes") == record.has("volumes"):
        raise AssignmentError("exactly one of `indexes` and `volumes` is needed")
    indexes = (
        record.take("indexes", _list_of(_list_of(_volume)))
        if record.has("indexes")
        else (record.take("volumes", _list_of(_volume)),)
    )
    if not indexes or not all(indexes):
        raise AssignmentError("indexes: every index needs a volume")
    steps = record.take("steps", _list_of(_step))
    if not steps:
        raise AssignmentError("steps: at least one is needed")
    assignment = Assignment(
        team=record.take("team", _name),
        campaign=record.take("campaign", _name),
        pipeline=record.take("pipeline", _name),
        recipe=record.take("recipe", _name),
        steps=steps,
        indexes=indexes,
        root=record.take("root", _name),
        bucket=record.take("bucket", _name),
        image=record.take("image", _optional(_text), None),
        limits=record.take("limits", _limits, Limits()),
        worker=record.take("worker", _worker, WorkerSpec()),
        network=record.take("network", _network, Network()),
        bucket_options=record.take("bucket_options", _mapping, {}),
        prepare=record.take("prepare", _optional(_step), None),
    )
    record.nothing_else()
    return assignment


class _Needed:
    """The mark of a key that has no default."""


_NEEDED = _Needed()


class _Reader:
    """Takes the keys of one mapping, each by its kind, and refuses what is left over."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, Mapping):
            raise AssignmentError(f"{where or 'the assignment'}: a mapping is needed, not {_kind(value)}")
        self._left: dict[str, object] = {str(key): item for key, item in value.items()}
        self._where = f"{where}." if where else ""

    def has(self, key: str) -> bool:
        return key in self._left

    def take(self, key: str, kind: Callable[[object, str], T], default: T | _Needed = _NEEDED) -> T:
        where = f"{self._where}{key}"
        if key in self._left:
            return kind(self._left.pop(key), where)
        if isinstance(default, _Needed):
            raise AssignmentError(f"{where} is missing")
        return default

    def nothing_else(self) -> None:
        if self._left:
            raise AssignmentError(f"{self._where}{sorted(self._left)[0]} is no key of an assignment")


def _kind(value: object) -> str:
    return "nothing" if value is None else f"{value!r:.40}"


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise AssignmentError(f"{where}: a text is needed, not {_kind(value)}")
    return value


def _name(value: object, where: str) -> str:
    if not _text(value, where):
        raise AssignmentError(f"{where} is empty")
    return cast("str", value)


def _integer(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise AssignmentError(f"{where}: a whole number is needed, not {_kind(value)}")
    return value


def _count(value: object, where: str) -> int:
    if _integer(value, where) < 0:
        raise AssignmentError(f"{where} must not be negative")
    return cast("int", value)


def _positive(value: object, where: str) -> int:
    if _integer(value, where) < 1:
        raise AssignmentError(f"{where} must be at least 1")
    return cast("int", value)


def _network_address(value: object, where: str) -> str:
    from ipaddress import ip_network

    try:
        ip_network(_text(value, where))
    except ValueError:
        raise AssignmentError(
            f"{where}: a network such as 10.0.0.0/8 is needed, not {_kind(value)}"
        ) from None
    return cast("str", value)


def _seconds(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
        raise AssignmentError(f"{where}: seconds are needed, not {_kind(value)}")
    return value


def _optional(kind: Callable[[object, str], T]) -> Callable[[object, str], T | None]:
    def optional(value: object, where: str) -> T | None:
        return None if value is None else kind(value, where)

    return optional


def _list_of(kind: Callable[[object, str], T]) -> Callable[[object, str], tuple[T, ...]]:
    def list_of(value: object, where: str) -> tuple[T, ...]:
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise AssignmentError(f"{where}: a list is needed, not {_kind(value)}")
        return tuple(kind(item, f"{where}[{place}]") for place, item in enumerate(value))

    return list_of


def _mapping(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise AssignmentError(f"{where}: a mapping is needed, not {_kind(value)}")
    return value


def _step(value: object, where: str) -> StepSpec:
    record = _Reader(value, where)
    step = StepSpec(record.take("step", _name), record.take("settings", _mapping, {}))
    record.nothing_else()
    return step


def _volume(value: object, where: str) -> VolumeSpec:
    record = _Reader(value, where)
    volume = VolumeSpec(record.take("id", _name), record.take("source", _mapping))
    record.nothing_else()
    return volume


_LIMIT_KINDS: Mapping[str, Callable[[object, str], object]] = {
    "max_seconds": _optional(_seconds),
    "page_seconds": _optional(_seconds),
    "grace_seconds": _seconds,
    "retries": _count,
    "reclaims": _count,
    "look_ahead": _positive,
    "lease_wait_seconds": _seconds,
    "max_pixels": _positive,
}

_WORKER_KINDS: Mapping[str, Callable[[object, str], object]] = {
    "cpus": _optional(_list_of(_count)),
    "threads": _positive,
    "memory_limit": _optional(_positive),
    "devices": _list_of(_text),
    "parent_pid": _optional(_positive),
    "events_fd": _optional(_count),
    "log": _optional(_name),
    "masked": _list_of(_name),
    "device_share": _optional(_positive),
}

_NETWORK_KINDS: Mapping[str, Callable[[object, str], object]] = {
    "hosts": _list_of(_text),
    "private": _list_of(_network_address),
    "buckets": _list_of(_text),
    "per_host": _positive,
    "tries": _positive,
    "connect_seconds": _seconds,
    "read_seconds": _seconds,
    "whole_seconds": _seconds,
    "manifest_bytes": _positive,
    "image_bytes": _positive,
}


def _limits(value: object, where: str) -> Limits:
    return Limits(**_taken(value, where, _LIMIT_KINDS))


def _worker(value: object, where: str) -> WorkerSpec:
    return WorkerSpec(**_taken(value, where, _WORKER_KINDS))


def _network(value: object, where: str) -> Network:
    return Network(**_taken(value, where, _NETWORK_KINDS))


def _taken(value: object, where: str, kinds: Mapping[str, Callable[[object, str], object]]) -> dict[str, Any]:
    record = _Reader(value, where)
    taken = {key: record.take(key, kind) for key, kind in kinds.items() if record.has(key)}
    record.nothing_else()
    return taken
