"""A repository, or a platform, as objects of a cluster: pure, sorted, the same bytes every time.

What is printed is the form in which objects are created. What a scheduler cannot express is in the notes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from allotment.kubernetes.render.context import context_for
from allotment.kubernetes.render.rendered import Note, Object, Rendered, Setting
from allotment.kubernetes.render.repository_objects import repository_objects
from allotment.kubernetes.render.stream import to_stream, to_yaml
from allotment.platform.model import Platform, Team
from allotment.repository.model import Repository

__all__ = ["Note", "Object", "Rendered", "Setting", "render", "to_stream", "to_yaml"]

NONE_USED: Mapping[str, Sequence[int]] = {}


def render(
    repository: Repository,
    platform: Platform,
    team: Team,
    *,
    scheduler: str | None = None,
    gang_objects: bool = False,
    used: Mapping[str, Sequence[int]] = NONE_USED,
    there: Collection[str] = (),
) -> Rendered:
    """The repository's objects; AllotmentError for what cannot be had.

    ``used`` holds the numbers of volumes of the parts of each campaign that are already out: what was
    appended since becomes further parts. ``there`` names campaigns that have a Job, which are rendered though
    they are suspended.
    """
    context = context_for(platform, team, scheduler, gang_objects=gang_objects)
    return repository_objects(context, repository, used, there)
