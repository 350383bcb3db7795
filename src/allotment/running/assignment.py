"""What a worker is told to do, as one JSON file: volumes, steps, bucket, limits, its place on the machine.

The engine (or a pod's ConfigMap) writes it, `python -m allotment.running --assignment FILE [--index N]` reads
it (``reading_assignment``). Nothing large is imported: a worker reads its assignment before it sets its
limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

FORMAT_VERSION = 1


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


def _plain(value: Limits | WorkerSpec | Network) -> dict[str, Any]:
    plain = {part.name: getattr(value, part.name) for part in fields(value)}
    return {key: list(item) if isinstance(item, tuple) else item for key, item in plain.items()}
