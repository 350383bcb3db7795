from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from allotment.running.assignment import Network
from allotment.running.sources.web.client import Client, World
from tests.running.sources.archive import Archive

PATIENCE = 20.0
SHORT = Network(
    private=("127.0.0.0/8",),
    tries=2,
    connect_seconds=2,
    read_seconds=0.25,
    whole_seconds=PATIENCE,
    manifest_bytes=20_000,
    image_bytes=20_000,
)


@dataclass
class Time:
    """Time that runs as it does, and jumps when somebody wants to sleep."""

    jumped: float = 0.0
    slept: list[float] = field(default_factory=list)
    lock: Any = field(default_factory=threading.Lock)

    def monotonic(self) -> float:
        return time.monotonic() + self.jumped

    def sleep(self, seconds: float) -> None:
        with self.lock:
            self.jumped += seconds
            self.slept.append(seconds)


@pytest.fixture
def archive() -> Iterator[Archive]:
    with Archive() as running:
        yield running


@pytest.fixture
def clock() -> Time:
    return Time()


MakeClient = Callable[..., Client]


@pytest.fixture
def client_of(archive: Archive, clock: Time) -> Iterator[MakeClient]:
    """Makes clients that may ask the archive, with short limits and time of their own."""
    made: list[Client] = []

    def make(*, world: World | None = None, **network: Any) -> Client:
        settings = replace(SHORT, hosts=(archive.host,))
        around = World(monotonic=clock.monotonic, sleep=clock.sleep, chance=lambda: 0.0)
        client = Client(replace(settings, **network), world or around)
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()
