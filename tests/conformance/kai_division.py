"""Made-up divisions of a cluster among queues, as KAI's own code divides it.

KAI adds up queues in the random order of a Go map, so its own last bits differ from run to run; shares are
compared to the billionth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from allotment.scheduling.kai.division import Claimant, divide
from tests.conformance.outcomes import ALL, Outcome, Share, attempt, read_json_lines

RESOURCES = ("GPU", "CPU", "Memory")


def run_division(path: Path, share: Share = ALL) -> Iterator[Outcome]:
    """Every division; where KAI answers in several ways, each of them is right."""
    for case in read_json_lines(path, share):
        answers = [_rounded(answer) for answer in case["fair_share_gpu_cpu_mem"]]
        found = attempt(lambda case=case: divided(case))  # type: ignore[misc]
        expected = found if found in answers else answers[0]
        yield Outcome(case["ID"], "division", expected, found)


def divided(case: Mapping[str, Any]) -> dict[str, list[float]]:
    """The shares of every queue, in the order of RESOURCES."""
    columns = [divide(case["Total"][name], _claimants(case, name), case["KValue"]) for name in RESOURCES]
    return _rounded({queue["ID"]: [column[queue["ID"]] for column in columns] for queue in case["Queues"]})


def _rounded(shares: Mapping[str, list[float]]) -> dict[str, list[float]]:
    return {name: [round(share, 9) for share in by_resource] for name, by_resource in shares.items()}


def _claimants(case: Mapping[str, Any], resource: str) -> list[Claimant]:
    return [
        Claimant(
            name=queue["ID"],
            quota=queue[resource]["Quota"],
            limit=queue[resource]["Limit"],
            weight=queue[resource]["Weight"],
            request=queue[resource]["Request"],
            used=queue[resource]["Usage"],
            priority=queue["Priority"],
            created=queue["Created"],
        )
        for queue in case["Queues"]
    ]
