"""Engines of one user on one machine, known to each other: who runs what, and requests to stop.

Each engine has a folder of its own under the user's state folder, with a description and a lock that the
kernel holds for as long as the engine lives, so an engine that was killed is never taken for a living
one. A request to stop is an empty file that the engine finds within its next turn; nothing is asked over
a network.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

from allotment.errors import WorldError

DESCRIPTION = "engine.json"
LOCK = "lock"
OVER = "over"
ASSIGNMENTS = "assignments"
PRIVATE = 0o700


@dataclass(frozen=True, slots=True)
class EngineDescription:
    """What an engine says of itself: its process, when it began (Unix seconds), and what it runs where.

    ``root`` is the folder of the repository. ``pretends`` are the options that name the world whose devices
    its workers have in name only.
    """

    id: str
    pid: int
    started: float
    bucket: str
    team: str
    campaigns: tuple[str, ...]
    root: str = ""
    pretends: tuple[str, ...] = ()


def state_folder(environ: Mapping[str, str]) -> Path:
    """Where logs and engines of this user are kept: ``ALLOT_STATE``, else the XDG state folder."""
    if chosen := environ.get("ALLOT_STATE"):
        return Path(chosen).expanduser().resolve()
    base = environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser() / "allotment"


class Registration:
    """This engine in the list of engines, for as long as it lives; use as a context manager."""

    def __init__(self, state: Path, description: EngineDescription) -> None:
        self.folder = state / "engines" / description.id
        self._description = description
        self._lock = -1

    def __enter__(self) -> Self:
        try:
            for folder in (self.folder.parent, self.folder):
                folder.mkdir(mode=PRIVATE, parents=True, exist_ok=folder != self.folder)
            (self.folder / "stop").mkdir()
            (self.folder / OVER).mkdir()
            (self.folder / "logs").mkdir(mode=PRIVATE)
            (self.folder / ASSIGNMENTS).mkdir()
            self._lock = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            (self.folder / DESCRIPTION).write_text(json.dumps(asdict(self._description)), encoding="utf-8")
        except OSError as error:
            raise WorldError(
                f"cannot keep this engine's state: {error.strerror}",
                where=str(self.folder),
                remedy="name a folder that you may write with ALLOT_STATE",
            ) from error
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder / ASSIGNMENTS, ignore_errors=True)
        os.close(self._lock)

    def stop_requests(self) -> frozenset[str]:
        """The campaigns that somebody asked this engine to stop."""
        try:
            return frozenset(entry.name for entry in os.scandir(self.folder / "stop"))
        except OSError:  # somebody has tidied up: nobody can ask any more, and the work goes on
            return frozenset()

    def stopped(self, campaign: str) -> None:
        """Tell whoever asked that the campaign has stopped."""
        (self.folder / "stop" / campaign).unlink(missing_ok=True)

    def over(self, campaign: str) -> None:
        """Note that nothing more will come of the campaign in this engine."""
        with suppress(OSError):  # somebody has tidied up
            (self.folder / OVER / campaign).touch()


def living_engines(state: Path) -> Iterator[EngineDescription]:
    """The engines of this user that live now, oldest first, each with the campaigns that have not ended."""
    found: list[EngineDescription] = []
    for description in (state / "engines").glob(f"*/{DESCRIPTION}"):
        engine = _description(description) if _locked(description.with_name(LOCK)) else None
        found += [_under_way(engine, description.parent)] if engine is not None else []
    yield from sorted(found, key=lambda engine: (engine.started, engine.id))


def killed_engines(state: Path) -> Iterator[EngineDescription]:
    """The engines of this user that were killed, and whose work no other has taken up since; oldest first."""
    for description in sorted((state / "engines").glob(f"*/{DESCRIPTION}")):
        folder = description.parent
        if (folder / ASSIGNMENTS).is_dir() and not _locked(folder / LOCK):
            engine = _description(description)
            if engine is not None:
                yield _under_way(engine, folder)


def take_up(state: Path, by: EngineDescription) -> None:
    """Forget killed engines of which this one takes up everything that they had not ended."""
    for engine in killed_engines(state):
        alike = (engine.bucket, engine.team) == (by.bucket, by.team)
        if alike and set(engine.campaigns) <= set(by.campaigns):
            shutil.rmtree(state / "engines" / engine.id / ASSIGNMENTS, ignore_errors=True)


def _under_way(engine: EngineDescription, folder: Path) -> EngineDescription:
    left = tuple(name for name in engine.campaigns if not (folder / OVER / name).exists())
    return replace(engine, campaigns=left)


def newest_log(state: Path, bucket: str, team: str, name: str) -> Path | None:
    """The newest log of this name, of this user's engines that ran this team's work into this bucket."""
    found = sorted((state / "engines").glob(f"*/logs/{name}"), key=lambda log: log.parts[-3], reverse=True)
    for log in found:
        engine = _description(log.parent.with_name(DESCRIPTION))
        if engine is not None and (engine.bucket, engine.team) == (bucket, team):
            return log
    return None


def request_stop(state: Path, engine: EngineDescription, campaigns: Iterable[str]) -> None:
    """Ask a living engine to stop these campaigns after the pages in flight."""
    for campaign in campaigns:
        (state / "engines" / engine.id / "stop" / campaign).touch()


def stop_pending(state: Path, engine: EngineDescription, campaigns: Iterable[str]) -> bool:
    """Whether the engine lives and has still to stop one of these campaigns."""
    folder = state / "engines" / engine.id
    return _locked(folder / LOCK) and any((folder / "stop" / campaign).exists() for campaign in campaigns)


def forget_old_engines(state: Path, *, keep: int) -> None:
    """Remove the folders of dead engines, but for the newest, whose logs somebody may still want to read."""
    folders = sorted((state / "engines").glob("*/"), key=lambda folder: folder.name, reverse=True)
    for folder in folders[keep:]:
        if not _locked(folder / LOCK):
            shutil.rmtree(folder, ignore_errors=True)


def _description(path: Path) -> EngineDescription | None:
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        listed = {key: tuple(fields.get(key, ())) for key in ("campaigns", "pretends")}
        return EngineDescription(**{**fields, **listed})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
