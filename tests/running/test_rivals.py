"""Several workers on one volume, interleaved at every operation, with pauses longer than a lease."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.buckets.bucket import Bucket, Entry
from allotment.buckets.memory import MemoryBucket
from allotment.running.lease import LEASE_SECONDS
from allotment.running.page import Page
from tests.running.world import World

T = TypeVar("T")
PATIENCE = 30.0
PAGES = 3


class Turns:
    """Lets one of several threads go on at a time; which one, and after how long a pause, is diced."""

    def __init__(self, world: World, names: list[str], seed: int, pauses: float) -> None:
        self._world = world
        self._dice = random.Random(seed)
        self._pauses = pauses
        self._alive = set(names)
        self._waiting: set[str] = set()
        self._turn: str | None = None
        self._changed = threading.Condition()

    def take(self, name: str) -> None:
        """Wait for a turn."""
        with self._changed:
            self._waiting.add(name)
            if self._turn == name:
                self._turn = None
            self._give()
            assert self._changed.wait_for(lambda: self._turn == name, PATIENCE)
            self._waiting.discard(name)

    def leave(self, name: str) -> None:
        """Take no more turns."""
        with self._changed:
            self._alive.discard(name)
            if self._turn == name:
                self._turn = None
            self._give()

    def _give(self) -> None:
        if self._turn is None and self._alive and self._alive == self._waiting:
            if self._dice.random() < self._pauses:
                self._world.now += self._dice.uniform(0, 1.5 * LEASE_SECONDS)
            self._turn = self._dice.choice(sorted(self._alive))
            self._changed.notify_all()


class TurnBucket:
    """A bucket whose every operation waits for its worker's turn."""

    def __init__(self, inner: Bucket, turns: Turns, name: str) -> None:
        self._inner = inner
        self._turns = turns
        self._name = name

    def create(self, key: str, data: bytes) -> None:
        self._in_turn(lambda: self._inner.create(key, data))

    def read(self, key: str, most: int | None = None) -> bytes:
        return self._in_turn(lambda: self._inner.read(key))

    def exists(self, key: str) -> bool:
        return self._in_turn(lambda: self._inner.exists(key))

    def list_folders(self, prefix: str) -> tuple[str, ...]:
        return self._in_turn(lambda: self._inner.list_folders(prefix))

    def list(self, prefix: str) -> Iterator[Entry]:
        return iter(self._in_turn(lambda: tuple(self._inner.list(prefix))))

    def _in_turn(self, act: Callable[[], T]) -> T:
        self._turns.take(self._name)
        return act()


def undisturbed() -> World:
    world = World()
    world.give("v1", pages=PAGES)
    world.run()
    return world


UNDISTURBED = undisturbed()


@given(st.integers(0, 2**32), st.integers(2, 3), st.sampled_from([0.0, 0.05, 0.3]))
@settings(deadline=None, max_examples=60)
def test_rivals_never_write_anything_twice_and_end_with_the_same_results(
    seed: int, count: int, pauses: float
) -> None:
    world = World()
    world.give("v1", pages=PAGES)
    world.limited(reclaims=1000)
    names = [f"worker-{number}" for number in range(count)]
    turns = Turns(world, names, seed, pauses)
    codes: dict[str, int] = {}
    in_step: Counter[str] = Counter()

    def work(name: str) -> None:
        def step(page: Page, earlier: Mapping[str, bytes]) -> Mapping[str, bytes]:
            in_step[page.name] += 1
            return world.copy(page, earlier)

        try:
            codes[name] = world.run(bucket=TurnBucket(world.bucket, turns, name), step=step).code
        finally:
            turns.leave(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert set(codes) == set(names)
    assert set(codes.values()) <= {0, 1}
    if not pauses:
        assert max(in_step.values()) == 1
        assert 0 in codes.values()
    world.now += 2 * LEASE_SECONDS
    assert world.run().code == 0
    assert isinstance(world.bucket, MemoryBucket)
    assert world.outputs() == UNDISTURBED.outputs()
    assert world.manifest() == UNDISTURBED.manifest()
