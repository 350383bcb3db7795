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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from allotment.errors import WorldError

DESCRIPTION = "engine.json"
LOCK = "lock"


@dataclass(frozen=True, slots=True)
class EngineDescription:
    """What an engine says of itself: its process, when it began (Unix seconds), and what it runs where."""

    id: str
    pid: int
    started: float
    bucket: str
    team: str
    campaigns: tuple[str, ...]


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
            (self.folder / "stop").mkdir(parents=True)
            (self.folder / "logs").mkdir()
            (self.folder / "assignments").mkdir()
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
        shutil.rmtree(self.folder / "assignments", ignore_errors=True)
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


def living_engines(state: Path) -> Iterator[EngineDescription]:
    """The engines of this user that live now, oldest first."""
    found: list[EngineDescription] = []
    for description in (state / "engines").glob(f"*/{DESCRIPTION}"):
        engine = _description(description) if _locked(description.with_name(LOCK)) else None
        found += [engine] if engine is not None else []
    yield from sorted(found, key=lambda engine: (engine.started, engine.id))


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
        return EngineDescription(**{**fields, "campaigns": tuple(fields["campaigns"])})
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
