"""Sending a plan: all of it as a server's dry-run first, then what is clean, group by group, in order.

A dry-run asks everything that may refuse an object, webhooks and admission policies too. A group of which
anything is refused is not sent; the others are. An object that is not ours and has a name of ours shows in
the dry-run of its creation. What a server can try only once another object is there (`depending`) is tried
by sending it, before the Job that needs it: a refusal then is told, and ends the group. What the world fails
at (no server, no answer, no credentials) ends everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from allotment.errors import EXIT_REFUSED, EXIT_WORLD
from allotment.kubernetes.apply.activating import LOOKS, SECONDS, activate
from allotment.kubernetes.apply.depending import is_for_want_of
from allotment.kubernetes.apply.fields import MANAGER
from allotment.kubernetes.apply.groups import address, shown
from allotment.kubernetes.apply.jobs import as_live
from allotment.kubernetes.apply.lease import Lease
from allotment.kubernetes.apply.memory import holder_of
from allotment.kubernetes.apply.outcome import Done, Outcome, Refusal, Verb, refused
from allotment.kubernetes.apply.same import is_same
from allotment.kubernetes.apply.settling import settling
from allotment.kubernetes.apply.steps import Activate, Apply, Delete, GroupPlan, Step, is_idle
from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.kinds import Object, kind_of
from allotment.kubernetes.render.context import Context

TRIES: Final = 4
NO_DRY_RUN: Final = "does not support dry run"
Told = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Tried:
    """A group after its dry-run: what of it has to be sent, and what would happen to each object."""

    plan: GroupPlan
    steps: tuple[Step, ...] = ()
    verbs: tuple[Done, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The group as it is if nothing (more) is sent."""
        refusals = (*self.plan.refusals, *self.refusals)
        if refusals:
            return refused(self.plan.group, refusals, self.plan.said)
        left = tuple(Done(Verb.LEFT, shown(each)) for each in self.plan.left)
        return Outcome(self.plan.group, (*self.verbs, *left), self.plan.said)


def tried(client: Client, plan: GroupPlan) -> Tried:
    """The group's dry-run; ApiError where the world fails."""
    if plan.refusals:
        return Tried(plan)
    steps: list[Step] = []
    verbs: list[Done] = []
    refusals: list[Refusal] = []
    deleted: set[tuple[str, str]] = set()
    coming: set[tuple[str, str]] = set()
    for step in plan.steps:
        if isinstance(step, Delete):
            deleted.add(address(step.live))
        try:
            verb = _tried_verb(client, step, again=isinstance(step, Apply) and address(step.value) in deleted)
        except ApiError as error:
            if not isinstance(step, Apply) or not is_for_want_of(error, step.value, frozenset(coming)):
                refusals.append(refusal_of(error, step))
                continue
            verb = Verb.CREATED
        if verb is Verb.CREATED and isinstance(step, Apply):
            coming.add(address(step.value))
        verbs.append(Done(verb, step.name))
        if verb is not Verb.UNCHANGED:
            steps.append(step)
    return Tried(plan, tuple(steps), _one_each(verbs), tuple(refusals))


def held_back(trials: Sequence[Tried]) -> list[Tried]:
    """What needs a pipeline that is refused is refused with it; a pipeline that nothing needs is not sent."""
    wrong = {each.plan.group for each in trials if each.outcome.refusals}
    found = []
    for each in trials:
        needs = sorted(each.plan.pipelines & wrong)
        why = tuple(Refusal(f"it needs {name}, which is refused") for name in needs)
        found.append(replace(each, refusals=(*each.refusals, *why)))
    needed = {name for each in found if not each.outcome.refusals for name in each.plan.pipelines}
    return [replace(each, steps=(), verbs=()) if is_idle(each.plan, needed) else each for each in found]


def unchanged(plan: GroupPlan) -> Tried:
    """A group of which nothing has to be sent, as far as the live objects tell."""
    return Tried(plan, verbs=_one_each([Done(Verb.UNCHANGED, step.name) for step in plan.steps]))


def _tried_verb(client: Client, step: Step, *, again: bool) -> Verb:
    if not isinstance(step, Apply):
        return step.verb
    if step.is_done:
        return Verb.UNCHANGED
    if step.follows or again:
        return step.verb or Verb.CONFIGURED
    if step.live is None:
        client.create(step.value, manager=step.manager, dry_run=True)
        return Verb.CREATED
    answer = _applied(client, step, dry_run=True)
    return step.verb or (Verb.UNCHANGED if is_same(step.live, answer) else Verb.CONFIGURED)


@dataclass
class Sending:
    """What groups are sent by; the lease is looked at before everything that is sent."""

    client: Client
    context: Context
    lease: Lease
    sleep: Callable[[float], None]
    told: Told
    _there: dict[tuple[str, str], Object] = field(default_factory=dict)

    def send(self, group: Tried) -> Outcome:
        """Send what has to be; a refusal in the middle ends the group, and the next apply goes on there."""
        verbs: list[Done] = [each for each in group.verbs if each.verb is Verb.UNCHANGED]
        said = list(group.plan.said)
        self._there |= {
            address(step.live): step.live
            for step in group.plan.steps
            if isinstance(step, Apply) and step.live
        }
        for step in group.steps:
            self.told(f"{group.plan.group}: {step.name}")
            try:
                verbs.append(Done(self._sent(step), step.name))
                verbs += self._follow(step)
            except ApiError as error:
                failure = str(refusal_of(error, step))
                return Outcome(group.plan.group, _one_each(verbs), tuple(said), failure=failure)
        left = tuple(Done(Verb.LEFT, shown(each)) for each in group.plan.left)
        return Outcome(group.plan.group, (*_one_each(verbs), *left), tuple(said))

    def _sent(self, step: Step) -> Verb:
        self.lease.keep()
        if isinstance(step, Activate):
            activate(self.client, step, self.sleep)
            return step.verb
        if isinstance(step, Delete):
            self._deleted(step)
            return step.verb
        answer = _applied(self.client, step, dry_run=False)
        self._there[address(answer)] = answer
        if step.verb is not None:
            return step.verb
        if step.live is None:
            return Verb.CREATED
        return Verb.UNCHANGED if is_same(step.live, answer) else Verb.CONFIGURED

    def _follow(self, step: Step) -> Iterator[Done]:
        """What a Job needs once it is there."""
        if not isinstance(step, Apply) or step.rendered is None or step.live is not None:
            return
        job = self._there[address(step.value)]
        holder = self._there.get(holder_of(job))
        for further in settling(self.context, step.rendered, job, holder):
            there = self._there.get(address(further.value), further.live)
            self._sent(replace(further, live=there, rendered=step.rendered))
        yield Done(Verb.CREATED, step.name)

    def _deleted(self, step: Delete) -> None:
        kind, metadata = kind_of(step.live), step.live["metadata"]
        name, namespace, uid = metadata["name"], metadata.get("namespace"), metadata["uid"]
        self.client.delete(kind, name, namespace, uid=uid)
        for _ in range(LOOKS if step.is_awaited else 0):
            found = self.client.get(kind, name, namespace)
            if found is None or found["metadata"]["uid"] != uid:
                return
            self.sleep(SECONDS)
        if step.is_awaited:
            raise ApiError(
                f"{step.name} is not gone {LOOKS * SECONDS:.0f} s after it was deleted, and no other is made",
                where=self.client.name,
                remedy="apply again when it is; `kubectl get -o yaml` shows the finalizers that hold it",
                exit_code=EXIT_REFUSED,
            )


def refusal_of(error: ApiError, step: Step) -> Refusal:
    """A refusal in words; raises the error again where it is the world's fault."""
    if error.exit_code == EXIT_WORLD and error.status != 404:
        raise error
    if error.reason == "AlreadyExists":
        return Refusal(
            f"{step.name} is there and does not carry our label: it is not touched",
            "rename the file, or delete the object if it is nobody's",
        )
    if NO_DRY_RUN in error.message:
        return Refusal(
            f"{step.name} cannot be tried out: {error.message}",
            "whoever runs the cluster can let that webhook say `sideEffects: None`; nothing is sent untried",
        )
    return Refusal(error.what, error.remedy)


def _applied(client: Client, step: Apply, *, dry_run: bool) -> Object:
    """The answer to an apply. A write of somebody else's may come between: it is made again.

    Kueue may just have taken a field of a Job's; what is applied to a live Job is what of it is ours, so it
    is looked at anew.
    """
    value = step.value
    for _ in range(TRIES - 1):
        try:
            return client.apply(value, manager=step.manager, dry_run=dry_run)
        except ApiError as error:
            if error.status != 409:
                raise
            if error.causes:
                value = _anew(client, step, error)
    return client.apply(value, manager=step.manager, dry_run=dry_run)


def _anew(client: Client, step: Apply, error: ApiError) -> Object:
    metadata = step.value["metadata"]
    if step.manager != MANAGER or step.rendered is None or step.live is None:
        raise error
    live = client.get(kind_of(step.value), metadata["name"], metadata["namespace"])
    if live is None or live["metadata"]["uid"] != metadata.get("uid"):
        raise error
    return as_live(step.rendered, live)


def _one_each(verbs: Sequence[Done]) -> tuple[Done, ...]:
    """One verb an object: the weightiest."""
    found: dict[str, Done] = {}
    order = list(Verb)
    for each in verbs:
        before = found.get(each.name)
        if before is None or order.index(each.verb) < order.index(before.verb):
            found[each.name] = each
    return tuple(found.values())
