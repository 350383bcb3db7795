"""Claims placed over 1,000 nodes by first fit, beside a search of our own that looks at everything anew.

The upstream allocator (`k8s.io/dynamic-resource-allocation`, 1.36) places 63 single-card claims a second on
two shared cores; the promise is a hundred times that, and fifty times the naive search. That one would take
hours: it is asked for a few of the claims, spread evenly, each against what is taken by then, and has to give
the same devices. How the time grows with the fleet, and the memory of a process of its own, are held as well.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import partial
from statistics import median

from benchmarks.allocator.loads import LOADS, Load, most_memory, place_all
from benchmarks.allocator.naive import place
from benchmarks.ratio import Ratio

UPSTREAM_CLAIMS_A_SECOND = 63
TIMES_UPSTREAM = 100
MOST_MIB = 300
GROWTH = 1.5
ROUNDS = 3


def run() -> list[Ratio]:
    """Every load against the naive search and half of itself, the first against the promise too."""
    return [ratio for load in LOADS for ratio in _ratios(load)]


def _ratios(load: Load) -> list[Ratio]:
    ours, half = _medians(partial(place_all, load), partial(place_all, load.half))
    naive = _naive_cpu(load)
    each = ours / load.claims
    figures = f"{ours:.2f} s of CPU for {load.claims:,} claims ({1 / each:,.0f} a second)"
    memory = most_memory(load) / 2**20
    ratios = [
        Ratio(
            f"{load.name}: time of a claim times {load.times_naive}, in parts of a naive search's",
            each * load.times_naive / naive,
            1.0,
            f"{figures}; {naive / each:,.0f} times faster than {naive * 1000:.1f} ms a claim",
        ),
        Ratio(
            f"{load.name}: time of a claim, against half the nodes and claims",
            each / (half / load.half.claims),
            GROWTH,
            f"{half:.2f} s for half",
        ),
        Ratio(
            f"{load.name}: memory, in parts of {MOST_MIB} MiB", memory / MOST_MIB, 1.0, f"{memory:.0f} MiB"
        ),
    ]
    if load.is_promised:
        promise = UPSTREAM_CLAIMS_A_SECOND * TIMES_UPSTREAM
        name = f"{load.name}: time of a claim, in parts of what {promise:,} claims a second allow"
        ratios.insert(0, Ratio(name, each * promise, 1.0, figures))
    return ratios


def _naive_cpu(load: Load) -> float:
    """Seconds of CPU that a claim takes the naive search, on average; AssertionError if it differs."""
    placed = place_all(load)
    every = [(claim, found) for claim, found in placed if found is not None]
    chosen = [(2 * number + 1) * len(every) // (2 * load.naive_claims) for number in range(load.naive_claims)]
    spent = 0.0
    for index in chosen:
        claim, found = every[index]
        taken = {device for _, earlier in every[:index] for device in earlier}
        before = time.process_time()
        theirs = place(load.world, claim, taken)
        spent += time.process_time() - before
        if theirs != found:
            raise AssertionError(f"{load.name}, claim {index}: {theirs} is not {found}")
    return spent / len(chosen)


def _medians(*works: Callable[[], object]) -> tuple[float, ...]:
    """The median CPU of each piece of work, in rounds that alternate."""
    rounds = [[_cpu(work) for work in works] for _ in range(ROUNDS)]
    return tuple(median(side) for side in zip(*rounds, strict=True))


def _cpu(work: Callable[[], object]) -> float:
    """Seconds of CPU; the fleets that stand by are kept out of the collector's rounds."""
    gc.collect()
    gc.freeze()
    before = time.process_time()
    work()
    spent = time.process_time() - before
    gc.unfreeze()
    return spent
