"""Cards that workers share on this machine: how much of one each gets, and what it is told about it.

CUDA takes turns by itself where several processes are on a card. Where NVIDIA's MPS daemon runs, its clients
find it by a directory and get limits from their environment; whether it runs is told by its process and by
that directory. Facts: NVIDIA Multi-Process Service, ``CUDA_MPS_PIPE_DIRECTORY``,
``CUDA_MPS_ACTIVE_THREAD_PERCENTAGE``, ``CUDA_MPS_PINNED_DEVICE_MEM_LIMIT`` (by the ordinals that the client
sees).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from allotment.devices.card_shares import amounts_taken, memory_of_cards, sized
from allotment.devices.claims import Allocation
from allotment.devices.ledger import Part
from allotment.devices.slices import DeviceId
from allotment.devices.world import World
from allotment.errors import AllotmentError
from allotment.needs.ways.shares_here import MPS
from allotment.quantities import MI
from allotment.running.engine.work import Work

PIPES: Final = "CUDA_MPS_PIPE_DIRECTORY"
THREADS: Final = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"
PINNED: Final = "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"
DEFAULT_PIPES: Final = "/tmp/nvidia-mps"  # noqa: S108 - where the daemon puts it
_DAEMON: Final = "nvidia-cuda-mps"  # the kernel keeps 15 letters of a name


def mps_pipes(environment: Mapping[str, str], root: Path = Path("/")) -> str | None:
    """The directory of the MPS daemon that runs on this machine; None where none does."""
    named = environment.get(PIPES) or DEFAULT_PIPES
    if not (root / named.lstrip("/")).is_dir():
        return None
    for comm in (root / "proc").glob("[0-9]*/comm"):
        with suppress(OSError):
            if comm.read_text(encoding="utf-8", errors="replace").startswith(_DAEMON):
                return named
    return None


def with_amounts(works: Sequence[Work], world: World, *, mps: bool) -> tuple[Work, ...]:
    """The works with what their claims take of this world's cards.

    Raises AllotmentError for MPS where no daemon runs.
    """
    memories = memory_of_cards(world)
    return tuple(_with_amounts(work, memories, mps=mps) if work.shares else work for work in works)


def _with_amounts(work: Work, memories: Mapping[DeviceId, int], *, mps: bool) -> Work:
    if not mps and any(share.way == MPS for share in work.shares.values()):
        raise AllotmentError(
            f"campaign `{work.campaign}` shares cards by MPS, and no MPS daemon runs on this machine",
            remedy="start one (`nvidia-cuda-mps-control -d`), or write `sharing: time-slicing`",
        )
    shares = {name: each.share for name, each in work.shares.items()}
    claim, origins = sized(work.claim, shares, memories)
    found = {name: work.shares[origin] for name, origin in origins.items() if origin in work.shares}
    return replace(work, claim=claim, shares=found)


def parts_of(allocation: Allocation, memories: Mapping[DeviceId, int]) -> Mapping[DeviceId, Part]:
    """The shares among what was allocated, as the ledger holds them."""
    return {
        device: Part(amount, memories.get(device, amount))
        for device, amount in amounts_taken(allocation).items()
    }


def share_variables(work: Work, allocation: Allocation, pipes: str | None) -> dict[str, str]:
    """What a worker on a part of a card is told by its environment."""
    shares = [work.shares[result.request] for result in allocation.results if result.request in work.shares]
    if not shares or shares[0].way != MPS or pipes is None:
        return {}
    threads, pinned = shares[0].threads, shares[0].pinned
    said = {PIPES: pipes}
    if threads is not None:
        said[THREADS] = str(threads)
    if pinned is not None:
        count = len(amounts_taken(allocation))
        said[PINNED] = ",".join(f"{place}={pinned // MI}M" for place in range(count))
    return said
