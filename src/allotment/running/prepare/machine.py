"""What a preparation made, on this machine: fetched once into the user's cache folder, then only read.

It lies under ``prepared/<team>/<pipeline>/<recipe>-<digest>`` of ``ALLOT_CACHE``, else of
``~/.cache/allotment``, and is complete or not there at all: it is filled beside its place and moved there
last. Who fetches holds a lock; a fetch that was killed is begun anew by the next.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from allotment.buckets.keys import RecipeKeys
from allotment.buckets.once import PatientBucket
from allotment.running.endings import VolumeFailedError
from allotment.running.prepare.cache import Made, fetch, read_made


def cache_folder(environ: Mapping[str, str]) -> Path:
    """The user's cache folder: ``ALLOT_CACHE``, else the XDG cache folder."""
    if chosen := environ.get("ALLOT_CACHE"):
        return Path(chosen).expanduser().absolute()
    base = environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "allotment"


def machine_folder(cache: Path, keys: RecipeKeys, made: Made) -> Path:
    """Where what was made for a recipe lies on this machine, or will."""
    return cache / "prepared" / keys.team / keys.pipeline / f"{keys.recipe}-{made.digest}"


def is_prepared(bucket: PatientBucket, keys: RecipeKeys, cache: Path) -> bool:
    """Whether a recipe is prepared, and what was made is on this machine."""
    try:
        made = read_made(bucket, keys.prepared)
    except VolumeFailedError:  # whoever prepares says in words what is wrong with it
        return False
    return made is not None and machine_folder(cache, keys, made).is_dir()


def bring(bucket: PatientBucket, keys: RecipeKeys, cache: Path) -> Path:
    """The folder of what was made for a recipe, fetched if it is not here yet.

    Raises `VolumeFailedError` when nothing was made, or when there is no room for it.
    """
    made = read_made(bucket, keys.prepared)
    if made is None:
        raise VolumeFailedError("not-prepared", "its recipe is not prepared yet; `allot run` does that first")
    folder = machine_folder(cache, keys, made)
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _locked(folder.with_name(f"{folder.name}.lock")):
            if not folder.is_dir():
                new = folder.with_name(f"{folder.name}.new")
                shutil.rmtree(new, ignore_errors=True)
                new.mkdir()
                fetch(bucket, keys.prepared, made, new)
                new.rename(folder)
    except OSError as error:
        message = f"what `prepare` made cannot be kept under {folder.parent}: {error.strerror}"
        raise VolumeFailedError("cache-folder", f"{message}; name another folder in ALLOT_CACHE") from error
    return folder


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
