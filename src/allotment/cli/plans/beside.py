"""What another team sends at the same time: ``--beside TEAM=DIR``, the same everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from allotment.errors import UsageError, did_you_mean
from allotment.platform.model import Platform, Team
from allotment.repository import load_repository
from allotment.repository.model import Repository
from allotment.repository.select import is_repository

FORM = "write --beside TEAM=DIR"


def beside_of(texts: Sequence[str], platform: Platform, team: Team) -> tuple[tuple[Repository, Team], ...]:
    """The repositories and teams that the options name, beside that of ``team``."""
    taken = {team.name}
    found = []
    for text in texts:
        repository, other = _one_of(text, platform)
        if other.name in taken:
            which = "whose files these are" if other.name == team.name else "which is beside these already"
            raise UsageError(
                f"`--beside {text}` names the team `{other.name}`, {which}",
                remedy="name another one: all work of a team is in one repository",
            )
        taken.add(other.name)
        found.append((repository, other))
    return tuple(found)


def _one_of(text: str, platform: Platform) -> tuple[Repository, Team]:
    """The repository and the team that one option names, under the platform of whoever asks."""
    name, mark, folder = text.partition("=")
    if name in platform.teams and not folder:
        raise UsageError(f"`--beside {text}` does not say where `{name}` has its repository", remedy=FORM)
    if not mark or name not in platform.teams:
        raise UsageError(
            f"`--beside {text}` names no team of the platform",
            remedy=did_you_mean(name, platform.teams) or FORM,
        )
    root = Path(folder)
    if not root.is_dir():
        raise UsageError(f"there is no folder {folder}", remedy=FORM)
    if not is_repository(root):
        raise UsageError(f"{folder} is no repository", where="--beside", remedy=FORM)
    return load_repository(root, platform).checked(), platform.teams[name]
