"""An S3 bucket as a bucket, over obstore: create-only keys by ``If-None-Match: *``, and nothing but those.

A create is one PUT, however large: obstore's upload in parts knows no create-only mode, and S3 takes up to
5 GiB at once. obstore's own repetitions are off, because a repeated PUT whose first answer was lost would
come back as "the key is taken": creates are repeated above (`allotment.buckets.once`), where bytes are
compared. Reads and lists are repeated here, and a list goes on after the last key that came. Facts: obstore
0.12's documentation of `put` and `list`; "Conditional writes" and "Object size" of the S3 user guide.
"""

from __future__ import annotations

import random
import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from allotment.buckets.bucket import (
    BucketRefused,
    BucketUnavailable,
    Entry,
    key_exists,
    key_missing,
    too_large,
)
from allotment.buckets.once import Dice, Patience, Sleep, again
from allotment.buckets.refusals import code_of, refusal

if TYPE_CHECKING:
    from obstore.store import S3Store

T = TypeVar("T")

MOST_BYTES = 5 << 30
LARGE_BYTES = 8 << 20
SLOWEST_BYTES = 256 << 10
LONGEST_BODY = 3600
LIST_PAGE = 1000
READS = Patience(tries=5, first=0.2, longest=4.0)

_KEY = re.compile(r"(?!\.{1,2}(?:/|$))[^/\0-\x1f]+(?:/(?!\.{1,2}(?:/|$))[^/\0-\x1f]+)*")


@dataclass(frozen=True)
class Reach:
    """How a store is made with time limits of its own: for what is short, and for long bodies.

    ``make`` takes obstore's client options for a limit. Seconds: ``timeout`` for an answer.
    """

    make: Callable[[dict[str, Any]], S3Store]
    timeout: float

    @cached_property
    def short(self) -> S3Store:
        """For small objects, heads and lists: the whole request within the limit."""
        return self.make({"timeout": _seconds(self.timeout)})

    @cached_property
    def reading(self) -> S3Store:
        """For objects of unknown size: each part of the answer within the limit."""
        return self.make({"timeout": _seconds(LONGEST_BODY), "read_timeout": _seconds(self.timeout)})

    def writing(self, size: int) -> S3Store:
        """For an object of this size: longer for a large one."""
        if size <= LARGE_BYTES:
            return self.short
        return self.make({"timeout": _seconds(self.timeout + size / SLOWEST_BYTES)})


class ObjectStoreBucket:
    """Objects below a prefix of an S3 bucket; ``where`` is its address, for messages. Safe for threads."""

    def __init__(
        self,
        reach: Reach,
        where: str,
        *,
        sleep: Sleep = time.sleep,
        dice: Dice = random.random,
        patience: Patience = READS,
    ) -> None:
        self._reach = reach
        self.where = where
        self._sleep = sleep
        self._dice = dice
        self._patience = patience

    def create(self, key: str, data: bytes) -> None:
        """Write an object that is not there yet; tried once, for the caller has to compare afterwards."""
        import obstore
        from obstore.exceptions import AlreadyExistsError, BaseError

        self._check(key)
        if len(data) > MOST_BYTES:
            raise BucketRefused(
                f"an object of {len(data):,} bytes cannot be written at once, and only that is create-only",
                self._at(key),
                "make smaller outputs: an object store takes 5 GiB",
            )
        try:
            obstore.put(self._reach.writing(len(data)), key, data, mode="create", use_multipart=False)
        except AlreadyExistsError as error:
            if code_of(str(error)) == "ConditionalRequestConflict":
                message = "another writer of this key is at it"
                raise BucketUnavailable(message, self._at(key)) from None
            raise key_exists(key) from None
        except (BaseError, OSError) as error:
            raise refusal(error, self._at(key)) from None

    def read(self, key: str, most: int | None = None) -> bytes:
        """The object's bytes."""
        import obstore

        def read() -> bytes:
            found = obstore.get(self._reach.reading, key)
            if most is not None and found.meta["size"] > most:
                raise too_large(key, most)
            return bytes(found.bytes())

        self._check(key)
        try:
            return self._again(read, key)
        except FileNotFoundError:
            raise key_missing(key) from None

    def exists(self, key: str) -> bool:
        """Whether the object is there."""
        import obstore

        self._check(key)
        try:
            self._again(lambda: obstore.head(self._reach.short, key), key)
        except FileNotFoundError:
            return False
        return True

    def list(self, prefix: str) -> Iterator[Entry]:
        """Every object below a prefix, in order; where the list breaks off it is taken up again."""
        self._check_prefix(prefix)
        last: str | None = None
        while True:
            entries, ended = self._again(partial(self._some, prefix, last), prefix)
            yield from entries
            if ended:
                return
            last = entries[-1].key

    def list_folders(self, prefix: str) -> tuple[str, ...]:
        """The names directly below a prefix that have objects below them."""
        import obstore

        def folders() -> tuple[str, ...]:
            found = obstore.list_with_delimiter(self._reach.short, prefix or None)
            return tuple(sorted(folder.rstrip("/").rpartition("/")[2] for folder in found["common_prefixes"]))

        self._check_prefix(prefix)
        return self._again(folders, prefix)

    def _some(self, prefix: str, after: str | None) -> tuple[tuple[Entry, ...], bool]:
        """Entries after a key as far as the list comes without a failure, and whether that is all."""
        import obstore
        from obstore.exceptions import BaseError

        found = deque[Entry]()
        try:
            for page in obstore.list(self._reach.short, prefix or None, offset=after, chunk_size=LIST_PAGE):
                found.extend(Entry(item["path"], item["size"]) for item in page)
        except (BaseError, OSError):
            if not found:
                raise
            return tuple(found), False
        return tuple(found), True

    def _again(self, act: Callable[[], T], key: str) -> T:
        """Do something that may be done several times; only `FileNotFoundError` comes through as it is."""
        from obstore.exceptions import BaseError

        def attempt() -> T:
            try:
                return act()
            except FileNotFoundError as error:
                if code_of(str(error)) == "NoSuchBucket":
                    raise refusal(error, self.where) from None
                raise
            except (BaseError, OSError) as error:
                raise refusal(error, self._at(key)) from None

        return again(attempt, sleep=self._sleep, patience=self._patience, dice=self._dice)

    def _check(self, key: str) -> None:
        if not _KEY.fullmatch(key):
            raise BucketRefused(f"{key!r:.200} cannot be a key", self.where)

    def _check_prefix(self, prefix: str) -> None:
        if prefix and not (prefix.endswith("/") and _KEY.fullmatch(prefix[:-1])):
            raise BucketRefused(f"{prefix!r:.200} cannot be the prefix of a list", self.where)

    def _at(self, key: str) -> str:
        return f"{self.where}/{key}"


def _seconds(seconds: float) -> str:
    return f"{max(1, round(seconds * 1000))}ms"
