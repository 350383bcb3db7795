"""What a bucket can do for us, and how it fails: create-only keys, reads and lists, nothing else.

There is no overwrite, no delete and no compare-and-swap, because a folder and some object stores cannot do
them safely; "create, or learn that it exists" is what all of them can (a hard link in a folder,
``If-None-Match: *`` on S3). Whatever is built on a bucket needs no more than this.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from allotment.errors import EXIT_WORLD, AllotmentError, WorldError


class Entry(NamedTuple):
    """One object of a list."""

    key: str
    size: int


class Bucket(Protocol):
    """Objects by key. Keys are names joined by ``/``; a prefix of a list ends with ``/`` or is empty."""

    def create(self, key: str, data: bytes) -> None:
        """Write an object that is not there yet, wholly or not at all; raises `KeyExists` if it is."""

    def read(self, key: str, most: int | None = None) -> bytes:
        """The object's bytes; raises `KeyMissing`, and `ObjectRefused` for more than ``most`` of them."""

    def exists(self, key: str) -> bool:
        """Whether the object is there."""

    def list(self, prefix: str) -> Iterator[Entry]:
        """Every object below a prefix, in no order; those written meanwhile may be missing."""

    def list_folders(self, prefix: str) -> tuple[str, ...]:
        """The names directly below a prefix that have objects below them, sorted."""


@dataclass(eq=False)
class KeyExists(AllotmentError):  # noqa: N818 - named for what was met
    """The key is taken; nothing was written."""

    key: str = ""


@dataclass(eq=False)
class KeyMissing(AllotmentError):  # noqa: N818 - named for what was met
    """Nothing is there under the key."""

    key: str = ""


@dataclass(eq=False)
class BucketUnavailable(WorldError):  # noqa: N818 - named for what was met
    """The bucket did not answer as it should; whether the operation took place is not known."""


@dataclass(eq=False)
class BucketGivenUp(BucketUnavailable):
    """Nobody wanted to wait for the bucket any longer; it is not tried again."""


@dataclass(eq=False)
class BucketRefused(WorldError):  # noqa: N818 - named for what was met
    """The bucket will not take or give this, now or later: permission, a bad name, a read-only folder."""


@dataclass(eq=False)
class ObjectRefused(BucketRefused):
    """What lies under this one key is no object of ours: a link, a device, something far too large."""


@dataclass(eq=False)
class Conflict(AllotmentError):  # noqa: N818 - named for what was met
    """Other bytes are there under the key than those that were to be written once."""

    key: str = ""
    exit_code: int = field(default=EXIT_WORLD, kw_only=True)


def key_exists(key: str) -> KeyExists:
    """The error for a taken key."""
    return KeyExists("the key is taken, and keys are written once", key, key=key)


def too_large(key: str, most: int) -> ObjectRefused:
    """The error for an object that is larger than it can be."""
    return ObjectRefused(f"it is damaged: it has more than {most} bytes", key, "move it away")


def key_missing(key: str) -> KeyMissing:
    """The error for a key with nothing under it."""
    return KeyMissing("nothing is there under this key", key, key=key)
