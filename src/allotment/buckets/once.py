"""Writing something exactly once, over a bucket that may fail, be slow, or answer twice.

A create that fails may still have taken place (the answer was lost). So a failed create is tried again, and
when the key then turns out to be taken, what is there is compared: the same bytes mean that it is done. Reads
and lists are simply tried again. How often and how long is a value; sleeping and chance are passed in. Pauses
grow, and each is a random part of what it may be ("full jitter"), so that many workers that failed together
do not come back together.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from allotment.buckets.bucket import (
    Bucket,
    BucketGivenUp,
    BucketUnavailable,
    Conflict,
    Entry,
    KeyExists,
    KeyMissing,
    ObjectRefused,
)

T = TypeVar("T")

Sleep = Callable[[float], object]
Dice = Callable[[], float]
"""A number from 0 to 1, a new one each time."""


class Written(StrEnum):
    """What came of writing once."""

    CREATED = "created"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Patience:
    """How often to try again, and the longest pauses in seconds: ``first``, then twice as long each time."""

    tries: int = 6
    first: float = 0.25
    longest: float = 8.0

    def pauses(self) -> Iterator[float]:
        """The longest pause before each further try."""
        pause = self.first
        for _ in range(self.tries - 1):
            yield pause
            pause = min(pause * 2, self.longest)


NO_PATIENCE = Patience(tries=1)
FAR_AWAY = Patience(tries=10, first=0.5, longest=30.0)
"""For a bucket behind a network: a minute or two, as long as a short outage lasts."""


def put_once(
    bucket: Bucket,
    key: str,
    data: bytes,
    *,
    sleep: Sleep,
    patience: Patience = NO_PATIENCE,
    dice: Dice = random.random,
) -> Written:
    """Write an object unless it is there; raises `Conflict` when other bytes are."""
    try:
        bucket.create(key, data)
    except BucketGivenUp:
        raise
    except (KeyExists, BucketUnavailable):
        return again(lambda: _put(bucket, key, data), sleep=sleep, patience=patience, dice=dice)
    return Written.CREATED


def again(act: Callable[[], T], *, sleep: Sleep, patience: Patience, dice: Dice = random.random) -> T:
    """Do something that may be done several times, until the bucket answers."""
    for pause in patience.pauses():
        try:
            return act()
        except BucketGivenUp:
            raise
        except BucketUnavailable:
            sleep(pause * dice())
    return act()


class PatientBucket:
    """A bucket whose reads and lists try again, and whose `create` is safe to try again: for one caller."""

    def __init__(
        self,
        bucket: Bucket,
        *,
        sleep: Sleep,
        patience: Patience = Patience(),
        dice: Dice = random.random,
    ) -> None:
        self.inner = bucket
        self._sleep = sleep
        self._patience = patience
        self._dice = dice

    def put(self, key: str, data: bytes) -> Written:
        """Write an object unless it is there; raises `Conflict` when other bytes are."""
        return put_once(self.inner, key, data, sleep=self._sleep, patience=self._patience, dice=self._dice)

    def read(self, key: str, most: int | None = None) -> bytes:
        """The object's bytes; raises `KeyMissing`."""
        return self._again(lambda: self.inner.read(key, most))

    def exists(self, key: str) -> bool:
        """Whether the object is there."""
        return self._again(lambda: self.inner.exists(key))

    def list(self, prefix: str) -> tuple[Entry, ...]:
        """Every object below a prefix."""
        return self._again(lambda: tuple(self.inner.list(prefix)))

    def list_folders(self, prefix: str) -> tuple[str, ...]:
        """The names directly below a prefix that have objects below them."""
        return self._again(lambda: self.inner.list_folders(prefix))

    def _again(self, act: Callable[[], T]) -> T:
        return again(act, sleep=self._sleep, patience=self._patience, dice=self._dice)


def _put(bucket: Bucket, key: str, data: bytes) -> Written:
    """One more try to write, after one that may or may not have taken place."""
    try:
        bucket.create(key, data)
    except KeyExists:
        pass
    else:
        return Written.CREATED
    try:
        there = bucket.read(key, len(data))
    except ObjectRefused:
        there = None
    except KeyMissing as error:
        raise BucketUnavailable(
            "the bucket says both that a key is taken and that nothing is there", key
        ) from error
    if there == data:
        return Written.SAME
    raise Conflict("other bytes are there than those that were to be written", key, key=key)
