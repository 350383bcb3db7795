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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from allotment.buckets.bodies import MOST_BYTES, read_body
from allotment.buckets.bucket import (
    BucketRefused,
    BucketUnavailable,
    Entry,
    key_exists,
    key_missing,
)
from allotment.buckets.listing import Listing
from allotment.buckets.once import Dice, Patience, Sleep, again
from allotment.buckets.refusals import NO_STORE, code_of, refusal

if TYPE_CHECKING:
    from obstore.store import S3Store

T = TypeVar("T")

LARGE_BYTES = 8 << 20
SLOWEST_BYTES = 256 << 10
LONGEST_BODY = 3600
TIMEOUTS_OF_A_LIST = 10
NOBODYS_KEY = "nothing-has-this-name"
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
        self._is_a_store = False
        self._listing = Listing(
            store=lambda: reach.short,
            base=where.partition("://")[2].partition("/")[2],
            where=where,
            seconds=reach.timeout * TIMEOUTS_OF_A_LIST,
            again=self._again,
        )
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
        limit = MOST_BYTES if most is None else most
        seconds, where = self._reach.timeout, self._at(key)
        store = self._reach.reading

        def read() -> tuple[bytes, bool]:
            return read_body(store, key, where, most=limit, seconds=seconds)

        self._check(key)
        try:
            data, tagged = self._again(read, key)
        except FileNotFoundError:
            raise key_missing(key) from None
        if not tagged:
            self._ask_for_nothing()
        return data

    def exists(self, key: str) -> bool:
        """Whether the object is there."""
        import obstore

        self._check(key)
        try:
            about = self._again(lambda: obstore.head(self._reach.short, key), key)
        except FileNotFoundError:
            return False
        if about["e_tag"] is None:
            self._ask_for_nothing()
        return True

    def list(self, prefix: str) -> Iterator[Entry]:
        """Every object below a prefix, in order; where the list breaks off it is taken up again."""
        self._check_prefix(prefix)
        found = False
        for entry in self._listing.entries(prefix):
            found = True
            yield entry
        if not found:
            self._ask_for_nothing()

    def list_folders(self, prefix: str) -> tuple[str, ...]:
        """The names directly below a prefix that have objects below them."""
        self._check_prefix(prefix)
        found = self._listing.folders(prefix)
        if not found:
            self._ask_for_nothing()
        return found

    def _ask_for_nothing(self) -> None:
        """Ask once for what nobody ever wrote: who has it gives the same answer to everything."""
        import obstore

        if self._is_a_store:
            return
        try:
            self._again(lambda: obstore.head(self._reach.short, NOBODYS_KEY), NOBODYS_KEY)
        except FileNotFoundError:
            self._is_a_store = True
            return
        raise BucketRefused(NO_STORE.what, self.where, NO_STORE.remedy)

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
