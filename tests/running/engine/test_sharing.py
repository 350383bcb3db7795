"""What a worker on a part of a card is told, by each way to share it, and where MPS runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from allotment.devices.allocator import allocate
from allotment.devices.card_shares import memory_of_cards, shareable
from allotment.devices.claims import Allocation
from allotment.devices.describe import parse_description
from allotment.devices.nvml import discover
from allotment.devices.world import World
from allotment.errors import AllotmentError
from allotment.needs import claim_for
from allotment.needs.ways.shares_here import shares_here
from allotment.platform.need import Need
from allotment.quantities import GI, MI
from allotment.repository.model import StepCall, Window
from allotment.running.assignment import Limits
from allotment.running.engine.assign import assignment_for
from allotment.running.engine.sharing import mps_pipes, parts_of, share_variables, with_amounts
from allotment.running.engine.visible import card_variables, visible_cards
from allotment.running.engine.work import Work
from tests.devices.fake_nvml import FakeCard, FakeNvml, Partition

WORLD = parse_description("1 x L4")
L4 = 23034 * MI


def work(need: Need, measured: int | None = None) -> Work:
    claim = claim_for(need)
    return Work(
        team="t",
        campaign="c",
        pipeline="p",
        recipe="0" * 12,
        image=None,
        steps=(StepCall("checksum"),),
        environment={},
        claim=claim,
        cores=None,
        memory_bytes=0,
        window=Window(),
        lane="bulk",
        lane_value=0,
        suspended=False,
        volumes=(),
        pack=1,
        limits=Limits(),
        root=Path("/r"),
        path=Path("/r/c.yaml"),
        shares=shares_here(need, claim, measured),
    )


def given(asked: Work, world: World = WORLD) -> tuple[Work, Allocation]:
    (sized,) = with_amounts([asked], world, mps=True)
    found = allocate(sized.claim, shareable(world), next(iter(world.devices()))[0].pool)
    assert isinstance(found, Allocation)
    return sized, found


@pytest.mark.parametrize(
    ("need", "measured", "amount"),
    [
        (Need(sharing=("fraction",), share="8Gi"), None, 8 * GI),
        (Need(sharing=("fraction",), share=0.5), None, L4 // 2),
        (Need(sharing=("consumable",), share="6Gi"), None, 6 * GI),
        (Need(sharing=("time-slicing",)), 7 * GI, 7 * GI),
        (Need(sharing=("time-slicing",)), None, L4),
        (Need(sharing=("mps",), config={"mps": {"pinned_memory": 4 * GI}}), 7 * GI, 4 * GI),
        (Need(sharing=("mps",)), 7 * GI, 7 * GI),
    ],
)
def test_how_much_of_a_card_a_worker_gets(need: Need, measured: int | None, amount: int) -> None:
    _, allocation = given(work(need, measured))
    parts = parts_of(allocation, memory_of_cards(WORLD))
    assert [(part.amount, part.total) for part in parts.values()] == [(amount, L4)]


def test_a_worker_on_a_whole_card_has_no_share() -> None:
    asked = work(Need())
    assert asked.shares == {}
    assert with_amounts([asked], WORLD, mps=False) == (asked,)


def test_a_worker_knows_how_much_of_its_card_it_may_use() -> None:
    sized, allocation = given(work(Need(sharing=("fraction",), share="8Gi")))
    told = assignment_for(sized, 0, [], allocation, {}, bucket="b", log="l")
    assert told.worker.device_share == 8 * GI


def test_a_client_of_mps_is_told_its_limits() -> None:
    need = Need(sharing=("mps",), config={"mps": {"threads": 30, "pinned_memory": 4 * GI}})
    sized, allocation = given(work(need))
    assert share_variables(sized, allocation, "/tmp/nvidia-mps") == {
        "CUDA_MPS_PIPE_DIRECTORY": "/tmp/nvidia-mps",
        "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "30",
        "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT": "0=4096M",
    }
    assert share_variables(sized, allocation, None) == {}


def test_who_takes_turns_is_told_nothing_of_mps() -> None:
    sized, allocation = given(work(Need(sharing=("time-slicing",)), GI))
    assert share_variables(sized, allocation, "/tmp/nvidia-mps") == {}


def test_mps_without_its_daemon_is_refused() -> None:
    with pytest.raises(AllotmentError, match="no MPS daemon runs on this machine"):
        with_amounts([work(Need(sharing=("mps",)), GI)], WORLD, mps=False)


@pytest.mark.parametrize(
    ("folder", "comm", "named", "found"),
    [
        ("tmp/nvidia-mps", "nvidia-cuda-mps\n", None, "/tmp/nvidia-mps"),
        ("run/mps", "nvidia-cuda-mps\n", "/run/mps", "/run/mps"),
        ("tmp/nvidia-mps", "bash\n", None, None),
        ("tmp", "nvidia-cuda-mps\n", None, None),
    ],
)
def test_the_daemon_is_found_by_its_process_and_its_directory(
    tmp_path: Path, folder: str, comm: str, named: str | None, found: str | None
) -> None:
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "proc" / "77").mkdir(parents=True)
    (tmp_path / "proc" / "77" / "comm").write_text(comm)
    environment = {} if named is None else {"CUDA_MPS_PIPE_DIRECTORY": named}
    assert mps_pipes(environment, tmp_path) == found


def test_slices_of_a_card_are_devices_of_their_own_each_seen_by_its_uuid(tmp_path: Path) -> None:
    cut = tuple(Partition("1g.10gb", (19, start, 1), 9856, instance=7 + start) for start in range(2))
    found = discover("here", root=tmp_path, nvml=FakeNvml(FakeCard(mig=1, partitions=cut)))
    world = replace(WORLD, slices=found.slices, node="here")
    cards = visible_cards(world)
    seen = [card_variables([device], cards)["CUDA_VISIBLE_DEVICES"] for device, _ in world.devices()]
    assert len(set(seen)) == 2
    assert all(name.startswith("MIG-") for name in seen)
    first = allocate(claim_for(Need(sharing=("mig",))), world, "here")
    assert isinstance(first, Allocation)
    second = allocate(claim_for(Need(sharing=("mig",))), world, "here", frozenset(first.ids))
    assert isinstance(second, Allocation)
    assert set(first.ids) != set(second.ids)
