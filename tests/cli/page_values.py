"""A plan, a comparison and shares that were made up, of any size, for tests of what shows them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from allotment.planning.compare.comparison import (
    Advice,
    Cell,
    Column,
    Comparison,
    Difference,
    Differs,
    Row,
    Told,
    Unit,
    Verdict,
)
from allotment.planning.compare.comparison import Better as BetterWay
from allotment.planning.plan.plan import (
    Becomes,
    CardUse,
    Change,
    Changes,
    Fits,
    Held,
    Payer,
    Plan,
    Risk,
    Waiting,
    WorkPlan,
)
from allotment.planning.scenes.values import Assumption, Maturity, Source
from allotment.planning.why.why import State
from allotment.simulation.outcome import End, Outcome, Span, WorkEnd
from allotment.simulation.quantiles import Band, Spread
from allotment.simulation.setting import TeamShare

TEAMS = {
    "archive": TeamShare("archive", "archive", quota=4.0, limit=12.0),
    "speech": TeamShare("speech", "speech", quota=8.0),
}
HOUR = 3600.0


def outcome(
    volumes: int = 24,
    nodes: int = 2,
    *,
    name: str = "kyrkobocker-2",
    scheduler: str = "kueue",
    seed: int = 0,
    others: Sequence[str] = ("speech-batch", "served-llm"),
) -> Outcome:
    """Volumes on nodes of eight cards, among works of another team, some of which lose their cards."""
    chance = random.Random(seed)
    free = {(f"gpu-{node:02}", card): chance.random() * 600 for node in range(nodes) for card in range(8)}
    spans = []
    for index in range(volumes + volumes // 2):
        node, card = min(free, key=lambda place: (free[place], place))
        start = free[node, card] + 2
        mine = index % 3 != 2
        work = name if mine else others[index % len(others)]
        end = start + chance.choice((300.0, 900.0, 2700.0)) * (0.5 + chance.random())
        lost = not mine and index % 4 == 0
        spans.append(
            Span(
                work=work,
                team="archive" if mine else "speech",
                index=index,
                attempt=0,
                node=node,
                devices=(f"gpu.nvidia.com/{node}/gpu-{card}",),
                card="a100-80gb" if node < "gpu-30" else "l4-24gb",
                gpus=1.0,
                bound=start,
                ready=start + 40 + chance.random() * 60,
                ended=end,
                end=End.RECLAIMED if lost else End.COMPLETE,
                pages=0 if lost else 40,
                lost=33.0 if lost else 0.0,
                by=name if lost else "",
            )
        )
        free[node, card] = end
    last = max((span.ended for span in spans), default=0.0)
    return Outcome(
        scheduler=scheduler,
        seed=seed,
        until=7 * 24 * HOUR,
        spans=tuple(spans),
        waits=(),
        decisions=(),
        ends=(WorkEnd(name, "archive", 0.0, 2.0, last, complete=volumes),),
        gpus=(("a100-80gb", 8 * min(30, nodes)), ("l4-24gb", 8 * max(0, nodes - 30))),
    )


def work_plan(name: str = "kyrkobocker-2", volumes: int = 24) -> WorkPlan:
    """A campaign that grows to its window."""
    return WorkPlan(
        name=name,
        team="archive",
        kind="campaign",
        units=volumes,
        left=volumes - 2,
        pages=40 * volumes,
        least=1,
        most=8,
        fits=Fits(
            asks="a card with at least 40Gi",
            state=State.WAITS,
            sentence="16 devices would do, none of them is free",
            all=24,
            would=16,
            free=0,
            cards=(("a100-80gb", 16),),
            obstacle="l4-24gb: memory 22.49Gi is less than 40Gi",
        ),
        start=Spread(60.0, 600.0, 1860.0),
        end=Spread(2.2 * HOUR, 3.1 * HOUR, 4.4 * HOUR),
        late=0.06,
        window=tuple(
            Band(at * 260.0, max(0, min(8, at // 6 - 1)), min(8, at // 3), min(8, at)) for at in range(61)
        ),
        cards=(CardUse("a100-80gb", Spread(36.0, 41.0, 47.5), 2.0),),
        gpu_hours=Spread(36.0, 41.0, 47.5),
        money=Spread(72.0, 82.0, 95.0),
        waits=(
            Waiting(
                "WaitingForQuota", "the team has used its quota, 4 of 4 GPUs", Spread(30.0, 480.0, 1500.0)
            ),
            Waiting("Unschedulable", "no node has a free card with 40Gi", Spread(0.0, 120.0, 360.0)),
        ),
        reclaimed=Spread(0.0, 2.0, 5.0),
        pages_lost=Spread(0.0, 2.0, 5.0),
        basis="measured, 37 volumes",
    )


def plan(volumes: int = 24, nodes: int = 2, name: str = "kyrkobocker-2") -> Plan:
    """A plan for one campaign."""
    return Plan(
        world="cluster-2026-11-29",
        at=1_795_953_600.0,
        scheduler="kueue",
        team="archive",
        changes=Changes(
            "the commit main",
            (
                Change(f"campaigns/{name}", Becomes.NEW, (f"{volumes} volumes, window 1..8",)),
                Change("campaigns/old", Becomes.UNCHANGED),
                Change("fleets/served-llm", Becomes.CHANGED, ("replicas 2 becomes 3",)),
            ),
        ),
        works=(work_plan(name, volumes),),
        draws=32,
        seed=1,
        until=7 * 24 * HOUR,
        end=Spread(2.2 * HOUR, 3.1 * HOUR, 4.4 * HOUR),
        gpu_hours=Spread(36.0, 41.0, 47.5),
        money=Spread(72.0, 82.0, 95.0),
        payers=(
            Payer(
                "speech-batch",
                "speech",
                "campaign",
                reclaimed=Spread(0.0, 2.0, 4.0),
                pages_lost=Spread(0.0, 2.0, 4.0),
                later=Spread(0.0, 300.0, 900.0),
                draws=0.7,
            ),
        ),
        others=2,
        assumptions=(
            Assumption("image pull", "60 s", Source.GUESS, "the same on every node", remedy="measure a run"),
            Assumption("DRA partitionable devices", "on", Source.SEEN, maturity=Maturity.BETA),
        ),
        risks=(Risk("pages take half as long again", name, Spread(3000.0, 3600.0, 5400.0), 6),),
        caveats=("KAI is not simulated here: use `allot compare`.",),
        held=(Held("at most 90 EUR in nine of ten draws", 90.0, 95.0, is_kept=False),),
        gpus=(("a100-80gb", 8 * nodes),),
        teams=TEAMS,
        course=outcome(volumes, nodes, name=name),
    )


def _cell(values: tuple[float, float, float], told: Told | None) -> Cell:
    difference = None
    if told is not None:
        difference = Difference(Spread(-90.0, -60.0, -10.0), 30, 2, 32, 0.001, -0.18, told)
    return Cell(Spread(*values), values, difference)


def comparison(volumes: int = 24, nodes: int = 2, name: str = "kyrkobocker-2") -> Comparison:
    """Three schedulers, and one that cannot do it."""
    rows = (
        Row("makespan", "all that ends is over", Unit.SECONDS),
        Row(f"finish.{name}", f"{name} ends", Unit.SECONDS, of=name),
        Row("wait.archive.campaign.max", "wait of archive's campaign", Unit.SECONDS, of="archive"),
        Row("use", "cards in use", Unit.PART, BetterWay.MORE),
        Row("fairness", "fairness (Jain, of deserved)", Unit.PART, BetterWay.MORE),
        Row("reclaims", "pods taken back", Unit.COUNT),
        Row("money", "cost", Unit.MONEY),
    )
    tolds = (
        (None,) * 7,
        (Told.BETTER, Told.BETTER, Told.WORSE, Told.CHANCE, Told.SAME, Told.OTHER, Told.SMALL),
    )
    columns = []
    for place, scheduler in enumerate(("default", "kueue", "kai")):
        by = 1 - 0.15 * place
        values = (
            (9000, 11000, 16000), (8000, 10500, 15000), (60, 600, 2400), (0.5, 0.62, 0.7), (0.7, 0.8, 0.9),
            (0, 2, 5), (72, 82, 95),
        )  # fmt: skip
        cells = {
            row.key: _cell((value[0] * by, value[1] * by, value[2] * by), told)
            for row, value, told in zip(rows, values, tolds[min(place, 1)], strict=True)
        }
        columns.append(
            Column(
                scheduler,
                scheduler,
                cells=cells,
                course=outcome(volumes, nodes, name=name, scheduler=scheduler, seed=place),
                notes=("KAI's own order of nodes is not modelled.",) if scheduler == "kai" else (),
            )
        )
    columns.append(Column("both", "both", refused="a fallback list cannot be counted by Kueue"))
    return Comparison(
        world="cluster-2026-11-29",
        works=(name, "speech-batch", "served-llm"),
        rows=rows,
        columns=tuple(columns),
        seed=1,
        draws=32,
        until=7 * 24 * HOUR,
        differs=(
            Differs(
                "kai",
                "default",
                540.0,
                name,
                f"after 9 min kai starts volume 3 of {name} on gpu-01",
                "default lets it wait",
                "the team's quota lends 2 GPUs",
            ),
        ),
        advice=(
            Advice(
                "kai",
                "kueue",
                Verdict.YES,
                ("all is over 26 min earlier, beyond chance", "whole nodes stay free for served-llm"),
                ("2 pods are taken back more often",),
                ("every team keeps within its quota",),
                now=Advice("kai", "default", Verdict.NO, ("nothing is better",)),
            ),
            Advice("both", "kueue", Verdict.NO, ("it cannot do this work",)),
        ),
        advice_rests_on="32 draws. What counts is beyond chance.",
        alike=("`quota.archive=8` changes nothing under default: it knows no quotas",),
        gpus=(("a100-80gb", 8 * nodes),),
        teams=TEAMS,
        notes=("Prices are those of the platform's file.",),
    )
