"""Queues below queues: a hundred levels are counted, and what stands below them is refused by name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from allotment.errors import FindingsError
from allotment.kubernetes import kinds
from allotment.kubernetes.cluster.file_reading import snapshot_of
from allotment.kubernetes.cluster.nesting import MOST_LEVELS, too_deep
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.planning.queues_of_cluster import shares_of_cluster
from tests.kubernetes.cluster.queue_objects import made, of_kai, of_kueue

KINDS = {"Cohort": (kinds.COHORT, "parentName"), "Queue": (kinds.KAI_QUEUE, "parentQueue")}


def chain(levels: int, of: str, *, top: str = "") -> list[dict[str, Any]]:
    """So many, each below the one before; the first below ``top``."""
    kind, key = KINDS[of]
    above = [top, *(f"q{number}" for number in range(levels - 1))]
    specs = [{key: name} if name else {} for name in above]
    return [made(kind.api_version, of, f"q{number}", spec) for number, spec in enumerate(specs)]


def read(*objects: dict[str, Any]) -> Snapshot:
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, indent=1)
    return snapshot_of(text.encode(), name="s.json", otherwise=1.0)


@pytest.mark.parametrize("of", sorted(KINDS))
def test_more_levels_than_anybody_has_are_refused_where_they_are_named(of: str) -> None:
    objects = chain(1500, of)
    with pytest.raises(FindingsError) as told:
        read(*objects)
    (finding,) = told.value.findings
    lines = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, indent=1).splitlines()
    assert f'"{KINDS[of][1]}": "q{MOST_LEVELS - 1}"' in lines[finding.position.line - 1]
    assert finding.message.startswith(f"{of} `q{MOST_LEVELS}` stands below 100 others")


@pytest.mark.parametrize("of", sorted(KINDS))
def test_as_many_as_may_be_are_counted(of: str) -> None:
    bottom = f"q{MOST_LEVELS - 2}"
    leaf = of_kai("leaf", 1, 4, parent=bottom) if of == "Queue" else of_kueue("leaf", 4, 2)
    if of == "Cohort":
        leaf["spec"]["cohortName"] = bottom
    found = read(*chain(MOST_LEVELS - 1, of), leaf)
    (told,) = [each for each in shares_of_cluster(found).shares if each.queue == "leaf"]
    assert told.sum


@pytest.mark.parametrize("of", sorted(KINDS))
@pytest.mark.parametrize("top", ["q0", "q149", "gone"])
def test_circles_have_no_depth_and_parents_that_are_gone_are_none(of: str, top: str) -> None:
    told = list(too_deep(chain(150, of, top=top)))
    assert len(told) == (1 if top == "gone" else 0)


def test_of_many_chains_each_is_told_once() -> None:
    one = chain(120, "Queue")
    side = [made(kinds.KAI_QUEUE.api_version, "Queue", "side", {"parentQueue": f"q{MOST_LEVELS - 1}"})]
    assert [key[3] for key, _, _ in too_deep([*one, *side])] == [f"q{MOST_LEVELS}", "side"]


def test_an_object_of_another_group_is_not_meant() -> None:
    others = [{**each, "apiVersion": "example.org/v1"} for each in chain(150, "Queue")]
    assert not list(too_deep(others))
