"""Small settings and works to be worked out by hand, and a scheduler that plays a script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from allotment.devices.claims import ClaimSpec, ExactRequest, Request
from allotment.devices.describe import parse_description
from allotment.scheduling.state.nodes import ClusterNode
from allotment.scheduling.state.pods import PodClaim
from allotment.scheduling.state.state import State
from allotment.simulation.adapters.adapter import MayRun, Order, PodId, Start, Stop
from allotment.simulation.draws import Draws
from allotment.simulation.outcome import End, Outcome
from allotment.simulation.run_times import Basis, RunTimes, Sampled, Times
from allotment.simulation.setting import Chances, Pace, Scheduler, Setting
from allotment.simulation.simulate import simulate
from allotment.simulation.work import Ask, Kind, Unit, Work

CARD = "H100-SXM"
ONE_CARD = Ask((PodClaim("card", ClaimSpec((Request("card", ExactRequest("gpu.nvidia.com")),))),), gpus=1.0)
TENS = RunTimes(guess=Times(Sampled([10.0]), None, Basis.GUESS))
"""Every page takes ten seconds."""


def setting_of(
    scheduler: Scheduler = Scheduler.SIMPLE, described: str = f"1 nodes of 8 x {CARD}", **more: Any
) -> Setting:
    """A setting of described cards."""
    world = parse_description(described)
    names = dict.fromkeys(each.node_name or "" for each in world.slices)
    nodes = {name: ClusterNode(name, allocatable={"cpu": 64_000, "memory": 2**40}) for name in names}
    cards = {str(device): CARD for device, _ in world.devices()}
    return Setting(scheduler, State(nodes=nodes, published=world), {}, cards, **more)


def volumes(*pages: int, **more: Any) -> tuple[Unit, ...]:
    """Volumes of so many pages, each page taking ten seconds."""
    return tuple(Unit(f"v{n}", many, seconds=10.0 * many, **more) for n, many in enumerate(pages))


def campaign(*units: Unit, name: str = "w", **more: Any) -> Work:
    """A campaign whose pods ask for a card each."""
    return replace(Work(name, "team", Kind.CAMPAIGN, ONE_CARD, units, most=len(units) or 1), **more)


@dataclass
class Told:
    """A scheduler that gives every pod a place at once, but for what it is told to do at given times."""

    script: Sequence[tuple[float, Order]] = ()
    devices: tuple[str, ...] = ("d",)
    most: int | None = None
    heard: list[tuple[str, Any]] = field(default_factory=list)
    works: dict[str, Work] = field(default_factory=dict)
    waiting: list[PodId] = field(default_factory=list)
    allowed: dict[str, int] = field(default_factory=dict)

    heeds_ready = True

    def __post_init__(self) -> None:
        self.script = sorted(self.script, key=lambda each: each[0])

    def arrived(self, work: Work, now: float) -> int:
        self.works[work.name] = work
        self.allowed[work.name] = work.most if self.most is None else self.most
        return self.allowed[work.name]

    def placed(self, starts: Sequence[Start], now: float) -> None:
        self.heard += [("placed", each.pod) for each in starts]

    def created(self, pods: Sequence[PodId], now: float) -> None:
        self.waiting += pods

    def ready(self, pods: Iterable[PodId], now: float) -> None:
        self.heard += [("ready", each) for each in pods]

    def ended(self, pods: Iterable[PodId], now: float) -> None:
        self.heard += [("ended", each) for each in pods]
        self.waiting = [each for each in self.waiting if each not in set(pods)]

    def left(self, work: str, units: int, now: float) -> int:
        self.heard.append(("left", units))
        return self.allowed[work]

    def finished(self, work: str, now: float) -> None:
        self.heard.append(("finished", work))

    def node(self, name: str, now: float, *, up: bool) -> None:
        self.heard.append(("node", (name, up)))

    def due(self, now: float) -> float | None:
        if self.waiting:
            return now
        return self.script[0][0] if self.script else None

    def round(self, now: float) -> Sequence[Order]:
        orders: list[Order] = [Start(pod, "node-1", self.devices) for pod in self.waiting]
        self.waiting = []
        while self.script and self.script[0][0] <= now:
            order = self.script[0][1]
            self.script = self.script[1:]
            orders.append(order)
            if isinstance(order, MayRun):
                self.allowed[order.work] = order.pods
        return orders

    def notes(self) -> Sequence[str]:
        return ()


def course(
    *works: Work,
    script: Sequence[tuple[float, Order]] = (),
    pace: Pace | None = None,
    chances: Chances | None = None,
    until: float = 1e6,
    seed: int = 1,
    adapter: Told | None = None,
    times: RunTimes = TENS,
) -> Outcome:
    """What becomes of works where every pod gets a place at once, two seconds before it begins."""
    setting = setting_of(pace=pace or Pace(job_sync=0.0), chances=chances or Chances())
    return simulate(setting, works, times, Draws(seed), until, adapter=adapter or Told(script))


def runs(outcome: Outcome) -> list[tuple[int, int, float, float, float, str, int, float]]:
    """Each run as index, attempt, bound, ready, ended, how, pages, seconds lost."""
    return [
        (
            each.index,
            each.attempt,
            each.bound,
            each.ready,
            each.ended,
            str(each.end),
            each.pages,
            round(each.lost, 6),
        )
        for each in outcome.spans
    ]


def stop(number: int, attempt: int = 0, end: End = End.RECLAIMED, by: str = "other", work: str = "w") -> Stop:
    """An order to leave."""
    return Stop(PodId(work, number, attempt), by, end=end)
