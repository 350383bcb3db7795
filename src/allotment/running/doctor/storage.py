"""Whether the bucket keeps what it has to: it can be written, and a key that is there is never written over.

A folder is tried in a hidden folder of its own inside it, which is taken away again; an object store keeps
the one small object of all trials, for nothing of ours ever deletes there.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from allotment.answers import Answer, fine, note, problem
from allotment.buckets.folder import FolderBucket
from allotment.buckets.opening import Options, bucket_folder, is_address, open_interruptible
from allotment.buckets.proof import prove
from allotment.running.doctor.machine import nearest, room

MOST_SKEW = 5.0
KEPT = "what is there is never written over"


def bucket(
    name: str, base: Path, team: str, options: Options, environ: Mapping[str, str]
) -> Iterator[Answer]:
    """Whether the bucket can be used, proved by trying."""
    if not is_address(name):
        yield from folder(bucket_folder(name, base))
        return
    prove(open_interruptible(name, base, options=options, environ=environ), team, name)
    yield fine("bucket", f"{name} can be written, and {KEPT}")


def folder(path: Path, clock: Callable[[], float] = time.time) -> Iterator[Answer]:
    """Whether a folder can be a bucket."""
    place = nearest(path)
    if path.is_symlink() and not path.exists():
        hint = "mend the link, or name another `bucket` in the platform's file"
        yield problem("bucket", f"{path} is a link that leads nowhere, or to itself", hint)
        return
    if not place.is_dir():
        yield problem("bucket", f"{place} is no folder", "name another `bucket` in the platform's file")
        return
    try:
        trial = Path(tempfile.mkdtemp(prefix=".allot-doctor-", dir=place))
    except OSError as error:
        remedy = "name a folder that this user may write, as `bucket` in the platform's file"
        yield problem("bucket", f"{path} cannot be written: {error.strerror}", remedy)
        return
    try:
        prove(FolderBucket(trial), "doctor", str(path))
        yield from room("bucket", path, place)
        yield fine("bucket", f"{KEPT} ({_how(trial)})")
        skew = trial.stat().st_mtime - clock()
        if abs(skew) > MOST_SKEW:
            words = f"the clock of the bucket's file system is {abs(skew):.0f} s off this machine's"
            yield problem("clock", words, "set both by NTP: leases are told by the time")
    finally:
        shutil.rmtree(trial, ignore_errors=True)
    if not path.exists():
        yield note("bucket", f"{path} is not there yet; `allot run` makes it")


def _how(trial: Path) -> str:
    """How the file system lets a whole file appear."""
    try:
        descriptor = os.open(trial, os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC, 0o600)
    except (OSError, AttributeError):
        return "hard links, by hidden names"
    os.close(descriptor)
    return "hard links, from files without a name"
