"""The shapes of fleets and gangs: programs of one's own that do not end, and ones that start together.

Neither has pages or volumes, and so no pipeline; both are what a plain Deployment or Job would run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from allotment.documents.checking import Check, Place, RefusedError, shown
from allotment.documents.shapes import Flag, Integer, Key, ListOf, Record
from allotment.platform.durations import Duration
from allotment.platform.images import IMAGE_BY_DIGEST
from allotment.platform.model import Platform
from allotment.platform.need_shapes import NEED, RESOURCES
from allotment.repository.environment import PROGRAM_ENVIRONMENT
from allotment.repository.file_name import FILE_NAME_KEYS
from allotment.repository.model import Fleet, Gang, Replicas
from allotment.repository.platform_words import (
    TOPOLOGY,
    LaneShape,
    look_at_image,
    look_at_sharing,
    look_at_topology,
)

T = TypeVar("T")
MOST_COPIES: Final = 10_000
LONGEST_ARGUMENT: Final = 128 * 1024


@dataclass(frozen=True, slots=True)
class Argument:
    """One word of a command: any text that a program can be given, an empty one too."""

    def read(self, value: object, place: Place) -> str:
        """The text."""
        place.refuse_trap("put it in quotes: a command's words are text")
        if not isinstance(value, str):
            place.refuse_type(value, "text")
        if "\0" in value or len(value.encode()) >= LONGEST_ARGUMENT:
            place.refuse("bad-text", f"no program can be given `{shown(value)}`", "shorten it, in plain text")
        return value


@dataclass(frozen=True, slots=True)
class Command:
    """A program and its arguments, as a list: no shell reads it, so nothing in it has to be quoted."""

    def read(self, value: object, place: Place) -> tuple[str, ...]:
        """The words."""
        if isinstance(value, str):
            hint = f"write a list: [{', '.join(value.split()[:3])}, …]" if value else "write a list"
            place.refuse("wrong-type", f"`{place.name}` is one text, and no shell takes it apart", hint)
        if not isinstance(value, list):
            place.refuse_type(value, "a list of words")
        if not value or value[0] == "":
            place.refuse(
                "empty-list", f"`{place.name}` names no program", "write the program and its arguments"
            )
        return ARGUMENTS.read(value, place)


@dataclass(frozen=True, slots=True)
class ReplicasShape:
    """How many copies are up: ``2`` is always two; ``{min: 1, max: 4}`` takes what is free."""

    def read(self, value: object, place: Place) -> Replicas:
        """The bounds."""
        if isinstance(value, dict):
            return MIN_MAX.read(value, place)
        if isinstance(value, str | bool | float) or value is None:
            place.refuse_trap("write a whole number, such as 2")
            place.refuse_type(value, "a whole number, or {min: …, max: …}")
        copies = COPIES.read(value, place)
        return Replicas(copies, copies)


def _replicas(values: dict[str, Any], place: Place) -> Replicas:
    replicas = Replicas(values.get("min", 1), values["max"])
    if replicas.min > replicas.max:
        message = f"`{place.name}` is at least {replicas.min} and at most {replicas.max}, which no number is"
        (place / "min").refuse("bad-range", message, "make min at most max")
    return replicas


ARGUMENTS: Final = ListOf(Argument())
COPIES: Final = Integer(1, MOST_COPIES)
MIN_MAX: Final = Record(
    {"min": Key(Integer(0, MOST_COPIES)), "max": Key(COPIES, required="say how many at most")}, _replicas
)


def _shared_keys(platform: Platform) -> dict[str, Key[Any]]:
    """The keys that fleets and gangs both have."""
    return {
        **FILE_NAME_KEYS,
        "image": Key(IMAGE_BY_DIGEST),
        "command": Key(Command()),
        "gpu": Key(NEED, nullable=True),
        "resources": Key(RESOURCES),
        "priority": Key(LaneShape(platform)),
        "preemptible": Key(Flag()),
        "topology": Key(TOPOLOGY),
        "env": Key(PROGRAM_ENVIRONMENT),
    }


def fleet_record(platform: Platform) -> Record[dict[str, Any]]:
    """The whole file of a fleet, under a platform."""
    return Record({**_shared_keys(platform), "replicas": Key(ReplicasShape())}, _as_read)


def gang_record(platform: Platform) -> Record[dict[str, Any]]:
    """The whole file of a gang, under a platform."""
    keys: dict[str, Key[Any]] = {
        **_shared_keys(platform),
        "workers": Key(COPIES, required="say how many workers start together"),
        "min": Key(COPIES),
        "duration": Key(Duration()),
    }
    return Record(keys, _as_read)


def _as_read(values: dict[str, Any], _place: Place) -> dict[str, Any]:
    return values


def read_fleet(check: Check, stem: str, path: Path, platform: Platform) -> Fleet | None:
    """The fleet in a document, or nothing when there is an error about it; findings are in the check."""
    return _read(
        check, fleet_record(platform), platform, lambda values: Fleet(name=stem, path=path, **values)
    )


def read_gang(check: Check, stem: str, path: Path, platform: Platform) -> Gang | None:
    """The gang in a document, or nothing when there is an error about it; findings are in the check."""
    return _read(check, gang_record(platform), platform, lambda values: _gang(values, platform, stem, path))


def _read(
    check: Check, record: Record[dict[str, Any]], platform: Platform, build: Callable[[dict[str, Any]], T]
) -> T | None:
    place = check.root
    try:
        values, complete = record.read_keys(check.document.value, place)
    except RefusedError:
        return None
    look_at_image(values, platform, place)
    look_at_sharing(values.get("gpu"), platform, place / "gpu")
    look_at_topology(values.get("topology"), platform, place)
    _look_at_program(check.document.value, place)
    _look_at_least(values, place)
    if not complete or check.failed:
        return None
    known = {key: value for key, value in values.items() if key not in FILE_NAME_KEYS}
    known["env"] = tuple(known.get("env", {}).values())
    return build({"priority": platform.default_lane, **known, "document": check.document})


def _gang(values: dict[str, Any], platform: Platform, stem: str, path: Path) -> Gang:
    """A gang waits for all of its workers, and gives way as its lane does, unless the file says otherwise."""
    lane = platform.lanes.get(values["priority"])
    usual = {"min": values["workers"], "preemptible": lane is None or lane.preemptible}
    return Gang(name=stem, path=path, **{**usual, **values})


def _look_at_program(written: Mapping[str, Any], place: Place) -> None:
    """Something has to be run: a command, or an image with one of its own."""
    if "command" not in written and "image" not in written:
        hint = "write `command: [program, argument]`, or an `image` that has one of its own"
        place.found("missing-key", "`command` is missing, and there is no `image`", hint)


def _look_at_least(values: Mapping[str, Any], place: Place) -> None:
    """A gang's least number of workers is one that it has."""
    least, workers = values.get("min"), values.get("workers")
    if least is not None and workers is not None and least > workers:
        message = f"`min` is {least}, and there are {workers} workers"
        (place / "min").found("bad-range", message, "make min at most workers")
