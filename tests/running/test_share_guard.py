"""Whose fault it is when a shared card's memory runs out: who used more than its share, and who could not."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from allotment.running.assignment import VolumeSpec
from allotment.running.attempts import read_history
from allotment.running.device_memory import CardMemory, card_memory
from allotment.running.page import Page
from allotment.running.share_guard import share_guard
from allotment.running.volume import VolumeRun
from tests.devices.fake_nvml import MIB, FakeCard, FakeNvml
from tests.running.world import World

OURS, OTHER, NOBODY = os.getpid(), os.getppid(), 2**22 + 1
UUID = FakeCard().uuid
SEEN = {"CUDA_VISIBLE_DEVICES": UUID}
SHARE = 8000 * MIB


def guarded(processes: Mapping[int, int | None]) -> tuple[FakeCard, CardMemory]:
    card = FakeCard(mib=24000, processes=processes)
    found = card_memory(SEEN, OURS, FakeNvml(card), SHARE)
    assert found is not None
    return card, found


@pytest.mark.parametrize(("used", "words"), [(8000, None), (8001, "it used 7.81Gi of its card's memory")])
def test_who_uses_more_than_its_share_is_told_so(used: int, words: str | None) -> None:
    guard = share_guard(SEEN, OURS, SHARE, FakeNvml(FakeCard(mib=24000, processes={OURS: used * MIB})))
    assert guard is not None
    told = guard.exceeded()
    assert told is None if words is None else words in str(told)


def test_one_look_that_shows_too_much_is_enough() -> None:
    card = FakeCard(mib=24000, processes={OURS: 9000 * MIB})
    guard = share_guard(SEEN, OURS, SHARE, FakeNvml(card))
    assert guard is not None
    assert guard.exceeded() is not None
    card.processes = {}
    assert guard.exceeded() is not None
    assert guard.crowded() is None


@pytest.mark.parametrize(
    ("processes", "crowded"),
    [
        ({OTHER: 16000 * MIB}, None),
        ({OTHER: 16001 * MIB}, 16001 * MIB),
        ({OTHER: 16001 * MIB, OURS: 7000 * MIB}, 16001 * MIB),
        ({NOBODY: 20000 * MIB}, None),
        ({OTHER: None}, None),
    ],
)
def test_others_crowd_a_worker_out_when_they_leave_it_less_than_its_share(
    processes: Mapping[int, int | None], crowded: int | None
) -> None:
    assert guarded(processes)[1].crowded() == crowded


def test_that_others_took_too_much_is_remembered() -> None:
    card, memory = guarded({OTHER: 20000 * MIB})
    memory.sample()
    card.processes = {}
    assert memory.crowded() == 20000 * MIB


def test_a_worker_with_a_card_of_its_own_is_never_crowded() -> None:
    memory = card_memory(SEEN, OURS, FakeNvml(FakeCard(processes={OTHER: 80000 * MIB})))
    assert memory is not None
    assert (memory.crowded(), memory.excess()) == (None, None)


def test_clients_of_mps_count_too() -> None:
    class WithMps(FakeNvml):
        def nvmlDeviceGetMPSComputeRunningProcesses(self, device: FakeCard) -> list[Any]:
            return [type("P", (), {"pid": OURS, "usedGpuMemory": 9000 * MIB})]

    guard = share_guard(SEEN, OURS, SHARE, WithMps(FakeCard(mib=24000)))
    assert guard is not None
    assert guard.exceeded() is not None


def test_cards_that_cannot_be_looked_at_have_no_guard() -> None:
    assert share_guard({"CUDA_VISIBLE_DEVICES": ""}, OURS, SHARE, FakeNvml()) is None
    assert share_guard(SEEN, OURS, SHARE, FakeNvml()) is None


class Crowded:
    """Device memory of which others have so much in use."""

    def __init__(self, others: int | None) -> None:
        self.others = others

    def page(self) -> Mapping[str, Any]:
        return {}

    def measured(self) -> Mapping[str, Any]:
        return {}

    def crowded(self) -> int | None:
        return self.others


class OutOfMemoryError(RuntimeError):
    """As a library raises it."""


def run_out(world: World, others: int | None, message: str = "CUDA out of memory.") -> tuple[int, str]:
    """The exit code and the outcome of an attempt whose second page finds no memory."""

    def step(page: Page, earlier: Mapping[str, bytes]) -> Mapping[str, bytes]:
        if page.name == "0002":
            raise OutOfMemoryError(message)
        return world.copy(page, earlier)

    around = replace(world.around(step=step), device_memory=Crowded(others))
    code = VolumeRun(around, VolumeSpec("v1", {"files": "v1"})).run().code
    end = json.loads(world.bucket.objects[world.keys().attempt_end(1)])
    return code, str(end["outcome"])


def test_who_was_crowded_out_has_not_failed_and_is_tried_again() -> None:
    world = World()
    world.limited(retries=0)
    assert run_out(world, 20 * MIB) == (1, "reclaimed")
    history = read_history(world.around().patient(), world.keys(), done=2)
    assert (history.failures, history.permanent) == (0, None)
    assert world.run().code == 0
    manifest = json.loads(world.bucket.objects[world.keys().manifest])
    assert manifest["counts"] == {"pages": 3, "done": 3, "failed": 0}


def test_who_had_its_share_and_wanted_more_has_failed() -> None:
    assert run_out(World(), None) == (1, "failed")


def test_another_error_on_a_crowded_card_is_the_step_s_own() -> None:
    world = World()

    def step(page: Page, earlier: Mapping[str, bytes]) -> Mapping[str, bytes]:
        raise ValueError("no such letter")

    around = replace(world.around(step=step), device_memory=Crowded(20 * MIB))
    VolumeRun(around, VolumeSpec("v1", {"files": "v1"})).run()
    end = json.loads(world.bucket.objects[world.keys().attempt_end(1)])
    assert end["outcome"] == "failed"


def test_a_model_that_found_no_memory_is_no_failure_either() -> None:
    world = World()

    def load() -> Any:
        raise OutOfMemoryError("CUDA out of memory.")

    around = replace(world.around(load=load), device_memory=Crowded(20 * MIB))
    VolumeRun(around, VolumeSpec("v1", {"files": "v1"})).run()
    end = json.loads(world.bucket.objects[world.keys().attempt_end(1)])
    assert (end["outcome"], end["reason"]) == ("reclaimed", "crowded-out")
