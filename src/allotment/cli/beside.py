"""What another team sends at the same time: ``--beside TEAM=DIR``, the same everywhere."""

from __future__ import annotations

from pathlib import Path

from allotment.errors import UsageError, did_you_mean
from allotment.platform.model import Platform, Team
from allotment.repository import load_repository
from allotment.repository.model import Repository
from allotment.repository.select import is_repository

FORM = "write --beside TEAM=DIR"


def beside_of(text: str, platform: Platform) -> tuple[Repository, Team]:
    """The repository and the team that the option names, under the platform of whoever asks."""
    name, mark, folder = text.partition("=")
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
