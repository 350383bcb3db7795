"""A little comparison that is played with the simplest scheduler: one node of cards against two."""

from __future__ import annotations

from allotment.planning.compare.comparing import Play, Variant, compare
from allotment.planning.compare.comparison import Comparison
from allotment.planning.scenes.values import Assumption, Scene, Source
from allotment.scheduling.state.nodes import ClusterNode
from allotment.scheduling.state.pod_groups import PodRequest
from allotment.scheduling.state.state import State
from allotment.simulation.distributions import LogNormal
from allotment.simulation.run_times import Basis, RunTimes, Times
from allotment.simulation.setting import Scheduler, Setting, TeamShare
from allotment.simulation.work import Ask, Kind, Unit, Work

PAGES = Assumption("a page of ocr", "3 s", Source.ESTIMATE, "pipelines/ocr.yaml")
QUOTA = Assumption("two nodes", "as said", Source.STATED)


def scene(nodes: int, *assumptions: Assumption) -> Scene:
    """A campaign of twelve volumes and a gang of four on so many nodes of four cards."""
    allocatable = {"nvidia.com/gpu": 4}
    state = State(nodes={f"n{n}": ClusterNode(f"n{n}", allocatable=allocatable) for n in range(nodes)})
    teams = {name: TeamShare(name, name, quota=2.0) for name in ("archive", "lab")}
    ask = Ask(request=PodRequest(gpus=1), gpus=1.0)
    volumes = tuple(Unit(f"v{n}", pages=20) for n in range(12))
    works = (
        Work("books", "archive", Kind.CAMPAIGN, ask, volumes, most=6, recipe="ocr", planned=True),
        Work("training", "lab", Kind.GANG, ask, (Unit("all", seconds=600),), least=4, most=4),
    )
    times = RunTimes(guess=Times(LogNormal(3.0, 0.5), None, Basis.GUESS))
    card_of_node = dict.fromkeys(state.nodes, "L4")
    return Scene(
        Setting(Scheduler.SIMPLE, state, teams, card_of_node=card_of_node),
        works,
        times,
        assumptions,
        name="here",
    )


def little(**more: object) -> Comparison:
    """One node against two, and one that cannot be."""
    variants = [
        Variant("one node", "simple", scene=scene(1, PAGES)),
        Variant("two nodes", "simple", ("describe=2 nodes of 4 x L4",), scene(2, PAGES, QUOTA)),
        Variant("kai", "kai", refused="there is no KAI here"),
    ]
    return compare(variants, Play(**{"draws": 8, "prices": {"L4": 1.5}, **more}))  # type: ignore[arg-type]
