"""What became of each campaign, fleet and gang, as values: a verb, its objects, what there is to say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Verb(StrEnum):
    """What happened to an object, or would happen; that of a group is its objects' first in this order.

    ``recorded``: nothing was changed but what is remembered of a Job, such as how it ended.
    """

    FAILED = "failed"
    REFUSED = "refused"
    CREATED = "created"
    CONFIGURED = "configured"
    PAUSED = "paused"
    RESUMED = "resumed"
    PRUNED = "pruned"
    RECORDED = "recorded"
    LEFT = "left"
    UNCHANGED = "unchanged"


WORKS = ("jobs.", "deployments.")
"""What has pods: a group is new when one of these is."""
_WEIGHT = {verb: number for number, verb in enumerate(Verb)}


@dataclass(frozen=True, slots=True, order=True)
class Refusal:
    """Why something is not sent, and what to do about it."""

    text: str
    remedy: str = ""

    def __str__(self) -> str:
        return self.text + (f" ({self.remedy})" if self.remedy else "")


@dataclass(frozen=True, slots=True)
class Done:
    """What happened to one object (``jobs.batch/NAME``)."""

    verb: Verb
    name: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one group: ``campaigns/NAME``, ``fleets/NAME``, ``gangs/NAME``, ``pipelines/NAME``."""

    group: str
    objects: tuple[Done, ...] = ()
    said: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    failure: str = ""

    @property
    def verb(self) -> Verb:
        """The group's own word."""
        if self.failure:
            return Verb.FAILED
        if self.refusals:
            return Verb.REFUSED
        verb = min((each.verb for each in self.objects), key=_WEIGHT.__getitem__, default=Verb.UNCHANGED)
        works = {each.verb for each in self.objects if each.name.startswith(WORKS)}
        return Verb.CONFIGURED if verb is Verb.CREATED and works and verb not in works else verb


@dataclass(frozen=True, slots=True)
class Report:
    """Everything of one apply. ``cut_short`` says why the rest was not looked at, where it was not."""

    outcomes: tuple[Outcome, ...]
    said: tuple[str, ...] = ()
    is_dry_run: bool = False
    cut_short: BaseException | None = None

    @property
    def is_fine(self) -> bool:
        """Whether nothing was refused and nothing failed."""
        return not self.of(Verb.FAILED, Verb.REFUSED) and self.cut_short is None

    @property
    def is_nothing(self) -> bool:
        """Whether everything was there already."""
        return self.is_fine and all(each.verb in {Verb.UNCHANGED, Verb.LEFT} for each in self.outcomes)

    def of(self, *verbs: Verb) -> tuple[Outcome, ...]:
        """The outcomes of these verbs."""
        return tuple(each for each in self.outcomes if each.verb in verbs)


def refused(group: str, refusals: Iterable[Refusal], said: Iterable[str] = ()) -> Outcome:
    """A group of which nothing is sent."""
    return Outcome(group, said=tuple(said), refusals=tuple(dict.fromkeys(refusals)))
