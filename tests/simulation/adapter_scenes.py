"""Small clusters and works for the tests of the adapters: teams, counted cards, volumes of known length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from allotment.devices.claims import ClaimSpec, ExactRequest, Request
from allotment.devices.describe import parse_description
from allotment.scheduling.state.nodes import ClusterNode, Flavor
from allotment.scheduling.state.pod_groups import PodRequest
from allotment.scheduling.state.pods import PodClaim
from allotment.scheduling.state.queues import (
    ANY,
    LOWER,
    ClusterQueue,
    Cohort,
    LabelSelector,
    LocalQueue,
    Preemption,
    Quota,
    ResourceGroup,
)
from allotment.scheduling.state.share_queues import FREELY, NO_LIMIT, Allotted, ShareQueue
from allotment.scheduling.state.state import State
from allotment.simulation.draws import Draws
from allotment.simulation.outcome import End, Outcome, Span
from allotment.simulation.run_times import RunTimes
from allotment.simulation.setting import Pace, Scheduler, Setting, TeamShare
from allotment.simulation.simulate import simulate
from allotment.simulation.work import Ask, Kind, Unit, Work

AT_ONCE = Pace(kueue_rate=1e6, default_rate=1e6, pod_start=0.0, image_pull=0.0, model_load=0.0, job_sync=0.0)
LONG = 1e6


def setting(
    scheduler: Scheduler,
    quotas: Mapping[str, float],
    *,
    cards: Sequence[int] = (8,),
    limits: Mapping[str, float] | None = None,
    pace: Pace = AT_ONCE,
    **more: object,
) -> Setting:
    """Nodes with so many counted cards each, and a queue of every scheduler for each team."""
    nodes = {f"n{number}": _node(f"n{number}", count) for number, count in enumerate(cards)}
    state = State(nodes=nodes, **_queues(quotas, limits or {}))  # type: ignore[arg-type]  # its fields
    return _setting(scheduler, state, quotas, pace, more)


def described(scheduler: Scheduler, text: str, quotas: Mapping[str, float], **more: object) -> Setting:
    """Nodes with the devices of a description."""
    world = parse_description(text)
    names = dict.fromkeys(published.node_name or "" for published in world.slices)
    nodes = {name: _node(name, 0) for name in names}
    state = State(nodes=nodes, published=world, **_queues(quotas, {}))  # type: ignore[arg-type]  # its fields
    return _setting(scheduler, state, quotas, AT_ONCE, more)


def _setting(
    scheduler: Scheduler, state: State, quotas: Mapping[str, float], pace: Pace, more: Mapping[str, object]
) -> Setting:
    teams = {name: TeamShare(name, name, "line", name, quota) for name, quota in quotas.items()}
    made = Setting(scheduler, state, teams, card_of_node=dict.fromkeys(state.nodes, "card"), pace=pace)
    return replace(made, **more)  # type: ignore[arg-type]  # its fields


def _node(name: str, cards: int) -> ClusterNode:
    labels = {"nvidia.com/gpu.count": str(cards), "nvidia.com/gpu.memory": "80000"} if cards else {}
    amounts = {"cpu": 64_000, "memory": 2**40, "pods": 110, **({"nvidia.com/gpu": cards} if cards else {})}
    return ClusterNode(name, {"kubernetes.io/hostname": name, **labels}, amounts)


def _queues(quotas: Mapping[str, float], limits: Mapping[str, float]) -> dict[str, object]:
    root = ShareQueue("root", cpu=FREELY, memory=FREELY, gpu=Allotted(NO_LIMIT, NO_LIMIT, 1.0))
    shares = {
        name: ShareQueue(
            name, "root", cpu=FREELY, memory=FREELY, gpu=Allotted(quota, limits.get(name, NO_LIMIT), 1.0)
        )
        for name, quota in quotas.items()
    }
    queues = {name: _cluster_queue(name, quota, limits.get(name)) for name, quota in quotas.items()}
    return {
        "share_queues": {"root": root, **shares},
        "cluster_queues": queues,
        "cohorts": {"all": Cohort("all")},
        "local_queues": {f"{name}/line": LocalQueue(name, "line", name) for name in quotas},
        "flavors": {"any": Flavor("any")},
    }


def _cluster_queue(name: str, quota: float, limit: float | None) -> ClusterQueue:
    borrowing = None if limit is None else int(limit - quota)
    group = ResourceGroup(("gpus",), ("any",), {("any", "gpus"): Quota(int(quota), borrowing)})
    taking = Preemption(within=LOWER, reclaim=ANY)
    return ClusterQueue(name, "all", (group,), namespaces=LabelSelector(), preemption=taking)


def ask(cards: int = 1) -> Ask:
    """Counted cards."""
    request = PodRequest(cpu=1000, memory=1e9, gpus=cards)
    return Ask(request=request, charges={"gpus": cards}, gpus=cards)


def claim(*selectors: str, count: int = 1, device_class: str = "gpu.nvidia.com") -> Ask:
    """Claimed ones."""
    exact = ExactRequest(device_class, selectors, count)
    spec = ClaimSpec((Request("cards", exact),))
    return Ask(
        (PodClaim("cards", spec),), PodRequest(cpu=1000, memory=1e9), charges={"gpus": count}, gpus=count
    )


def campaign(
    name: str, team: str, volumes: int, window: tuple[int, int], *, seconds: float = 600.0, **more: object
) -> Work:
    """Volumes of ten pages that take so long each."""
    units = tuple(Unit(f"{name}-{number}", pages=10, seconds=seconds) for number in range(volumes))
    made = Work(name, team, Kind.CAMPAIGN, ask(), units, least=window[0], most=window[1])
    return replace(made, **more)  # type: ignore[arg-type]  # its fields


def gang(name: str, team: str, workers: int, *, seconds: float = 600.0, **more: object) -> Work:
    """Workers that start together."""
    units = (Unit(name, pages=10, seconds=seconds),)
    made = Work(name, team, Kind.GANG, ask(), units, least=workers, most=workers)
    return replace(made, **more)  # type: ignore[arg-type]  # its fields


def fleet(name: str, team: str, replicas: int, **more: object) -> Work:
    """What does not end."""
    made = Work(name, team, Kind.FLEET, ask(), least=1, most=replicas)
    return replace(made, **more)  # type: ignore[arg-type]  # its fields


def played(made: Setting, *works: Work, until: float = LONG, seed: int = 1) -> Outcome:
    """What becomes of them."""
    return simulate(made, works, RunTimes(), Draws(seed), until)


def started(outcome: Outcome, work: str) -> list[float]:
    """When the pods of a work got their nodes."""
    return sorted(span.bound for span in outcome.spans if span.work == work)


def taken(outcome: Outcome, work: str) -> list[Span]:
    """Runs of it that were reclaimed."""
    return [span for span in outcome.spans if span.work == work and span.end is End.RECLAIMED]


def finish(outcome: Outcome, work: str) -> float | None:
    """When it was over."""
    return next(end.finished for end in outcome.ends if end.work == work)


def at_once(outcome: Outcome, moment: float) -> dict[str, float]:
    """How many cards each team has at a moment."""
    held: dict[str, float] = {}
    for span in outcome.spans:
        if span.bound <= moment < span.ended:
            held[span.team] = held.get(span.team, 0.0) + span.gpus
    return held
