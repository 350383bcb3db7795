"""Small scenes of which everything can be worked out by hand: two nodes with a card each, fixed times."""

from __future__ import annotations

from collections.abc import Mapping

from allotment.planning.plan.plan import Becomes, Change, Changes
from allotment.planning.scenes.values import Scene
from allotment.scheduling.state.nodes import ClusterNode
from allotment.scheduling.state.pod_groups import PodRequest
from allotment.scheduling.state.state import State
from allotment.simulation.distributions import Constant
from allotment.simulation.run_times import Basis, RunTimes, Times
from allotment.simulation.setting import Chances, Pace, Scheduler, Setting
from allotment.simulation.work import Ask, Kind, Unit, Work

NO_CHANCES = Chances()
AT_ONCE = Pace(pod_start=0, image_pull=0, model_load=0, mig_cut=0, job_sync=0, sending=0)
CARD = Ask(request=PodRequest(gpus=1), gpus=1.0)
NEW = Changes("./results", (Change("campaigns/letters", Becomes.NEW),))
PAGE = 100.0


def campaign(
    name: str = "letters", volumes: int = 4, *, most: int = 2, arrival: float = 0.0, planned: bool = True
) -> Work:
    """Volumes of a page each, of a hundred seconds each."""
    return Work(
        name=name,
        team="archive" if planned else "museum",
        kind=Kind.CAMPAIGN,
        ask=CARD,
        units=tuple(Unit(f"v{number}") for number in range(volumes)),
        arrival=arrival,
        most=most,
        recipe=name,
        planned=planned,
    )


def fleet(name: str = "served", *, most: int = 1, planned: bool = False) -> Work:
    """What does not end."""
    return Work(name=name, team="museum", kind=Kind.FLEET, ask=CARD, most=most, planned=planned)


def scene(
    *works: Work,
    nodes: int = 2,
    pages: Mapping[str, float] | None = None,
    chances: Chances = NO_CHANCES,
    pace: Pace = AT_ONCE,
) -> Scene:
    """These works on so many nodes with a card each, under the scheduler that only counts."""
    state = State(
        nodes={
            f"n{number}": ClusterNode(f"n{number}", allocatable={"nvidia.com/gpu": 1})
            for number in range(nodes)
        }
    )
    cards = {f"n{number}": "L4" for number in range(nodes)}
    setting = Setting(Scheduler.SIMPLE, state, {}, card_of_node=cards, pace=pace, chances=chances)
    seconds = pages or {}
    known = {
        work.recipe: Times(Constant(seconds.get(work.recipe, PAGE)), None, Basis.MEASURED, "measured by hand")
        for work in works
        if work.recipe
    }
    return Scene(setting, works, RunTimes(otherwise=known), name="two cards", now=1_800_000_000.0)
