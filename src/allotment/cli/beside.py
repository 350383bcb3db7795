"""What another team sends at the same time: ``--beside TEAM=DIR``, the same everywhere."""

from __future__ import annotations

from pathlib import Path

from allotment.cli.opened import open_repository
from allotment.errors import UsageError, did_you_mean
from allotment.platform.model import Platform, Team
from allotment.repository.model import Repository

FORM = "write --beside TEAM=DIR"


def beside_of(text: str, platform: Platform, option: Path | None) -> tuple[Repository, Team]:
    """The repository and the team that the option names."""
    name, mark, folder = text.partition("=")
    if not mark or name not in platform.teams:
        raise UsageError(
            f"`--beside {text}` names no team of the platform",
            remedy=did_you_mean(name, platform.teams) or FORM,
        )
    root = Path(folder)
    if not root.is_dir():
        raise UsageError(f"there is no folder {folder}", remedy=FORM)
    opened, _ = open_repository(root, platform=option, team=name, programs=True)
    return opened.repository, platform.teams[name]
