"""Our own format of traces: JSON Lines, one work a line, which people write and other tools make easily.

`docs/simulate.md` lists the keys. A key that is not known is refused, for a misspelled one would be left out
of every figure without a word; so is a value of another type, and a name that stands twice.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from allotment.errors import AllotmentError, did_you_mean
from allotment.quantities import QuantityError, parse_bytes
from allotment.simulation.traces.jobs import WHOLE, Job, JobEnd, JobKind
from allotment.simulation.traces.tables import MOST, MOST_CARDS, opened

_MIB: Final = 1024**2
_MANY: Final = 1_000_000
_KEYS: Final = (
    "work",
    "arrival",
    "team",
    "user",
    "kind",
    "pods",
    "gpus",
    "models",
    "cpu",
    "memory",
    "volumes",
    "pages",
    "seconds",
    "priority",
    "preemptible",
    "end",
)


def read_jobs(path: Path) -> tuple[Job, ...]:
    """The works of a file, in its order."""
    jobs: dict[str, Job] = {}
    with opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            entry = _Entry(_object(line, f"{path}:{number}"), f"{path}:{number}")
            job = _job(entry, number)
            if job.name in jobs:
                raise AllotmentError(f"the work `{job.name}` stands there twice", where=entry.where)
            jobs[job.name] = job
    return tuple(jobs.values())


def lines_of(jobs: Iterable[Job]) -> Iterator[str]:
    """Jobs as lines of the format; what is as when it is left out is left out."""
    plain = Job("")
    for job in jobs:
        gpus = job.gpus if job.share in {0, WHOLE} else job.gpus * job.share / WHOLE
        cells: dict[str, tuple[object, object]] = {
            "arrival": (job.arrival, None),
            "team": (job.team, ""),
            "user": (job.user, ""),
            "kind": (str(job.kind), str(plain.kind)),
            "pods": (job.pods, 1),
            "gpus": (gpus, 1),
            "models": (list(job.models), []),
            "cpu": (job.cpu / 1000, 0),
            "memory": (f"{job.memory}Mi", "0Mi"),
            "volumes": (job.volumes, 1),
            "pages": (job.pages, 0),
            "seconds": (job.seconds, None),
            "priority": (job.priority, 0),
            "preemptible": (job.preemptible, True),
            "end": (str(job.end), str(plain.end)),
        }
        told = {key: value for key, (value, left_out) in cells.items() if value != left_out}
        yield json.dumps({"work": job.name, **told}, ensure_ascii=False, separators=(", ", ": "))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no key stands twice."""
    told = dict(pairs)
    if len(told) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"`{twice}` stands twice in it")
    return told


def _object(line: str, where: str) -> Mapping[str, Any]:
    try:
        told = json.loads(line, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise AllotmentError(f"this line is no JSON: {error}", where=where) from None
    if not isinstance(told, dict):
        raise AllotmentError("this line is no object", where=where, remedy='write {"work": "name", …}')
    for key in told:
        if key not in _KEYS:
            raise AllotmentError(f"`{key}` is no key of a work", where=where, remedy=did_you_mean(key, _KEYS))
    return told


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line's object, and where it stands."""

    told: Mapping[str, Any]
    where: str

    def text(self, key: str, otherwise: str = "") -> str:
        value = self.told.get(key, otherwise)
        if not isinstance(value, str):
            raise self.refused(key, "a text")
        return value

    def number(self, key: str, otherwise: float, *, least: float = 0.0, most: float = MOST) -> float:
        value = self.told.get(key, otherwise)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refused(key, "a number")
        if not math.isfinite(value) or value < least:
            raise self.refused(key, f"a number from {least:g} up")
        if value > most:
            raise self.refused(key, f"a number up to {most:,.0f}")
        return float(value)

    def whole(self, key: str, otherwise: int, *, least: float = 0, most: int = _MANY) -> int:
        value = self.number(key, otherwise, least=least, most=most)
        if value != int(value):
            raise self.refused(key, "a whole number")
        return int(value)

    def yes(self, key: str, *, otherwise: bool) -> bool:
        value = self.told.get(key, otherwise)
        if not isinstance(value, bool):
            raise self.refused(key, "true or false")
        return value

    def one_of(self, key: str, known: type[JobKind] | type[JobEnd], otherwise: str) -> str:
        value = self.text(key, otherwise)
        if value not in set(known):
            raise self.refused(key, f"one of {', '.join(known)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.told.get(key, [])
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(value)
        raise self.refused(key, "a list of texts")

    def memory(self, key: str) -> int:
        """In MiB, rounded up."""
        try:
            return -(-parse_bytes(self.text(key, "0")) // _MIB)
        except QuantityError:
            raise self.refused(key, "a quantity such as `16Gi`") from None

    def refused(self, key: str, wanted: str) -> AllotmentError:
        told = json.dumps(self.told.get(key), ensure_ascii=False)
        return AllotmentError(f"`{key}` is {told}, and not {wanted}", where=self.where)

    def missing(self, key: str, example: str) -> AllotmentError:
        return AllotmentError(f"`{key}` is missing", where=self.where, remedy=f"write {example}")


def _job(entry: _Entry, number: int) -> Job:
    name = entry.text("work", f"work-{number}")
    if not name:
        raise entry.refused("work", "a name")
    kind = JobKind(entry.one_of("kind", JobKind, JobKind.JOB))
    if kind is not JobKind.FLEET and "seconds" not in entry.told:
        raise entry.missing("seconds", 'how long it takes: "seconds": 3600')
    if kind is JobKind.FLEET and "seconds" in entry.told:
        raise entry.refused("seconds", "of a fleet, which does not end")
    gpus, share = _cards(entry)
    seconds = None if kind is JobKind.FLEET else entry.number("seconds", -1.0, least=0.0)
    return Job(
        name,
        entry.number("arrival", 0.0),
        entry.text("user"),
        entry.text("team"),
        kind,
        pods=entry.whole("pods", 1, least=1, most=MOST_CARDS),
        gpus=gpus,
        share=share,
        models=entry.texts("models"),
        cpu=round(entry.number("cpu", 0.0) * 1000),
        memory=entry.memory("memory"),
        volumes=entry.whole("volumes", 1, least=1, most=MOST_CARDS),
        pages=entry.whole("pages", 0),
        seconds=seconds,
        priority=entry.whole("priority", 0, least=-math.inf),
        preemptible=entry.yes("preemptible", otherwise=True),
        end=JobEnd(entry.one_of("end", JobEnd, JobEnd.UNKNOWN)),
    )


def _cards(entry: _Entry) -> tuple[int, int]:
    """How many cards a pod has, and which share of each: a part of a card, or whole ones."""
    value = entry.number("gpus", 1.0)
    if 0 < value < 1:
        return 1, max(1, round(value * WHOLE))
    return entry.whole("gpus", 1), WHOLE
