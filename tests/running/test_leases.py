"""Who may work on a volume, told by leases that only ever grow in number."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from allotment.buckets.faulty import Fault, FaultyBucket
from allotment.buckets.memory import MemoryBucket
from allotment.buckets.once import PatientBucket
from allotment.buckets.opening import open_bucket
from allotment.running.endings import PermanentFailureError
from allotment.running.holder import Holder, is_dead, this_process
from allotment.running.lease import (
    LEASE_SECONDS,
    RENEW_SECONDS,
    Held,
    Lease,
    LeaseLostError,
    newest_lease,
    release_of,
    take_lease,
)
from allotment.running.page import Page
from allotment.running.renewing import renewed
from tests.running.world import RECIPE, World

KEYS = RECIPE.volume("v1")
ME, OTHER = Holder("me"), Holder("other")


class Times:
    """A clock, and the leases of one volume by it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.objects = MemoryBucket()
        self.bucket = PatientBucket(self.objects, sleep=lambda _: None)
        self.dead: set[str] = set()

    def take(self, holder: Holder) -> Lease | Held:
        return take_lease(
            self.bucket, KEYS, holder, clock=lambda: self.now, is_dead=lambda one: one.id in self.dead
        )


def taken(lease: Lease | Held) -> Lease:
    assert isinstance(lease, Lease)
    return lease


@pytest.fixture
def times() -> Times:
    return Times()


def test_a_lease_keeps_others_away_until_it_runs_out(times: Times) -> None:
    taken(times.take(ME))
    times.now += LEASE_SECONDS - 0.1
    assert times.take(OTHER) == Held(ME, 1000.0 + LEASE_SECONDS)
    times.now += 0.1
    taken(times.take(OTHER))


def test_a_released_lease_keeps_nobody_away(times: Times) -> None:
    taken(times.take(ME)).release()
    taken(times.take(OTHER))
    assert newest_lease(times.bucket, KEYS)[0] == 3


def test_the_lease_of_the_dead_is_void_at_once(times: Times) -> None:
    taken(times.take(ME))
    times.dead.add("me")
    taken(times.take(OTHER))


def test_a_lease_is_renewed_when_it_is_time_and_not_before(times: Times) -> None:
    lease = taken(times.take(ME))
    times.now += RENEW_SECONDS - 1
    lease.check()
    assert len(times.objects.objects) == 1
    times.now += 1
    lease.check()
    assert len(times.objects.objects) == 2
    times.now += LEASE_SECONDS - 1
    assert isinstance(times.take(OTHER), Held)


def test_who_slept_through_the_end_and_was_not_replaced_goes_on(times: Times) -> None:
    lease = taken(times.take(ME))
    times.now += 3600
    lease.check()
    assert isinstance(times.take(OTHER), Held)


def test_who_was_replaced_may_write_nothing_more(times: Times) -> None:
    lease = taken(times.take(ME))
    times.now += LEASE_SECONDS
    taken(times.take(OTHER))
    for _ in range(2):
        with pytest.raises(LeaseLostError):
            lease.check()
    with pytest.raises(LeaseLostError):
        lease.renew()
    lease.release()
    assert newest_lease(times.bucket, KEYS)[0] == 2


def test_of_many_who_want_a_volume_at_once_one_gets_it(tmp_path: Path) -> None:
    bucket = PatientBucket(open_bucket("results", tmp_path), sleep=lambda _: None)
    start, found = threading.Barrier(8), []

    def want(name: str) -> None:
        start.wait()
        found.append(take_lease(bucket, KEYS, Holder(name), clock=lambda: 0.0, is_dead=lambda _: False))

    threads = [threading.Thread(target=want, args=(f"h{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(one, Lease) for one in found) == 1


@pytest.mark.parametrize("garbage", [b"", b"{}", b'{"format_version":1,"released":false,"holder":3}'])
def test_a_lease_that_cannot_be_read_is_nothing_to_pass_over(times: Times, garbage: bytes) -> None:
    times.objects.create(KEYS.leases + "notes.txt", b"")
    taken(times.take(ME)).release()
    times.objects.create(KEYS.lease(7), garbage)
    with pytest.raises(PermanentFailureError, match=r"leases/7\.json"):
        times.take(OTHER)


def test_a_lost_answer_does_not_lose_the_lease(times: Times) -> None:
    times.bucket = PatientBucket(
        FaultyBucket(
            times.objects, lambda number, verb, _: Fault.FAILS_AFTER if verb == "create" else Fault.NONE
        ),
        sleep=lambda _: None,
    )
    lease = taken(times.take(ME))
    times.now += RENEW_SECONDS
    lease.check()


def test_a_dead_holder_is_released_by_name_only(times: Times) -> None:
    taken(times.take(ME))
    release_of(times.bucket, KEYS, "other", clock=lambda: times.now)
    assert isinstance(times.take(OTHER), Held)
    release_of(times.bucket, KEYS, "me", clock=lambda: times.now)
    taken(times.take(OTHER))


def test_a_held_volume_is_left_alone_without_an_attempt() -> None:
    world = World()
    world.run(step=lambda page, earlier: taking_over(world, page))
    assert world.sink.kinds()[-1] == "volume.held"
    outcome = world.run()
    assert (outcome.code, outcome.reason) == (1, "held")
    assert world.attempts() == ["reclaimed"]


def taking_over(world: World, page: Page) -> Mapping[str, bytes]:
    """A step during which the lease runs out and somebody else takes the volume."""
    if page.name == "0002":
        world.now += LEASE_SECONDS
        bucket = PatientBucket(world.bucket, sleep=lambda _: None)
        taken(take_lease(bucket, world.keys(), OTHER, clock=lambda: world.now, is_dead=lambda _: False))
    return world.copy(page, {})


def test_who_loses_the_lease_writes_nothing_more() -> None:
    world = World()
    outcome = world.run(step=lambda page, earlier: taking_over(world, page))
    assert (outcome.code, outcome.reason) == (1, "lease-lost")
    assert world.bucket.exists(world.keys().record("0001"))
    assert not any("0002" in key or "0003" in key or ".end." in key for key in world.bucket.objects)


def test_a_volume_is_waited_for_as_long_as_asked() -> None:
    world = World()
    world.run(step=lambda page, earlier: taking_over(world, page))
    world.limited(lease_wait_seconds=LEASE_SECONDS + 1)
    assert world.run().code == 0
    assert world.attempts() == ["reclaimed", "complete"]


def test_this_process_lives_and_another_start_time_is_another_process() -> None:
    me = this_process("me")
    assert me.pid == os.getpid()
    assert not is_dead(me)
    assert is_dead(replace(me, start_time=me.start_time + 1))
    assert json.loads(json.dumps(me.to_json()))["boot_id"] == me.boot_id


@pytest.mark.parametrize("change", [{"boot_id": "another"}, {"pid_namespace": "pid:[1]"}, {"boot_id": ""}])
def test_nothing_is_said_of_processes_elsewhere(change: dict[str, Any]) -> None:
    me = this_process("me")
    assert not is_dead(replace(me, start_time=me.start_time + 1, **change))


def test_the_killed_are_dead_even_before_they_are_buried() -> None:
    child = subprocess.Popen([sys.executable, "-c", "print(flush=True); input()"], stdin=-1, stdout=-1)
    with child:
        assert child.stdout is not None
        child.stdout.readline()
        start = int(Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[19])
        holder = replace(this_process("child"), pid=child.pid, start_time=start)
        assert not is_dead(holder)
        child.send_signal(signal.SIGKILL)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert is_dead(holder)
    assert is_dead(holder)


def test_a_lease_is_renewed_in_the_background_until_the_work_is_over(times: Times) -> None:
    came = threading.Event()

    class Told(MemoryBucket):
        def create(self, key: str, data: bytes) -> None:
            super().create(key, data)
            if len(self.objects) == 3:
                came.set()

    times.objects = Told()
    times.bucket = PatientBucket(times.objects, sleep=lambda _: None)
    lease = taken(times.take(ME))
    lease.renew_seconds = 0.001
    with renewed(lease):
        times.now += RENEW_SECONDS
        while len(times.objects.objects) < 2:
            pass
        times.now += RENEW_SECONDS
        assert came.wait(10)
