"""What changes, held against what is there: a cluster, an earlier commit, or what the bucket holds.

A cluster is asked the way `allot apply` asks it, so that what is planned is what would be sent. A snapshot
does not hold everything that was sent (who wrote which field, what containers run), so that only what it
keeps of an object is compared with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from allotment.kubernetes.apply.planning import plan_of
from allotment.kubernetes.apply.same import has_values
from allotment.kubernetes.apply.scene import Wish
from allotment.kubernetes.apply.steps import Apply, Delete, GroupPlan, Step
from allotment.kubernetes.apply.steps import Plan as Sending
from allotment.kubernetes.cluster.needed import kept
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.render.context import Context
from allotment.pictures.counts import counted
from allotment.planning.plan.plan import Becomes, Change, Changes
from allotment.repository.files import CAMPAIGNS, FLEETS, GANGS, PIPELINES, SUFFIX
from allotment.repository.git import Earlier
from allotment.repository.model import Campaign, Repository

WORKS: Final = (CAMPAIGNS, FLEETS, GANGS)
MOST_WORDS: Final = 2
ByPipeline = Mapping[str, Collection[str]]
NONE: Final[ByPipeline] = {}
_WITH_PODS: Final = frozenset({"Job", "Deployment"})


def sending_of(context: Context, wish: Wish, live: Snapshot) -> Sending:
    """What an apply would send."""
    return plan_of(context, wish, live)


def changes_on(sending: Sending, name: str, *, exact: bool) -> Changes:
    """What an apply changes on a cluster of that name; ``exact``: it was asked with everything it holds."""
    changes = tuple(_of_group(each, exact=exact) for each in sending.groups)
    return Changes(name, changes, sending.said)


def changes_in_bucket(
    repository: Repository,
    bucket: str,
    complete: ByPipeline,
    over: Collection[str] = (),
    *,
    failed: ByPipeline = NONE,
) -> Changes:
    """What is to do beside what the bucket holds; ``over`` are gangs that have ended, and fleets that run.

    ``complete`` are the volumes that are done, by pipeline, ``failed`` those that nobody tries any more.
    """
    return Changes(bucket, tuple(_to_do(repository, complete, over, failed)))


def changes_since(earlier: Earlier, repository: Repository) -> Changes:
    """What differs from an earlier commit, file by file."""
    known = {path.removesuffix(SUFFIX) for path in (*earlier.changed, *earlier.unchanged)}
    same = {path.removesuffix(SUFFIX) for path in earlier.unchanged}
    found = []
    for kind, names in _names(repository):
        for name in names:
            path = f"{kind}/{name}"
            campaign = repository.campaigns.get(name) if kind == CAMPAIGNS else None
            pipeline = f"{PIPELINES}/{campaign.pipeline}" if campaign is not None else path
            if path not in known:
                found.append(Change(path, Becomes.NEW, ("its file is new",)))
            elif path not in same:
                found.append(Change(path, Becomes.CHANGED, ("its file has changed",)))
            elif pipeline not in same:
                found.append(Change(path, Becomes.CHANGED, (f"{pipeline}{SUFFIX} has changed",)))
            else:
                found.append(Change(path, Becomes.UNCHANGED))
    there = {change.name for change in found}
    gone = [path for path in sorted(known - there) if path.partition("/")[0] in WORKS]
    found += [Change(path, Becomes.GONE, ("its file is gone",)) for path in gone]
    notes = (earlier.doubt,) if earlier.doubt else ()
    return Changes(earlier.name, tuple(found), notes)


def planned_names(changes: Changes) -> tuple[str, ...]:
    """The works, by name, that a plan of these changes is about."""
    kept_ones = {Becomes.NEW, Becomes.CHANGED}
    return tuple(
        each.name.partition("/")[2]
        for each in changes.changes
        if each.becomes in kept_ones and each.name.partition("/")[0] in WORKS
    )


def _names(repository: Repository) -> Iterator[tuple[str, Collection[str]]]:
    yield CAMPAIGNS, repository.campaigns
    yield FLEETS, repository.fleets
    yield GANGS, repository.gangs


def _of_group(group: GroupPlan, *, exact: bool) -> Change:
    if group.refusals:
        return Change(group.group, Becomes.REFUSED, tuple(map(str, group.refusals)))
    steps = [step for step in group.steps if not _is_there(step, exact=exact)]
    if not steps:
        return Change(group.group, Becomes.UNCHANGED, group.said)
    steps.sort(key=lambda step: not _has_pods(step))
    words = tuple(_words(step) for step in steps[:MOST_WORDS])
    rest = len(steps) - MOST_WORDS
    more = (f"and {rest} more object{'s' if rest > 1 else ''}",) if rest > 0 else ()
    if all(isinstance(step, Delete) for step in steps):
        return Change(group.group, Becomes.GONE, (*words, *more, *group.said))
    works = [step for step in group.steps if isinstance(step, Apply) and step.value["kind"] in _WITH_PODS]
    is_new = all(isinstance(step, Apply) and step.live is None for step in works or steps)
    becomes = Becomes.NEW if is_new else Becomes.CHANGED
    return Change(group.group, becomes, (*words, *more, *group.said))


def _has_pods(step: Step) -> bool:
    return step.name.startswith(("jobs.", "deployments."))


def _is_there(step: Step, *, exact: bool) -> bool:
    if not isinstance(step, Apply):
        return False
    if step.is_done:
        return True
    if exact or step.live is None:
        return False
    return has_values(kept(step.value), step.live)


def _words(step: Step) -> str:
    if isinstance(step, Delete):
        return f"deletes {step.name}"
    if isinstance(step, Apply):
        return f"{'creates' if step.live is None else 'changes'} {step.name}"
    return f"{step.verb} {step.name}"


def _to_do(
    repository: Repository, complete: ByPipeline, over: Collection[str], failed: ByPipeline
) -> Iterator[Change]:
    for name, campaign in repository.campaigns.items():
        yield _campaign(
            name, campaign, complete.get(campaign.pipeline, ()), failed.get(campaign.pipeline, ())
        )
    for kind, names in ((FLEETS, repository.fleets), (GANGS, repository.gangs)):
        for each in names:
            is_over = each in over
            said = ("it has ended" if kind == GANGS else "it is up",) if is_over else ()
            yield Change(f"{kind}/{each}", Becomes.UNCHANGED if is_over else Becomes.NEW, said)


def _campaign(name: str, campaign: Campaign, done: Collection[str], failed: Collection[str]) -> Change:
    count = len(campaign.volumes)
    undone = [volume.id for volume in campaign.volumes if volume.id not in done]
    given_up = sum(each in failed for each in undone)
    left, title = len(undone) - given_up, f"{CAMPAIGNS}/{name}"
    waits = (f"{counted(given_up, 'volume')} failed, for `allot retry`",) if given_up else ()
    if campaign.suspend:
        return Change(title, Becomes.UNCHANGED, (f"its file says `suspend: true`; {_left(left)}", *waits))
    if not left:
        return Change(title, Becomes.UNCHANGED, (_over(count, count - given_up), *waits))
    if left == count:
        return Change(title, Becomes.NEW, (f"{count:,} volume{'s' if count > 1 else ''}",))
    return Change(title, Becomes.CHANGED, (_left(left, f" of {count:,}"), *waits))


def _over(count: int, complete: int) -> str:
    if complete < count:
        return f"{complete:,} of {counted(count, 'volume')} {'is' if complete == 1 else 'are'} complete"
    return "its only volume is complete" if count == 1 else f"all {count:,} volumes are complete"


def _left(count: int, of: str = "") -> str:
    if count == 1:
        return f"1{of} {'volumes' if of else 'volume'} is left"
    return f"{count:,}{of} volumes are left"
