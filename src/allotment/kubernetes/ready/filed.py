"""A cluster out of a file, for the checks: what `allot snapshot` keeps, and none of a live server's answers.

A snapshot holds every kind that it asks for, so that one without objects has none; of Deployments and
ConfigMaps it holds ours alone. A file that somebody has put together (it knows no namespaces) tells only of
the kinds that are in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from allotment.kubernetes import kinds
from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.cluster.reading import ASKED
from allotment.kubernetes.cluster.unasked import NOT_IN_FILE
from allotment.kubernetes.kinds import Kind
from allotment.kubernetes.ready.seen import Seen
from allotment.kubernetes.render.context import namespace_of
from allotment.platform.model import Platform, Team

PARTLY = frozenset({kinds.CONFIG_MAP, kinds.DEPLOYMENT})


def of_snapshot(snapshot: Snapshot, platform: Platform, teams: Sequence[Team]) -> Seen:
    """What a file tells of a cluster."""
    return Seen(platform, tuple(teams), snapshot, looked=_looked(snapshot) - _elsewhere(snapshot, teams))


def _looked(snapshot: Snapshot) -> frozenset[Kind]:
    is_ours = all(each.why != NOT_IN_FILE for each in snapshot.missing)
    if is_ours and (snapshot.of(kinds.NAMESPACE) or snapshot.missing):
        return frozenset(asked.kind for asked in ASKED) - PARTLY
    return frozenset(kind for kind in kinds.KINDS if snapshot.of(kind))


def _elsewhere(snapshot: Snapshot, teams: Sequence[Team]) -> frozenset[Kind]:
    """Kinds of which only a namespace was read, and nothing of the teams' is there."""
    names = [namespace_of(team) for team in teams]
    return frozenset(
        each.kind for each in snapshot.partly if not any(snapshot.of(each.kind, name) for name in names)
    )
