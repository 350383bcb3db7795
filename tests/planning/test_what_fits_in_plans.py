"""What plans say of cards: how many would do, what stands first in the way, and what upstream may refuse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from allotment.devices.claims import ClaimSpec, Constraint
from allotment.devices.describe import parse_description
from allotment.devices.known_classes import CPU_DRIVER
from allotment.devices.server import Server
from allotment.devices.slices import Device
from allotment.needs import claim_for
from allotment.planning.plan.caveats import caveats_of, sharing_caveats
from allotment.planning.plan.fitting import fits_of
from allotment.planning.plan.locally import as_run_here, said_here, waits_here
from allotment.planning.plan.plan import Fits, Waiting, WorkPlan
from allotment.planning.why.why import State
from allotment.platform.model import Card, Platform
from allotment.platform.need import MemoryRange, Need
from allotment.quantities import GI
from allotment.repository.model import Campaign, Pipeline, Repository, Window
from allotment.scheduling.state.pod_groups import PodRequest
from allotment.scheduling.state.pods import PodClaim
from allotment.simulation.quantiles import Spread
from allotment.simulation.work import Ask, Kind, Work

CLUSTER = Platform(engine="kubernetes")
ON_DEMAND = replace(parse_description("1 x H100-SXM mig=on-demand"), server=Server.of("1.36"))
OF_ONE_CARD = replace(
    claim_for(Need(sharing=("mig",), count=2)),
    constraints=(Constraint(match_attribute="gpu.nvidia.com/parentUUID"),),
)
ANY = claim_for(Need(sharing=("mig",), count=2))


def fits(need: Need, world: str, platform: Platform = CLUSTER) -> Fits:
    """What fits of a need."""
    found, _ = fits_of("x", Pipeline("x", (), gpu=need), platform, parse_description(world), here=False)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("need", "world", "sentence", "obstacle"),
    [
        pytest.param(Need(), "2 x L4", "fits 2 of 2 cards", "", id="all of them"),
        pytest.param(
            Need(memory=MemoryRange(at_least=40 * GI)),
            "8 x H100-SXM, 8 x L4",
            "fits 8 of 16 cards",
            "not all have at least 40Gi of memory (8 x L4: memory is 22.49Gi (23034Mi))",
            id="memory",
        ),
        pytest.param(
            Need(),
            "1 x H100-SXM, 1 x A100-40 mig=1g.5gb*7",
            "fits 1 of 1 card",
            "",
            id="parts of other cards",
        ),
    ],
)
def test_the_first_thing_in_the_way_is_told(need: Need, world: str, sentence: str, obstacle: str) -> None:
    found = fits(need, world)
    assert (found.sentence, found.obstacle, found.state) == (sentence, obstacle, State.FITS)


def test_a_class_of_the_platforms_is_told_by_its_name() -> None:
    platform = Platform(engine="kubernetes", cards={"l4": Card("L4", "gpu-l4")})
    found = fits(Need(card=("L4",)), "1 x L4, 3 x H100-SXM", platform)
    assert found.sentence == "fits 1 of 4 cards"
    assert found.obstacle.startswith("not all are of class gpu-l4 (3 x H100-SXM-80: ")


def test_what_never_fits_says_so_with_what_would() -> None:
    found = fits(Need(memory=MemoryRange(at_least=40 * GI)), "2 x L4")
    assert (found.state, found.would) == (State.NEVER, 0)
    assert found.obstacle.startswith("it will never fit here")
    assert found.remedies


def test_what_would_do_one_by_one_and_not_together_is_not_said_to_fit() -> None:
    found = fits(Need(count=9), "2 nodes of 8 x H100-SXM")
    assert found.sentence == "fits nowhere, though one by one 16 of 16 cards would do"
    assert [each.words for each in found.remedies] == ["write `count: 8` (asked: 9)"]


@pytest.mark.parametrize(
    ("claim", "version", "warned"),
    [
        pytest.param(OF_ONE_CARD, "1.36", True, id="which patch release is not told"),
        pytest.param(OF_ONE_CARD, "v1.36.2", True, id="before it was mended"),
        pytest.param(OF_ONE_CARD, "v1.36.3", False, id="mended"),
        pytest.param(ANY, "1.36", False, id="nothing has to be of one card"),
    ],
)
def test_what_upstream_refuses_wrongly_is_a_caveat(claim: ClaimSpec, version: str, warned: bool) -> None:
    assert bool(list(caveats_of("books", claim, ON_DEMAND, version))) is warned


def test_later_releases_and_cards_that_are_whole_need_no_caveat() -> None:
    later = replace(ON_DEMAND, server=Server.of("1.37"))
    whole = replace(parse_description("2 x H100-SXM"), server=Server.of("1.36"))
    assert not list(caveats_of("books", OF_ONE_CARD, later, "1.37"))
    assert not list(caveats_of("books", OF_ONE_CARD, whole, "1.36"))


def test_without_a_card_this_machine_falls_back_to_processors_and_begins_with_what_fits(
    tmp_path: Path,
) -> None:
    need = Need(fallback=(Need(cpu=2),))
    found = Repository(
        tmp_path, {"p": Pipeline("p", (), gpu=need)}, {"c": Campaign("c", "p", (), Window(2, 8))}
    )
    processors = parse_description("1 x L4")
    same, said = as_run_here(found, processors)
    assert (same, said) == (found, ())
    empty = replace(processors, slices=())
    here, said = as_run_here(found, empty)
    assert here.pipelines["p"].gpu == Need(cpu=2)
    assert here.campaigns["c"].window == Window(1, 8)
    assert said == ("c runs on processors, for there is no card here",)
    assert as_run_here(found, empty, here=False) == (found, ())


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("0/1 nodes are available: 1 Insufficient cpu.", "every processor is taken: there are 2"),
        (
            "0/1 nodes are available: 1 cannot allocate all claims.",
            "every device that would do is in use",
        ),
        ("the quota of `archive` is used up", "the quota of `archive` is used up"),
    ],
)
def test_waits_for_room_are_told_in_words_of_a_machine(message: str, told: str) -> None:
    cores = parse_description("1 x L4")
    (slice_,) = cores.slices
    world = replace(
        cores,
        slices=(replace(slice_, driver=CPU_DRIVER, devices=(Device("cpu-0"), Device("cpu-1"))),),
    )
    work = WorkPlan("c", "t", "campaign", waits=(Waiting("Unschedulable", message, Spread(1, 1, 1)),))
    (here,) = waits_here([work], world)
    assert [each.message for each in here.waits] == [told]


def test_what_is_said_of_clusters_is_not_said_here() -> None:
    assert list(said_here(["campaigns/c: it is dropped on a cluster", "1 folder is empty"])) == [
        "1 folder is empty"
    ]


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (Ask(request=PodRequest(fraction=0.25)), True),
        (Ask(claims=(PodClaim("card", ClaimSpec(()), "team/card"),)), True),
        (Ask(claims=(PodClaim("card", ClaimSpec(())),)), False),
        (Ask(request=PodRequest(gpus=1)), False),
    ],
)
def test_who_shares_a_card_is_told_of(ask: Ask, told: bool) -> None:
    assert bool(list(sharing_caveats([Work("w", "t", Kind.CAMPAIGN, ask)]))) is told


@pytest.mark.parametrize(
    ("need", "world", "sentence"),
    [
        (Need(memory=MemoryRange(at_least=100 * GI)), "4 x H100-SXM", "fits 0 of 4 cards"),
        (Need(memory=MemoryRange(at_least=40 * GI)), "4 x H100-SXM, 1 x L4", "fits 4 of 5 cards"),
        (Need(sharing=("mig",)), "1 x H100-SXM mig=1g.10gb*7", "fits 7 of 7 devices"),
    ],
)
def test_cards_are_cards_whether_any_would_do_or_not(need: Need, world: str, sentence: str) -> None:
    assert fits(need, world).sentence == sentence
