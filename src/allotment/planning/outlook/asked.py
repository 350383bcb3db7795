"""The models of all schedulers that a cluster has, asked one after the other: who admits, then who places."""

from __future__ import annotations

from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.follow import Followed
from allotment.planning.outlook import kueue_asked
from allotment.planning.outlook.kai_asked import kai_next_of, kai_next_of_queues, kai_next_of_unsent
from allotment.planning.outlook.values import Said, SaidOfQueues
from allotment.platform.model import Platform, Team
from allotment.repository.model import Repository


def next_of(snapshot: Snapshot, found: Followed, platform: Platform | None = None) -> tuple[Said, ...]:
    """What becomes of a campaign, a fleet or a gang; one answer of each model that has something to say."""
    return _told(kueue_asked.next_of(snapshot, found, platform), kai_next_of(snapshot, found))


def next_of_unsent(
    snapshot: Snapshot, name: str, repository: Repository, platform: Platform, team: Team
) -> tuple[Said, ...]:
    """What would become of a campaign or a gang that was never sent, once it was."""
    whose = (snapshot, name, repository, platform, team)
    return _told(kueue_asked.next_of_unsent(*whose), kai_next_of_unsent(*whose))


def next_of_queues(snapshot: Snapshot) -> tuple[SaidOfQueues, ...]:
    """Who waits in each queue, and what becomes of them."""
    found = (kueue_asked.next_of_queues(snapshot), kai_next_of_queues(snapshot))
    return tuple(each for each in found if each.queues or each.notes)


def _told(*found: Said) -> tuple[Said, ...]:
    return tuple(each for each in found if each.outlooks or each.notes)
