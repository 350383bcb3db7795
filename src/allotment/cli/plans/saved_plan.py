"""Applying a saved plan: held against the files, the platform and the cluster as they are now.

What has moved is said by name: which file, which node, card, queue or workload. The objects that would be
sent are compared too, after the cluster was read for the apply itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from allotment.errors import UsageError
from allotment.kubernetes.apply.steps import Plan as Sending
from allotment.kubernetes.client import Client
from allotment.kubernetes.cluster.reading import read_snapshot
from allotment.kubernetes.cluster.world import world_of
from allotment.kubernetes.render.context import Context
from allotment.planning.plan.plan import Seen
from allotment.planning.plan.saved import Saved, hold_unmoved, read_saved
from allotment.planning.plan.seen import (
    files_seen,
    moved,
    moved_steps,
    platform_seen,
    steps_seen,
    unread_of,
    world_seen,
)
from allotment.platform.model import Platform
from allotment.repository.files import PIPELINES
from allotment.repository.model import Repository


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """A saved plan and where it lies."""

    path: Path
    saved: Saved

    def holds(
        self,
        repository: Repository,
        platform: Platform,
        context: Context,
        client: Client,
        told: Callable[[str], object],
    ) -> Callable[[Sending], None]:
        """What raises where files, platform or cluster have moved since, it is of another team or scheduler,
        or something else would be sent than was planned.

        The cluster is read each time that it is asked, for an apply may have waited for another one.
        """

        def hold(sending: Sending) -> None:
            told("reading the cluster that was planned for")
            self._hold_world(repository, platform, context, client)
            self._hold_steps(sending)

        return hold

    def _hold_world(
        self, repository: Repository, platform: Platform, context: Context, client: Client
    ) -> None:
        snapshot = read_snapshot(client, now=time.time(), home=context.namespace)
        world = world_seen(world_of(snapshot).world, snapshot)
        planned = replace(platform, scheduler=self.saved.scheduler)
        now = Seen(files_seen(repository), platform_seen(planned), world)
        others = self._others(context.team.name, platform.scheduler)
        hold_unmoved((*others, *moved(self.saved.seen, now, unread_of(snapshot))), self.path)

    def _hold_steps(self, sending: Sending) -> None:
        """What is refused is told by itself."""
        now = steps_seen(sending)
        refused = {group.group for group in sending.groups if group.refusals}
        wanted = {
            name: each
            for name, each in self.saved.seen.steps.items()
            if name in now or not (refused and name.startswith((*refused, f"{PIPELINES}/")))
        }
        hold_unmoved(moved_steps(wanted, now), self.path)

    def elsewhere(self, name: str) -> str:
        """What is to be said where it was made under another name of a cluster; nothing under the same."""
        if name == self.saved.world:
            return ""
        same = "what it was made from is the same there"
        return f"the plan was made on `{self.saved.world}`, and is applied to `{name}`: {same}"

    def _others(self, team: str, scheduler: str) -> Iterator[str]:
        if team != self.saved.team:
            yield f"it is of team `{self.saved.team}`, and this is team `{team}`"
        if scheduler != self.saved.scheduler:
            made = self.saved.scheduler
            yield f"it was made for the scheduler `{made}`, and the platform says `{scheduler}`"


def saved_plan(path: Path, names: Sequence[str], *, others: Sequence[str]) -> SavedPlan:
    """The plan of a file; UsageError for one that is no cluster's, or beside options that it rules out."""
    if others:
        raise UsageError(
            f"--plan says what is applied, and so would {' and '.join(others)}",
            remedy="leave one of them out",
        )
    saved = read_saved(path)
    if not saved.seen.is_cluster:
        raise UsageError(
            f"this plan, for {saved.world}, was made of a file, of words or against a commit, and not on a "
            "cluster",
            where=str(path),
            remedy="plan on the cluster that it is for: `allot plan --cluster -o json --out FILE`",
        )
    if names and sorted(names) != sorted(saved.names):
        planned = ", ".join(saved.names) or "the whole repository"
        raise UsageError(
            f"this plan is of {planned}", where=str(path), remedy="leave the names out, or plan for these"
        )
    return SavedPlan(path, saved)
