"""What this machine has and lets us use: devices, memory, the ledger, and the folders of this user."""

from __future__ import annotations

import os
import resource
import stat
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryFile

from allotment.answers import Answer, fine, note, problem
from allotment.devices.cgroups import memory_limit, processor_limit
from allotment.devices.known_classes import CPU_DRIVER
from allotment.devices.ledger import Ledger
from allotment.devices.world import World
from allotment.quantities import format_gi
from allotment.running.engine.control import (
    EngineDescription,
    killed_engines,
    living_engines,
    state_folder,
)
from allotment.running.prepare.machine import cache_folder
from allotment.running.secrets import secrets_folder

LEAST_FILES = 1024
LEAST_MEMORY = 1 << 30
LEAST_ROOM = 1 << 30
EARLIEST = 1_750_000_000.0  # June 2025: before this version was written
LATEST = 4_000_000_000.0
NVIDIA_SIGNS = ("dev/nvidiactl", "dev/dxg", "proc/driver/nvidia")


def devices(world: World, root: Path = Path("/")) -> Iterator[Answer]:
    """Which devices there are; of cards, why there are none."""
    counts = Counter(device.driver for device, _ in world.devices())
    processors = counts.pop(CPU_DRIVER, 0)
    if processors:
        yield fine("devices", f"{processors} processor{'s' if processors > 1 else ''}")
    else:
        yield problem("devices", "no processor may be used", "look at this process's affinity: taskset -p $$")
    for driver, number in sorted(counts.items()):
        yield fine("devices", f"{number} of {driver}: `allot devices` lists them")
    for sentence in world.notes:
        yield note("devices", sentence)
    if not counts and not world.notes:
        seen = any((root / sign).exists() for sign in NVIDIA_SIGNS) or any(root.glob("dev/dri/render*"))
        why = (
            "there are device files, but no driver of them tells what it has"
            if seen
            else "no driver is loaded"
        )
        yield note("devices", f"no cards: {why}", "needs for cards take their `fallback`, or are refused")


def limits(world: World, root: Path = Path("/")) -> Iterator[Answer]:
    """What control groups and the shell leave us."""
    memory, quota = memory_limit(root), processor_limit(root)
    if world.memory_bytes is None:
        yield note("limits", "how much memory there is cannot be told, so it is not shared out")
    elif world.memory_bytes < LEAST_MEMORY:
        yield problem("limits", f"only {format_gi(world.memory_bytes)} of memory may be used")
    else:
        by = " (a control group's limit)" if memory == world.memory_bytes else ""
        yield fine("limits", f"{format_gi(world.memory_bytes)} of memory{by}")
    if quota is not None:
        yield note("limits", f"a control group gives {quota:g} processors' worth of time")
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < LEAST_FILES:
        yield problem("limits", f"only {soft} files may be open at once", f"ulimit -n {LEAST_FILES}")


def ledger(which: Ledger) -> Iterator[Answer]:
    """Whether the device ledger can be used, and who holds what."""
    with which.locked() as view:
        taken, shares = view.taken(), view.shares()
    yield fine("ledger", f"the device ledger {which.folder} can be used")
    users = Counter(
        f"{holder.user or 'somebody'} for `{holder.campaign or 'something'}`" for holder in taken.values()
    )
    for words, number in sorted(users.items()):
        yield note("ledger", f"{number} device{'s are' if number > 1 else ' is'} held by {words}")
    for device, holders in sorted(shares.items()):
        workers = f"{len(holders)} worker{'s' if len(holders) > 1 else ''}"
        yield note("ledger", f"{device} is shared by {workers}")


def folders(environ: Mapping[str, str]) -> Iterator[Answer]:
    """Whether the user's folders can be written: state and logs, and what preparations made."""
    for check, folder, variable in (
        ("state", state_folder(environ), "ALLOT_STATE"),
        ("cache", cache_folder(environ), "ALLOT_CACHE"),
    ):
        place = nearest(folder)
        try:
            with TemporaryFile(dir=place):
                pass
        except OSError as error:
            words = f"{folder} cannot be written: {error.strerror}"
            yield problem(check, words, f"name a folder that you may write in {variable}")
            continue
        yield from room(check, folder, place)


def room(check: str, folder: Path, place: Path) -> Iterator[Answer]:
    """How much room a folder has."""
    free = os.statvfs(place)
    left = free.f_bavail * free.f_frsize
    if left < LEAST_ROOM:
        yield problem(check, f"{folder} has only {format_gi(left)} of room left", "make room, or move it")
    else:
        yield fine(check, f"{folder} can be written, {format_gi(left)} of room")


def nearest(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    return next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())


def secrets(environ: Mapping[str, str]) -> Iterator[Answer]:
    """Whether others can read what is secret."""
    folder = secrets_folder(environ)
    if not folder.is_dir():
        return
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    for path in files:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            yield problem("secrets", f"others can read or write {path}", f"chmod 600 {path}")
    yield fine("secrets", f"{len(files)} secret{'s' if len(files) != 1 else ''} in {folder}")


def engines(environ: Mapping[str, str]) -> Iterator[Answer]:
    """Which engines of this user live, and which were killed."""
    state = state_folder(environ)
    alive = tuple(living_engines(state))
    for engine in alive:
        words = f"process {engine.pid} runs {_work(engine)}"
        yield note("engines", words, "`allot stop` ends it")
    left = tuple(killed_engines(state))
    for engine in left:
        begun = time.strftime("%Y-%m-%d %H:%M", time.localtime(engine.started))
        words = f"the engine of process {engine.pid}, begun {begun}, was killed at {_work(engine)}"
        again = f"nothing done is lost: allot run {' '.join(engine.campaigns)}"
        yield note("engines", words, again if engine.campaigns else "nothing is lost")
    if not alive and not left:
        yield fine("engines", "no engine of yours runs, and none was left behind")


def _work(engine: EngineDescription) -> str:
    """What an engine had in hand, and of which repository."""
    names = ", ".join(engine.campaigns) or "nothing more"
    return f"{names} of {engine.root}" if engine.root else names


def clock(now: float | None = None) -> Iterator[Answer]:
    """Whether the time is one that leases and events can be told by."""
    moment = time.time() if now is None else now
    if EARLIEST <= moment <= LATEST:
        yield fine("clock", f"the clock says {time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(moment))} UTC")
        return
    remedy = "set it, and keep it with NTP: timedatectl set-ntp true"
    yield problem(
        "clock", f"the clock is wrong: it says {time.strftime('%Y-%m-%d', time.gmtime(moment))}", remedy
    )
