"""What a worker is told to do, as one JSON file: volumes, steps, bucket, limits, its place on the machine.

The engine (or a pod's ConfigMap) writes it, `python -m allotment.running --assignment FILE [--index N]` reads
it. An assignment that does not hold together is refused as a whole, with the key that is wrong. This module
imports nothing large: a worker reads its assignment before it sets its limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, cast

FORMAT_VERSION = 1

T = TypeVar("T")


class AssignmentError(Exception):
    """The assignment is not one; the message names the key and what was expected there."""


@dataclass(frozen=True, slots=True)
class StepSpec:
    """A step by name, one of the entry points or ``module:function``, and its settings."""

    step: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VolumeSpec:
    """A volume by its id, and its source as ``{kind: where}``; kinds are those of `running.sources`."""

    id: str
    source: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Limits:
    """What the platform allows; seconds and counts as in the platform's ``defaults``."""

    max_seconds: float | None = 21_600
    page_seconds: float | None = 600
    grace_seconds: float = 120
    retries: int = 3
    reclaims: int = 20
    look_ahead: int = 16
    lease_wait_seconds: float = 0
    max_pixels: int = 200_000_000


@dataclass(frozen=True, slots=True)
class Network:
    """What may be fetched from where: nothing, unless the platform says so; sizes in bytes.

    ``hosts``, ``private`` and ``buckets`` are the platform's ``sources``. ``per_host`` requests go to one
    host at once; ``whole_seconds`` is the time for one page with all tries and pauses, ``read_seconds`` for
    the next piece of it.
    """

    hosts: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    per_host: int = 8
    tries: int = 4
    connect_seconds: float = 10
    read_seconds: float = 30
    whole_seconds: float = 300
    manifest_bytes: int = 16 * 1024 * 1024
    image_bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """The worker's place on the machine: nothing here changes what is computed.

    ``masked`` names the variables of its environment whose values are never shown. ``device_share`` is how
    many bytes it may use of its card's memory (None: the card is its own).
    """

    cpus: tuple[int, ...] | None = None
    threads: int = 1
    memory_limit: int | None = None
    devices: tuple[str, ...] = ()
    parent_pid: int | None = None
    events_fd: int | None = None
    log: str | None = None
    masked: tuple[str, ...] = ()
    device_share: int | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """One worker's work: ``indexes[n]`` is a pack of volumes, run in turn with the steps loaded once.

    ``prepare`` has to be done once for the recipe before, by a worker that is called with ``--prepare``.

    ``root`` is the repository's folder, ``bucket`` a folder (relative to the root) or an address, which is
    reached by ``bucket_options``. Credentials are never among them: they are in the worker's environment.
    """

    team: str
    campaign: str
    pipeline: str
    recipe: str
    steps: tuple[StepSpec, ...]
    indexes: tuple[tuple[VolumeSpec, ...], ...]
    root: str
    bucket: str
    image: str | None = None
    limits: Limits = Limits()
    worker: WorkerSpec = WorkerSpec()
    network: Network = Network()
    bucket_options: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    prepare: StepSpec | None = None

    def pack(self, index: int) -> tuple[VolumeSpec, ...]:
        """The volumes of one index."""
        if not 0 <= index < len(self.indexes):
            raise AssignmentError(f"there is no index {index}: the assignment has {len(self.indexes)}")
        return self.indexes[index]

    def to_json(self) -> dict[str, Any]:
        """The assignment as `read_assignment` takes it."""
        return {
            "format_version": FORMAT_VERSION,
            "team": self.team,
            "campaign": self.campaign,
            "pipeline": self.pipeline,
            "recipe": self.recipe,
            "image": self.image,
            "steps": [{"step": call.step, "settings": dict(call.settings)} for call in self.steps],
            "indexes": [
                [{"id": volume.id, "source": dict(volume.source)} for volume in pack] for pack in self.indexes
            ],
            "root": self.root,
            "bucket": self.bucket,
            "limits": _plain(self.limits),
            "worker": _plain(self.worker),
            "network": _plain(self.network),
            "bucket_options": dict(self.bucket_options),
            "prepare": self.prepare and {"step": self.prepare.step, "settings": dict(self.prepare.settings)},
        }


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


def _plain(value: Limits | WorkerSpec | Network) -> dict[str, Any]:
    plain = {part.name: getattr(value, part.name) for part in fields(value)}
    return {key: list(item) if isinstance(item, tuple) else item for key, item in plain.items()}
