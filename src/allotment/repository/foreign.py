"""Whose files an earlier platform's are: namespaces that they name against the team that the platform knows.

A repository must not make another team's work its own: its settings and the record of what was run name a
namespace, and the platform says which team that is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from allotment.documents.checking import shown
from allotment.errors import Finding, Position, UsageError, did_you_mean
from allotment.platform.model import Platform, Team


def foreign_findings(
    namespaces: Mapping[str, Position], platform: Platform, identity: Sequence[str], option: str | None = None
) -> Iterator[Finding]:
    """An error for each namespace that is not that of the repository's team (see `Platform.team_for`)."""
    try:
        mine: Team | None = platform.team_for(identity, option)
    except UsageError:
        mine = None
    known = {team.namespace or team.name for team in platform.teams.values()}
    for namespace, position in namespaces.items():
        if mine is not None and namespace != (own := mine.namespace or mine.name):
            message = (
                f"the namespace `{shown(namespace)}` is not that of team `{mine.name}`, which is `{own}`"
            )
            hint = f"write `{own}`, or have the platform name this repository as another team's"
            yield Finding(position, "foreign-team", message, hint)
        elif mine is None and namespace not in known:
            message = f"no team of the platform has the namespace `{shown(namespace)}`"
            yield Finding(position, "foreign-team", message, did_you_mean(namespace, known))
