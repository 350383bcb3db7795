"""The peak of device memory: what the worker's own processes used on its cards, and nothing of others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from allotment.running.assignment import VolumeSpec
from allotment.running.device_memory import CardMemory, NoDeviceMemory, device_memory, is_below
from allotment.running.volume import VolumeRun
from tests.devices.fake_nvml import MIB, FakeCard, FakeNvml, Partition
from tests.running.world import World

OURS, CHILD, OTHER = 100, 101, 999
UUID = FakeCard().uuid


def memory(*cards: FakeCard) -> CardMemory:
    library = FakeNvml(*cards)
    library.nvmlInit()
    return CardMemory(library, cards, lambda pid: pid in {OURS, CHILD})


def test_the_most_of_our_processes_together_counts() -> None:
    card = FakeCard(processes={OURS: 300 * MIB, CHILD: 50 * MIB, OTHER: 4000 * MIB})
    measured = memory(card)
    measured.sample()
    card.processes = {OURS: 100 * MIB}
    measured.sample()
    assert measured.measured() == {
        "peak_device_memory_bytes": 350 * MIB,
        "device_memory_told_by": "process",
        "card": "NVIDIA H100 80GB HBM3",
    }


def test_several_cards_count_together() -> None:
    measured = memory(FakeCard(processes={OURS: 10 * MIB}), FakeCard(processes={CHILD: 20 * MIB}))
    assert measured.measured()["peak_device_memory_bytes"] == 30 * MIB


def test_a_page_has_the_peak_since_the_page_before() -> None:
    card = FakeCard(processes={OURS: 300 * MIB})
    measured = memory(card)
    measured.sample()
    card.processes = {OURS: 100 * MIB}
    assert [measured.page()["peak_device_memory_bytes"] for _ in range(2)] == [300 * MIB, 100 * MIB]


@pytest.mark.parametrize("processes", [{}, {OTHER: 5 * MIB}, {OURS: None}])
def test_where_processes_are_not_told_the_card_tells(processes: Mapping[int, int | None]) -> None:
    card = FakeCard(used=500 * MIB, processes=processes)
    measured = memory(card)
    card.used = 1700 * MIB
    measured.sample()
    card.used = 600 * MIB
    told = measured.measured()
    assert (told["peak_device_memory_bytes"], told["device_memory_told_by"]) == (1200 * MIB, "card")


def test_a_card_that_stops_answering_leaves_what_was_measured() -> None:
    card = FakeCard(processes={OURS: 300 * MIB})
    measured = memory(card)
    measured.sample()
    card.processes = {}
    card.refuses = {"*": "GPU_IS_LOST"}
    assert measured.measured()["peak_device_memory_bytes"] == 300 * MIB


@pytest.mark.parametrize(
    "environment",
    [{}, {"CUDA_VISIBLE_DEVICES": ""}, {"CUDA_VISIBLE_DEVICES": "0,1"}, {"ROCR_VISIBLE_DEVICES": "GPU-1"}],
)
def test_a_worker_without_a_card_has_no_thread_and_loads_nothing(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    before = threading.active_count()
    with device_memory(environment, os.getpid()) as measured:
        assert isinstance(measured, NoDeviceMemory)
        assert threading.active_count() == before
        assert (dict(measured.page()), dict(measured.measured())) == ({}, {})


def test_the_cards_are_those_that_the_worker_sees_partitions_too() -> None:
    part = Partition("1g.10gb", (19, 0, 1), 9984, processes={os.getpid(): 7 * MIB})
    library = FakeNvml(FakeCard(mig=1, partitions=(part,), processes={os.getpid(): 90 * MIB}))
    uuid = library.nvmlDeviceGetUUID(part)
    with device_memory({"CUDA_VISIBLE_DEVICES": uuid}, os.getpid(), library) as measured:
        assert dict(measured.page()) == {
            "peak_device_memory_bytes": 7 * MIB,
            "device_memory_told_by": "process",
            "card": "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
        }


def test_a_thread_samples_until_the_worker_is_done() -> None:
    card = FakeCard(processes={os.getpid(): MIB})
    with device_memory({"CUDA_VISIBLE_DEVICES": UUID}, os.getpid(), FakeNvml(card)) as measured:
        assert isinstance(measured, CardMemory)
        deadline = time.monotonic() + 30
        while not measured._peaks["process"] and time.monotonic() < deadline:
            threading.Event().wait(0.01)
        assert measured._peaks["process"] == MIB
    assert "device-memory" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.parametrize(
    "library", [FakeNvml(init="LIBRARY_NOT_FOUND"), FakeNvml(FakeCard(uuid="GPU-of-somebody-else"))]
)
def test_a_library_that_does_not_answer_stops_nothing(library: FakeNvml) -> None:
    with device_memory({"CUDA_VISIBLE_DEVICES": UUID}, os.getpid(), library) as measured:
        assert isinstance(measured, NoDeviceMemory)


def test_processes_below_the_worker_are_its_own() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert is_below(child.pid, os.getpid())
        assert is_below(os.getpid(), os.getpid())
        assert not is_below(os.getpid(), child.pid)
        assert not is_below(2**22 + 1, os.getpid())
    finally:
        child.communicate(b"\n", timeout=60)


class Told:
    """Device memory as a card would tell it."""

    def page(self) -> Mapping[str, Any]:
        return {"peak_device_memory_bytes": 5 * MIB, "card": "X"}

    def measured(self) -> Mapping[str, Any]:
        return {"peak_device_memory_bytes": 9 * MIB, "device_memory_told_by": "process"}

    def crowded(self) -> int | None:
        return None


def test_what_was_measured_is_in_the_record_of_each_page_and_in_the_manifest() -> None:
    world = World()
    around = replace(world.around(), device_memory=Told())
    assert VolumeRun(around, VolumeSpec("v1", {"files": "v1"})).run().code == 0
    keys = world.keys()
    record = json.loads(world.bucket.objects[keys.record("0001")])
    manifest = json.loads(world.bucket.objects[keys.manifest])
    assert record["measured"]["peak_device_memory_bytes"] == 5 * MIB
    assert record["measured"]["card"] == "X"
    assert manifest["measured"]["peak_device_memory_bytes"] == 9 * MIB
    assert manifest["measured"]["device_memory_told_by"] == "process"


def test_a_worker_without_a_card_records_none() -> None:
    world = World()
    world.run()
    assert b"device_memory" not in world.bucket.objects[world.keys().manifest]
