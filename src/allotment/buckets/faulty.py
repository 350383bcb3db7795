"""A bucket that misbehaves on purpose: it fails before or after acting, answers twice, is slow, or kills.

Real buckets do each of these. A plan says which operation meets which fault; plans made from a seed are
repeatable. Death stands for a process that is killed at this very operation: it is no `Exception`, and from
then on nothing gets through, so that nothing a dying program does can reach the bucket.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from allotment.buckets.bucket import Bucket, BucketUnavailable, Entry, key_exists

T = TypeVar("T")


class Fault(StrEnum):
    """What an operation of the bucket meets."""

    NONE = "none"
    FAILS = "it fails and nothing is done"
    FAILS_AFTER = "it is done, but the answer is lost"
    ANSWERS_TWICE = "it is done twice, and the second answer comes: the key is taken"
    SLOW = "it takes long"
    DIES = "the caller is killed before it is done"
    DIES_AFTER = "the caller is killed when it is done"


class Death(BaseException):
    """The caller was killed here: it can write nothing any more."""


Plan = Callable[[int, str, str], Fault]
"""Which fault the n-th operation (from 0), its verb and its key meet."""


def planned(faults: Mapping[int, Fault]) -> Plan:
    """Faults by the number of the operation."""
    return lambda number, _verb, _key: faults.get(number, Fault.NONE)


def seeded(seed: int, *, chance: float, faults: Sequence[Fault]) -> Plan:
    """Faults at random, the same for the same seed; for one thread the same run gives the same faults."""
    dice = random.Random(seed)  # noqa: S311 - a plan of faults is no secret
    return lambda _number, _verb, _key: dice.choice(faults) if dice.random() < chance else Fault.NONE


class FaultyBucket:
    """Another bucket behind a plan of faults; ``slow`` is called with the key when an operation is slow."""

    def __init__(
        self, inner: Bucket, plan: Plan, *, slow: Callable[[str], object] = lambda _key: None
    ) -> None:
        self.inner = inner
        self.operations = 0
        self.dead = False
        self._plan = plan
        self._slow = slow
        self._lock = threading.Lock()

    def create(self, key: str, data: bytes) -> None:
        """Write an object that is not there yet, or misbehave."""
        self._meet("create", key, lambda: self.inner.create(key, data))

    def read(self, key: str, most: int | None = None) -> bytes:
        """The object's bytes, or a fault."""
        return self._meet("read", key, lambda: self.inner.read(key, most))

    def exists(self, key: str) -> bool:
        """Whether the object is there, or a fault."""
        return self._meet("exists", key, lambda: self.inner.exists(key))

    def list_folders(self, prefix: str) -> tuple[str, ...]:
        """The names directly below a prefix, or a fault."""
        return self._meet("list", prefix, lambda: self.inner.list_folders(prefix))

    def list(self, prefix: str) -> Iterator[Entry]:
        """Every object below a prefix, or a fault."""
        return iter(self._meet("list", prefix, lambda: tuple(self.inner.list(prefix))))

    def _meet(self, verb: str, key: str, act: Callable[[], T]) -> T:
        with self._lock:
            number = self.operations
            self.operations += 1
            fault = Fault.DIES if self.dead else self._plan(number, verb, key)
            self.dead = self.dead or fault is Fault.DIES
        if fault is Fault.SLOW:
            self._slow(key)
        if fault is Fault.DIES:
            raise Death(f"killed before {verb} {key}")
        if fault is Fault.FAILS:
            raise BucketUnavailable("the bucket failed, as planned", key)
        answer = act()
        if fault is Fault.DIES_AFTER:
            self.dead = True
            raise Death(f"killed after {verb} {key}")
        if fault is Fault.FAILS_AFTER:
            raise BucketUnavailable("the bucket's answer was lost, as planned", key)
        if fault is Fault.ANSWERS_TWICE and verb == "create":
            raise key_exists(key)
        return answer
