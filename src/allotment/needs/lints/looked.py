"""What a lint looks at beside the need: who states it, what runs it, on which platform, what was measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from allotment.devices.catalogue import Card, by_product_name, cards
from allotment.errors import Finding, Position, Severity
from allotment.needs.fault import Fault
from allotment.needs.ways import Way
from allotment.needs.ways.choosing import Choice, able, choice_of
from allotment.platform.model import Platform
from allotment.platform.need import Need
from allotment.repository.measured import Measured, MeasuredFile
from allotment.repository.model import Campaign, Fleet, Gang, Pipeline
from allotment.repository.recipe import recipe_of

File: TypeAlias = Pipeline | Fleet | Gang
_KUBERNETES = "kubernetes"
_KUEUE = frozenset({"kueue", "both"})
_KAI = frozenset({"kai", "both"})


@dataclass(frozen=True)
class Looked:
    """A file with its need. ``campaigns`` are those that run it, where it is a pipeline."""

    file: File
    need: Need
    platform: Platform
    campaigns: tuple[Campaign, ...] = ()
    measured: MeasuredFile = field(default_factory=MeasuredFile)

    @cached_property
    def choice(self) -> Choice:
        """What becomes of the need on this platform."""
        return choice_of(self.need, able(self.platform))

    @property
    def ways(self) -> tuple[Way, ...]:
        """The ways to share a card that are used."""
        return self.choice.ways

    @property
    def on_cluster(self) -> bool:
        """Whether it is for a cluster."""
        return self.platform.engine == _KUBERNETES

    @property
    def with_kueue(self) -> bool:
        """Whether Kueue admits it."""
        return self.on_cluster and self.platform.scheduler in _KUEUE

    @property
    def with_kai(self) -> bool:
        """Whether KAI places it."""
        return self.on_cluster and self.platform.scheduler in _KAI

    @property
    def is_refused_list(self) -> bool:
        """Whether alternatives are given up for the schedulers, which the default one would take."""
        return self.on_cluster and len(choice_of(self.need).alternatives) > len(self.choice.alternatives)

    @property
    def name(self) -> str:
        """What the file calls itself."""
        return self.file.id if isinstance(self.file, Pipeline) else self.file.name

    @cached_property
    def figures(self) -> tuple[Measured, ...]:
        """What was measured of the pipeline as it stands, a card each."""
        if not isinstance(self.file, Pipeline):
            return ()
        return self.measured.of_recipe(self.file.id, recipe_of(self.file))

    def pods(self) -> tuple[tuple[Position, str, int], ...]:
        """What runs it, where that is said, and how many pods of it there are at most."""
        if isinstance(self.file, Fleet):
            return ((self.file.position("replicas"), self.file.name, self.file.replicas.max),)
        if isinstance(self.file, Gang):
            return ((self.file.position("workers"), self.file.name, self.file.workers),)
        return tuple((each.position("window"), each.name, each.window.max) for each in self.campaigns)

    def finding(self, fault: Fault) -> Finding:
        """A fault of the need at its place in the file."""
        place = self.file.position("gpu", *fault.loc)
        return Finding(place, fault.rule, fault.message, fault.hint, fault.severity, fault.evidence)

    def note(self, position: Position, rule: str, message: str, hint: str, *evidence: str) -> Finding:
        """A note at a place."""
        return Finding(position, rule, message, hint, Severity.NOTE, evidence)


def memory_of_card(card: Card) -> int:
    """The memory that a card reports; 0 where nobody knows."""
    return card.memory or 0


def known_card(name: str) -> Card | None:
    """A card as a measurement names it: by its id, or by the product name that it reports."""
    return next((card for card in cards() if name == card.id), None) or by_product_name(name)
