"""What is to be sent, as values: applies, pauses by Kueue's Workloads, deletions; and a group of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from allotment.kubernetes.apply.fields import MANAGER
from allotment.kubernetes.apply.frozen import PIPELINE
from allotment.kubernetes.apply.groups import labels, shown
from allotment.kubernetes.apply.outcome import Refusal, Verb
from allotment.kubernetes.apply.same import is_there
from allotment.kubernetes.kinds import Object


@dataclass(frozen=True, slots=True)
class Apply:
    """A server-side apply of one object by one manager. ``live`` is what is there, None for a new object.

    ``rendered`` is what a Job was rendered as, from which follows what is done once it is there. A step that
    ``follows`` another is right only after it, so no server can be asked beforehand. ``verb`` is what to call
    it where it is not told from the answer.
    """

    value: Object
    live: Object | None = None
    manager: str = MANAGER
    rendered: Object | None = None
    follows: bool = False
    verb: Verb | None = None

    @property
    def name(self) -> str:
        """The object as `kubectl` takes it."""
        return shown(self.value)

    @property
    def is_done(self) -> bool:
        """Whether it is there already, as far as the live object tells."""
        if self.live is None or self.verb is not None:
            return False
        return is_there(self.value, self.live, self.manager)


@dataclass(frozen=True, slots=True)
class Activate:
    """Pause or resume a Job that Kueue admits: ``active`` of all of its Workloads that have not finished."""

    job: Object
    active: bool

    @property
    def name(self) -> str:
        """The Job as `kubectl` takes it."""
        return shown(self.job)

    @property
    def verb(self) -> Verb:
        """What to call it."""
        return Verb.RESUMED if self.active else Verb.PAUSED


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete one object, and no other of its name. ``verb`` is what to call it.

    ``is_awaited`` says that another of its name is to be made, for which it has to be gone.
    """

    live: Object
    verb: Verb = Verb.PRUNED
    is_awaited: bool = False

    @property
    def name(self) -> str:
        """The object as `kubectl` takes it."""
        return shown(self.live)


Step = Apply | Activate | Delete


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """What is to be done for a campaign, fleet, gang or pipeline, in order, and what there is to say."""

    group: str
    steps: tuple[Step, ...] = ()
    said: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    left: tuple[Object, ...] = ()

    @property
    def pipelines(self) -> frozenset[str]:
        """The groups of the pipelines that it needs."""
        names = {labels(each.value).get(PIPELINE) for each in self.steps if isinstance(each, Apply)}
        found = {f"pipelines/{name}" for name in names if name is not None}
        return frozenset(found - {self.group})

    @property
    def is_done(self) -> bool:
        """Whether nothing has to be sent."""
        return all(isinstance(step, Apply) and step.is_done for step in self.steps)


@dataclass(frozen=True, slots=True)
class Plan:
    """All groups in the order in which they are sent, and what there is to say of all of them."""

    groups: tuple[GroupPlan, ...]
    said: tuple[str, ...] = ()

    @property
    def is_done(self) -> bool:
        """Whether nothing has to be sent."""
        return all(group.is_done for group in self.groups if not group.refusals)


def is_idle(plan: GroupPlan, needed: Collection[str]) -> bool:
    """Whether it would send a pipeline that nothing needs."""
    is_sent = all(isinstance(step, Apply) for step in plan.steps)
    return is_sent and plan.group.startswith("pipelines/") and plan.group not in needed
