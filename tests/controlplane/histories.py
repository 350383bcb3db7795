"""What the bucket says of a volume's starts, and how often each of its pages was begun."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from tests.controlplane.team import PIPELINE, Team, objects_below


class Counted:
    """A pipeline that notes each page that it begins."""

    def __init__(self, team: Team, name: str, *, wait: str = "sleep 0.1") -> None:
        self._notes = team.folder.parent / f"begun-{name}"
        self._wait = wait

    def pipeline(self, **more: Any) -> dict[str, Any]:
        """What is written into the pipeline's file."""
        words = f'echo "$0" >> {self._notes}; {self._wait}; cp "$0" "$1/text"'
        step = {"step": "command", "settings": {"run": ["sh", "-c", words, "{page}", "{out}"]}}
        return {**PIPELINE, "steps": [step], **more}

    @property
    def begun(self) -> int:
        """How many pages were begun, each as often as it was."""
        return sum(self.by_page.values())

    @property
    def by_page(self) -> Counter[str]:
        """How often each page was."""
        if not self._notes.exists():
            return Counter()
        return Counter(Path(line).name for line in self._notes.read_text(encoding="utf-8").splitlines())


def starts(team: Team, volume: str) -> list[dict[str, Any]]:
    """The starts of a volume in their order, each with its end, if it has one."""
    found = {
        key.rpartition("/")[2]: json.loads(data)
        for key, data in objects_below(team.store, "results", f"/{volume}/attempts/")
    }
    numbers = sorted(int(name.removesuffix(".json")) for name in found if not name.endswith(".end.json"))
    return [{**found[f"{each}.json"], "end": found.get(f"{each}.end.json", {})} for each in numbers]


def burnt(team: Team, volume: str) -> int:
    """How many retries its starts have burnt."""
    return sum(each["end"].get("outcome") == "failed" for each in starts(team, volume))


def with_defaults(team: Team, **more: int) -> None:
    """Change the defaults of the platform that the team sends with."""
    file = team.folder.parent / "platform.yaml"
    value = yaml.safe_load(file.read_text(encoding="utf-8"))
    file.write_text(yaml.safe_dump({**value, "defaults": {**value["defaults"], **more}}), encoding="utf-8")
