"""The files of one column: all its changes made, and held together to what files are held to.

One change may leave a gap that the next one fills (``sharing=fraction; share=0.5``, or a quota above the
limit and then the limit), so this is looked at when all are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from allotment.errors import Severity, UsageError
from allotment.needs.limits import faults_of
from allotment.planning.compare.changing import Files, changed, with_needs
from allotment.planning.compare.values import read
from allotment.platform.file_shapes import QUEUE
from allotment.platform.need import Need
from allotment.platform.need_shapes import SHARED_BY_PART

JOINED: Final = "; "


def column_files(files: Files, changes: Sequence[str]) -> Files:
    """The files with these changes; UsageError for what no files can say."""
    keys = [change.partition("=")[0].strip() for change in changes]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise UsageError(
            f"`--with {JOINED.join(changes)}` changes `{twice}` twice",
            remedy="keep one of them, or write each into a --with of its own, for two columns",
        )
    made = files
    for change in changes:
        made = changed(made, change)
    try:
        return _held(files, made)
    except UsageError as error:
        raise UsageError(error.what, where=f"`--with {JOINED.join(changes)}`", remedy=error.remedy) from None


def _held(before: Files, made: Files) -> Files:
    for name, team in made.platform.teams.items():
        if team.queue != before.platform.teams[name].queue:
            _hold_queue(name, before, made)
    if before.platform.versions == made.platform.versions and [*_needs(before)] == [*_needs(made)]:
        return made
    made = _with_shares_in_use(before, made)
    for name, need in _needs(made):
        faults = faults_of(need, made.platform.cards, made.platform.versions.kubernetes)
        fault = next((each for each in faults if each.severity is Severity.ERROR), None)
        if fault is not None:
            raise UsageError(f"of `{name}`, {fault.message}", remedy=fault.hint)
    return made


def _hold_queue(name: str, before: Files, made: Files) -> None:
    """Refuse a limit below the quota, whichever of the two was changed."""
    queue = made.platform.teams[name].queue
    try:
        read(QUEUE, {"quota": queue.quota, "weight": queue.weight, "limit": queue.limit}, "teams", name)
    except ValueError as error:
        key = "limit" if queue.limit == before.platform.teams[name].queue.limit else "quota"
        raise UsageError(
            f"of `{name}`, {error}", remedy=f"change both: join {key}.{name}=… to it with a semicolon"
        ) from None


def _with_shares_in_use(before: Files, made: Files) -> Files:
    """The files without shares that no way takes; UsageError for a way without one, and the contrary."""
    changed_ones = [
        (name, need)
        for (name, old), (_, need) in zip(_needs(before), _needs(made), strict=True)
        if need != old
    ]
    for name, need in changed_ones:
        if need.share is None and (ways := SHARED_BY_PART & set(need.sharing)):
            raise UsageError(
                f"`{name}` takes a part of a card ({', '.join(sorted(ways))}), and nothing says how much",
                remedy='say it too: --with "sharing=fraction; share=0.5", or share=8Gi',
            )
    shared = [(name, need) for name, need in changed_ones if need.share is not None]
    if shared and all(map(_is_idle, (need for _, need in shared))):
        name, need = shared[0]
        raise UsageError(
            f"`{name}` takes no part of a card that could have a share (sharing: {', '.join(need.sharing)})",
            remedy='say how it is shared too: --with "sharing=fraction; share=0.5"',
        )
    return made.repositories(
        lambda each: with_needs(each, lambda need: replace(need, share=None) if _is_idle(need) else need)
    )


def _is_idle(need: Need) -> bool:
    return need.share is not None and SHARED_BY_PART.isdisjoint(need.sharing)


def _needs(files: Files) -> Iterator[tuple[str, Need]]:
    """Every need by the name of what has it, in the order of the files."""
    for repository in files.all_repositories():
        for named in (repository.pipelines, repository.fleets, repository.gangs):
            yield from ((name, each.gpu) for name, each in named.items() if each.gpu is not None)
