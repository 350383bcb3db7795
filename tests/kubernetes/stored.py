"""Every example for every scheduler; ``python -m tests.kubernetes.stored`` writes the files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from allotment.kubernetes.render import Rendered, render, to_stream
from allotment.kubernetes.render.platform import render_platform
from allotment.platform.file import scan_platform
from allotment.platform.model import SCHEDULERS, Platform
from allotment.repository import load_repository

ROOT = Path(__file__).parent.parent.parent
GOLDEN = Path(__file__).parent / "golden"
TEAMS = {"cluster": "archive", "ways": "library"}
VERSIONS = ("1.35", "1.36", "1.37")


@dataclass(frozen=True, slots=True)
class Case:
    """An example for a scheduler, and the file that holds it."""

    example: str
    scheduler: str
    of_platform: bool = False
    version: str = "1.36"

    @property
    def path(self) -> Path:
        """Where it is stored."""
        what = f"platform-{self.scheduler}" if self.of_platform else self.scheduler
        return GOLDEN / self.example / f"{what}.yaml"

    @property
    def platform(self) -> Platform:
        """The platform's file of the example."""
        read, _ = scan_platform(ROOT / "examples" / self.example / "cluster.yaml", "cluster.yaml")
        return replace(read, versions=replace(read.versions, kubernetes=self.version))

    def rendered(self) -> Rendered:
        """The objects, made now."""
        if self.of_platform:
            return render_platform(self.platform, self.scheduler)
        folder = ROOT / "examples" / self.example
        repository = load_repository(folder, self.platform).checked()
        team = self.platform.teams[TEAMS[self.example]]
        return render(repository, self.platform, team, scheduler=self.scheduler, gang_objects=True)


def cases() -> Iterator[Case]:
    """Every example for every scheduler."""
    for example in TEAMS:
        for scheduler in SCHEDULERS:
            yield Case(example, scheduler)
            yield Case(example, scheduler, of_platform=True)


DEPLOY = ROOT / "deploy"
CONTROLLER = "registry.example.org/allotment@sha256:" + "0" * 64


def deployed() -> Rendered:
    """What `deploy/objects.yaml` holds: the platform beside it, with the window controller."""
    platform, _ = scan_platform(DEPLOY / "platform.yaml", "platform.yaml")
    return render_platform(platform, controller=CONTROLLER)


if __name__ == "__main__":
    (DEPLOY / "objects.yaml").write_text(to_stream(deployed()), encoding="utf-8")
    for case in cases():
        case.path.parent.mkdir(parents=True, exist_ok=True)
        case.path.write_text(to_stream(case.rendered()), encoding="utf-8")
