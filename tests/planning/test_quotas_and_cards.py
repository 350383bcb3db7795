"""Quotas beside the cards that there are: what no quota has, which limits are never reached, and how wide a
window can be."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from allotment.devices.describe import parse_description
from allotment.devices.nodes import Node
from allotment.kubernetes.cluster.capacity import KAI, KUEUE, Capacity, Part
from allotment.kubernetes.cluster.snapshot import Missing, Snapshot
from allotment.kubernetes.kinds import SLICE
from allotment.planning.queues_of_cluster import shares_of_cluster
from allotment.planning.quotas_and_cards import cards_open, cards_there, limit_words, quota_words
from allotment.planning.scenes.scene import scene_for
from allotment.planning.scenes.stage import as_cluster, staged
from allotment.planning.scenes.values import Place
from allotment.platform.model import Queue, Team
from allotment.simulation.setting import Scheduler
from tests.planning.scene_files import CAMPAIGN, platform, repository

LIMITS = {"archive": Team("archive", queue=Queue(4, 2, 12)), "laboratory": Team("laboratory", queue=Queue(4))}


def slices(text: str) -> list[dict[str, Any]]:
    return [each.to_dict() for each in parse_description(text).slices]


def node(cards: str) -> dict[str, Any]:
    status = {"allocatable": {"nvidia.com/gpu": cards}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{cards}"}, "status": status}


def of_generation(number: int, count: int) -> dict[str, Any]:
    (found,) = slices(f"1 nodes of {count} x L4")
    return {**found, "spec": {**found["spec"], "pool": {"name": "p", "generation": number}}}


@pytest.mark.parametrize(
    ("objects", "count"),
    [
        (slices("2 nodes of 8 x H100-SXM, 1 x L4"), 17),
        (slices("1 x H100-SXM mig=1g.10gb*7"), 7),
        (slices("1 x H100-SXM mig=on-demand"), None),
        ([of_generation(1, 8), of_generation(2, 4)], 4),
        ([node("8"), node("4")], 12),
        ([node("8"), *slices("2 x L4")], 10),
        ([node("many")], None),
        ([{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}}], None),
        ([], None),
    ],
)
def test_cards_are_counted_as_they_are_published(objects: list[dict[str, Any]], count: int | None) -> None:
    assert cards_there(Snapshot(0.0, tuple(objects), name="prod")) == count


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ({}, 16),
        ({"unschedulable": True}, 8),
        ({"taints": [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]}, 8),
        ({"taints": [{"key": "dedicated", "effect": "NoSchedule"}]}, 16),  # others may tolerate it
    ],
)
def test_cards_of_nodes_that_nobodys_pod_starts_on_are_not_open(spec: dict[str, Any], count: int) -> None:
    nodes = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": its}
        for name, its in (("node-1", {}), ("node-2", spec))
    ]
    published = Snapshot(0.0, (*slices("2 nodes of 8 x L4"), *nodes), name="prod")
    counts = {"allocatable": {"nvidia.com/gpu": "8"}}
    by_plugin = Snapshot(0.0, tuple({**each, "status": counts} for each in nodes), name="prod")
    assert [(cards_there(each), cards_open(each)) for each in (published, by_plugin)] == [(16, count)] * 2


def test_what_could_not_be_read_is_not_counted() -> None:
    unread = Snapshot(0.0, (node("8"),), name="prod", missing=(Missing(SLICE, "forbidden"),))
    assert cards_there(unread) is None


@pytest.mark.parametrize(
    ("scheduler", "quota", "cards", "says"),
    [
        (KUEUE, 8, 16, "8 of 16 cards are in no quota of `gpus`"),
        (KUEUE, 15, 16, "1 of 16 cards is in no quota of `gpus`"),
        (KUEUE, 16, 16, ""),
        (KUEUE, 20, 16, "the quotas are 20 `gpus` together, and there are 16 cards"),
        (KUEUE, 1_000_004, 16, ""),  # somebody states none
        (KUEUE, None, 16, ""),
        (KUEUE, 8, None, ""),
        (KAI, 8, 16, ""),  # it shares out what is above the quotas
        (KAI, 2, 1, "there is 1 card:"),
    ],
)
def test_what_no_quota_has_is_told(scheduler: str, quota: int | None, cards: int | None, says: str) -> None:
    amount = None if quota is None else Fraction(quota)
    told = list(quota_words(scheduler, amount, cards, "gpus"))
    assert (len(told), says in "".join(told)) == (bool(says), True), told


@pytest.mark.parametrize(
    ("scheduler", "limit", "most", "cards", "says"),
    [
        (
            KUEUE,
            12,
            8,
            16,
            "the limit of 12 `gpus` is never reached: with all that others could lend it has 8",
        ),
        (KUEUE, 8, 8, 16, ""),
        (KUEUE, 12, 12, 6, "there are 6 cards"),
        (KUEUE, None, 8, 16, ""),
        (KUEUE, 1_000_000, 8, 16, ""),
        (KAI, 12, 12, 8, "there are 8 cards"),
        (KAI, 12, 12, None, ""),
    ],
)
def test_a_limit_that_is_never_reached_is_told(
    scheduler: str, limit: int | None, most: int, cards: int | None, says: str
) -> None:
    zero, whole = Fraction(0), Fraction(most)
    parts = (Part("f", Fraction(4), zero, whole, whole),) if scheduler == KUEUE else ()
    bound = None if limit is None else Fraction(limit)
    capacity = Capacity("archive", scheduler, "gpus", Fraction(4), zero, whole, whole, bound, parts=parts)
    told = limit_words(capacity, cards)
    assert (bool(told), says in told) == (bool(says), True), told


@pytest.mark.parametrize(
    ("scheduler", "noted", "unreached"), [("kueue", True, True), ("both", True, True), ("kai", False, False)]
)
def test_the_queues_of_a_cluster_are_held_against_its_cards(
    scheduler: str, noted: bool, unreached: bool
) -> None:
    place = Place(parse_description("2 nodes of 8 x H100-SXM"), "the fleet")
    stage = staged(platform(teams=LIMITS), place, Scheduler(scheduler))
    found = shares_of_cluster(as_cluster(stage, 1.0))
    archive = next(each for each in found.shares if each.queue == "archive")
    assert any(note.startswith("8 of 16 cards are in no quota") for note in found.notes) == noted
    assert bool(archive.unreached) == unreached


def test_cards_of_a_cordoned_node_are_not_held_against_quotas_and_that_is_said() -> None:
    world = parse_description("2 nodes of 8 x H100-SXM")
    nodes = {name: Node(name, unschedulable=name == "node-2") for name in ("node-1", "node-2")}
    stage = staged(
        platform(teams={"archive": Team("archive", queue=Queue(4))}),
        Place(replace(world, nodes=nodes), "the fleet"),
        Scheduler.KUEUE,
    )
    found = shares_of_cluster(as_cluster(stage, 1.0))
    assert found.there_in_all("gpus") == 8
    beyond, closed = (note for note in found.notes if "no quota" in note or "cordoned" in note)
    assert beyond.startswith("4 of 8 cards are in no quota")
    assert closed == "no pod starts on node-2, which is cordoned: cards there are in no count"


@pytest.mark.parametrize(
    ("scheduler", "window", "bound"),
    [
        ("kueue", 24, True),
        ("both", 24, True),
        ("kueue", 8, False),
        ("kai", 24, False),
        ("default", 24, False),
    ],
)
def test_a_window_that_its_quota_keeps_narrow_is_told(
    tmp_path: Path, scheduler: str, window: int, bound: bool
) -> None:
    volumes = "".join(f"R{number}, " for number in range(30))
    campaign = f"pipeline: read\nvolumes: [{volumes}]\nwindow: {window}\n"
    of = platform(teams=LIMITS)
    found = repository(tmp_path, of, campaigns_letters=campaign)
    place = Place(parse_description("2 nodes of 8 x H100-SXM"), "the fleet")
    scene = scene_for(found, of, LIMITS["archive"], place, scheduler=scheduler)
    told = [note for note in scene.notes if "pods at once" in note]
    said = f"letters: at most 8 of {window} pods at once: ClusterQueue `archive` may have at most 8 `gpus`"
    assert [note.startswith(said) for note in told] == [True] * bound, scene.notes


def test_fewer_volumes_than_the_quota_are_not_bound(tmp_path: Path) -> None:
    of = platform(teams=LIMITS)
    found = repository(tmp_path, of, campaigns_letters=f"{CAMPAIGN}window: 24\n")
    place = Place(parse_description("2 nodes of 8 x H100-SXM"), "the fleet")
    scene = scene_for(found, of, LIMITS["archive"], place, scheduler="kueue")
    assert not [note for note in scene.notes if "pods at once" in note]


@pytest.mark.parametrize(
    ("scheduler", "cards", "told"),
    [
        ("kueue", "2 nodes of 8 x H100-SXM", ["8 of 16 cards are in no quota of `gpus`"]),
        ("both", "2 nodes of 8 x H100-SXM", ["8 of 16 cards are in no quota of `gpus`"]),
        ("kueue", "1 nodes of 8 x H100-SXM", []),
        ("kueue", "1 nodes of 4 x H100-SXM", []),
        ("kai", "2 nodes of 8 x H100-SXM", []),
        ("default", "2 nodes of 8 x H100-SXM", []),
    ],
)
def test_a_plan_tells_of_cards_that_kueue_gives_to_nobody(
    tmp_path: Path, scheduler: str, cards: str, told: list[str]
) -> None:
    of = platform(teams=LIMITS)
    place = Place(parse_description(cards), "the fleet")
    scene = scene_for(repository(tmp_path, of), of, LIMITS["archive"], place, scheduler=scheduler)
    found = [note.partition(", and")[0] for note in scene.notes if "no quota" in note]
    assert found == told
