"""Made-up small clusters and campaigns, each of a seed: nodes, quotas, who sends what, and how long it takes.

A pod runs no runner but a shell's words: a volume is so many pages of so many seconds each on a kind of card,
which is what the plan is told as measured. Told to leave, it does as our runner does: the page in hand is
finished, and what is done is not done again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from string import Template
from typing import Any, Final

MINE: Final = "archive"
OTHERS: Final = "laboratory"
A100: Final = "A100-80"
L4: Final = "L4"
CLASSES: Final[Mapping[str, str]] = {"a100": A100, "l4": L4}
"""The kinds of card as a platform's file has them, which Kueue is told of at its start."""
IMAGE: Final = "registry.example.org/htr/{}@sha256:" + "3f" * 32
NEEDS: Final[tuple[Mapping[str, Any], ...]] = (
    {"card": "a100"},
    {"card": "l4"},
    {"memory": "40Gi"},
    {"memory": "20Gi"},
)
"""What a pod may need. Only the first two are admitted by the Kueue that can be had."""
_WORDS: Final = Template(
    """\
index="$${PLAYED_POD%-*}"; job="$${index%-*}"; cd $folder || exit 1
seconds=$$(cat "$$job.$$PLAYED_NODE"); pages=$$(cat "$$index.pages")
done=$$(cat "$$index.done" 2>/dev/null || echo 0); stop=
trap 'stop=1' TERM
[ "$$done" -lt "$$pages" ] || exit 0
echo "$$(date +%s.%N) begins $$PLAYED_POD" >> log
while [ "$$done" -lt "$$pages" ]; do
  if [ -n "$$stop" ]; then echo "$$(date +%s.%N) leaves $$PLAYED_POD" >> log; exit 143; fi
  sleep "$$seconds"; done=$$((done + 1)); echo "$$done" > "$$index.done"
done
echo "$$(date +%s.%N) ends $$PLAYED_POD" >> log
"""
)


def words(folder: Path) -> str:
    """What every pod runs; ``folder`` holds what volumes are like, and takes down what happens."""
    return _WORDS.substitute(folder=folder)


@dataclass(frozen=True, slots=True)
class Node:
    """A node of so many cards, and so many cores."""

    cards: int
    card: str
    cores: int


@dataclass(frozen=True, slots=True)
class Campaign:
    """What is sent: pages by volume, seconds of a page by card. ``goes_before``: it runs before the plan."""

    name: str
    team: str
    need: Mapping[str, Any]
    lane: str
    width: int
    pages: tuple[int, ...]
    seconds: Mapping[str, float]
    goes_before: bool = False


@dataclass(frozen=True, slots=True)
class Small:
    """All of one seed.

    ``head_start`` is how many seconds pass before those who come later are planned, ``late`` how many
    between what the one team sends and what the other does.
    """

    seed: int
    scheduler: str
    nodes: tuple[Node, ...]
    quotas: Mapping[str, Mapping[str, int]]
    campaigns: tuple[Campaign, ...]
    head_start: float
    late: float

    @property
    def fleet(self) -> str:
        """The nodes in the words of ``--describe``."""
        return ", ".join(f"1 nodes of {each.cards} x {each.card}" for each in self.nodes)

    def of(self, team: str) -> tuple[Campaign, ...]:
        """What a team sends."""
        return tuple(each for each in self.campaigns if each.team == team)


def small(seed: int) -> Small:
    """That of a seed, always the same."""
    return _Maker(seed).made()


class _Maker:
    def __init__(self, seed: int) -> None:
        self.dice = Random(1000 + seed)
        self.seed = seed
        self.scheduler = "kueue" if seed % 2 else "default"
        self.nodes = self.some_nodes()
        self.cards = sum(each.cards for each in self.nodes)

    def made(self) -> Small:
        dice = self.dice
        before = dice.random() < 0.5
        mine = dice.randint((self.cards + 1) // 2 if before else 1, self.cards - 1)
        limit = dice.choice((None, self.cards))
        quotas: dict[str, dict[str, int]] = {
            MINE: {"quota": mine} | ({"limit": max(limit, mine)} if limit else {}),
            OTHERS: {"quota": self.cards - mine},
        }
        campaigns = []
        if before:
            team = OTHERS if self.scheduler == "kueue" or dice.random() < 0.5 else MINE
            campaigns.append(self.campaign("first", team, dice.randint(3, 6), goes_before=True))
        for name in ("books", "maps")[: dice.choice((1, 2, 2))]:
            campaigns.append(self.campaign(name, MINE, dice.randint(3, 6)))
        if not before and dice.random() < 0.6:
            campaigns.append(self.campaign("plants", OTHERS, dice.randint(3, 5)))
        return Small(
            self.seed,
            self.scheduler,
            self.nodes,
            quotas,
            tuple(campaigns),
            head_start=dice.choice((1.5, 2.5, 3.5)),
            late=dice.choice((0.0, 1.0, 3.0)),
        )

    def some_nodes(self) -> tuple[Node, ...]:
        """Both kinds of card most of the time, and no two nodes of one size."""
        dice = self.dice
        kinds = [A100, dice.choice((A100, L4, L4)), dice.choice((A100, L4)), A100][: dice.randint(2, 4)]
        cores = dice.sample((4, 8, 16, 32), len(kinds))
        return tuple(Node(dice.choice((1, 2)), card, each) for card, each in zip(kinds, cores, strict=True))

    def campaign(self, name: str, team: str, volumes: int, *, goes_before: bool = False) -> Campaign:
        dice = self.dice
        there = {each.card for each in self.nodes}
        needs = [each for each in NEEDS if L4 in there or each != {"card": "l4"}]
        need = dice.choice(needs[:2] if self.scheduler == "kueue" else needs)
        if self.scheduler == "kueue" and L4 not in there:
            need = needs[0]
        most = self.most(need)
        page = dice.choice((1.5, 2.0, 2.5))
        pages = tuple(1 if goes_before else dice.randint(1, 3) for _ in range(volumes))
        if goes_before:
            page = dice.choice((5.0, 6.5, 8.0))
        return Campaign(
            name=f"{name}-{self.seed}",
            team=team,
            need=need,
            lane=dice.choice(("bulk", "bulk", "interactive")),
            width=min(most, volumes)
            if goes_before
            else dice.randint(min((most + 1) // 2, volumes), min(most, volumes)),
            pages=pages,
            seconds={A100: page, L4: round(page * 1.5, 2)},
            goes_before=goes_before,
        )

    def most(self, need: Mapping[str, Any]) -> int:
        """How many cards would do."""
        wanted = {"a100": {A100}, "l4": {L4}}.get(str(need.get("card")), {A100, L4})
        if need.get("memory") == "40Gi":
            wanted = {A100}
        return sum(each.cards for each in self.nodes if each.card in wanted)
