"""An apply from end to end: read, plan, and where anything is to be sent, again under the lease, and send.

What is there already costs the list calls and nothing else: the lease is taken only by who has something to
send, who then reads anew, since another may have sent before. With `dry_run` nothing is written, no lease
either.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Final

from allotment.kubernetes.apply.access import hold_to_team
from allotment.kubernetes.apply.lease import Lease, LostLeaseError
from allotment.kubernetes.apply.outcome import Outcome, Report
from allotment.kubernetes.apply.planning import plan_of
from allotment.kubernetes.apply.reading import read_live, with_devices
from allotment.kubernetes.apply.scene import Refusals, Wish
from allotment.kubernetes.apply.sending import Sending, Told, Tried, held_back, tried, unchanged
from allotment.kubernetes.apply.steps import Plan
from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.render.context import Context


@dataclass(frozen=True, slots=True)
class World:
    """What is outside: who asks, the time, waiting, and who is told how far it is."""

    holder: str
    now: Callable[[], float]
    sleep: Callable[[float], None]
    told: Told = lambda _: None


Impossible = Callable[[Snapshot], Refusals]
"""What can never run, by group, given what is live and which devices there are. Asked once."""


def nothing(_: Snapshot) -> Refusals:
    """Nothing is impossible."""
    return {}


INTERRUPTED: Final = "interrupted while it was sent: what is there stays, and the next apply goes on with it"
Hold = Callable[[Plan], None]
"""Raises AllotmentError for a plan that is not to be sent, of which then nothing is.

It is asked before anything else is, and again by who has the right to send: others may have been waited for.
"""


def anything(_: Plan) -> None:
    """Every plan will do."""


def apply(
    client: Client,
    context: Context,
    wish: Wish,
    world: World,
    *,
    impossible: Impossible = nothing,
    hold: Hold = anything,
    dry_run: bool = False,
) -> Report:
    """Apply what ``hold`` lets pass; AllotmentError where nothing was sent at all."""
    world.told("asking who may")
    hold_to_team(client, context)
    world.told("reading what is there")
    live = read_live(client, context, world.now)
    plan = plan_of(context, wish, live)
    hold(plan)
    if plan.is_done:
        done = [unchanged(each).outcome for each in plan.groups]
        return Report(tuple(done), plan.said, is_dry_run=dry_run)
    wish = replace(wish, impossible=impossible(with_devices(client, live)))
    if dry_run:
        plan = plan_of(context, wish, live)
        would = [each.outcome for each in _tried(client, plan, world)]
        return Report(tuple(would), plan.said, is_dry_run=True)
    lease = Lease(client, context.namespace, context.team.name, world.holder, world.now)
    lease.take()
    try:
        world.told("reading again what is there")
        plan = plan_of(context, wish, read_live(client, context, world.now))
        hold(plan)
        return _sent(Sending(client, context, lease, world.sleep, world.told), plan, world)
    finally:
        lease.release()


def _tried(client: Client, plan: Plan, world: World) -> list[Tried]:
    found = []
    for each in plan.groups:
        world.told(f"trying {each.group}")
        found.append(tried(client, each))
    return held_back(found)


def _sent(sending: Sending, plan: Plan, world: World) -> Report:
    """Send what is clean. What the world fails at ends it, as an interrupt does; what was sent until then is
    told."""
    outcomes: list[Outcome] = []
    failed: set[str] = set()
    for each in _tried(sending.client, plan, world):
        needs = each.plan.pipelines & failed
        if needs or each.outcome.refusals:
            outcomes.append(replace(each.outcome, failure=_needs(needs)) if needs else each.outcome)
            continue
        try:
            outcomes.append(sending.send(each))
        except (ApiError, LostLeaseError) as error:
            outcomes.append(Outcome(each.plan.group, failure=str(error)))
            return Report(tuple(outcomes), plan.said, cut_short=error)
        except KeyboardInterrupt as error:
            outcomes.append(Outcome(each.plan.group, failure=INTERRUPTED))
            return Report(tuple(outcomes), plan.said, cut_short=error)
        if outcomes[-1].failure:
            failed.add(each.plan.group)
    return Report(tuple(outcomes), plan.said)


def _needs(pipelines: Collection[str]) -> str:
    return f"it needs {', '.join(sorted(pipelines))}, which could not be sent"
