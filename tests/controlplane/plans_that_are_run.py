"""A small cluster's campaigns planned and then sent: what the plan says, and what became of them.

The plan is one of a snapshot, at the paces that a plane has; when others send is no matter of a plan, and is
told to it as ``compare --at`` would.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

import yaml

from allotment.cli.plans.inputs import inputs_of
from allotment.devices.catalogue import find
from allotment.kubernetes.client import Client
from allotment.kubernetes.cluster.file_reading import read_file
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.cluster.world import world_of
from allotment.kubernetes.kinds import (
    CLAIM_TEMPLATE,
    CLUSTER_QUEUE,
    CONFIG_MAP,
    JOB,
    LEASE,
    NAMESPACE,
    NODE,
    POD,
)
from allotment.kubernetes.render.platform import render_platform
from allotment.planning.scenes.looking import look
from allotment.planning.scenes.scene import scene_for
from allotment.planning.scenes.values import Choices, Place, Scene
from allotment.platform.file import scan_platform
from allotment.platform.model import Platform
from allotment.repository import load_repository
from allotment.repository.measured import FILE, Measured, PageSeconds, written
from allotment.repository.model import Repository
from allotment.repository.recipe import recipe_of
from allotment.simulation.draws import Draws
from allotment.simulation.outcome import Outcome
from allotment.simulation.setting import Pace
from allotment.simulation.simulate import simulate
from tests.controlplane.components import MINOR
from tests.controlplane.installing import installed
from tests.controlplane.kubelet.running import PLAYED
from tests.controlplane.nodes import CAPACITY, publish, status_of, withdraw
from tests.controlplane.plane import Plane
from tests.controlplane.processes import until
from tests.controlplane.small_campaigns import CLASSES, IMAGE, MINE, OTHERS, Campaign, Small, words
from tests.controlplane.team import NOWHERE, ending
from tests.controlplane.what_happened import TEAMS, Happened, Watch, happened

DRAWS: Final = 40
HOUR: Final = 3600.0
SECONDS: Final = 240
GRACE: Final = 20
ADMIN: Final = "admin"
SENT: Final = (JOB, CLAIM_TEMPLATE, CONFIG_MAP, LEASE)


@dataclass(frozen=True, slots=True)
class Paces:
    """How fast a plane is, the least and the most that was seen: a pod's start, and a look at its Job."""

    pod_start: tuple[float, float] = (0.1, 0.4)
    job_sync: tuple[float, float] = (1.0, 1.2)

    def set(self, place: int) -> list[str]:
        """What one draw takes for it, in the words of ``--set``."""
        dice = Random(place)
        took = {"pod_start": dice.uniform(*self.pod_start), "job_sync": dice.uniform(*self.job_sync)}
        return ["image_pull=0", "model_load=0", *(f"{key}={value:.2f}" for key, value in took.items())]


@dataclass(frozen=True, slots=True)
class Planned:
    """The courses of a plan, and the one of them that ends at the half."""

    courses: tuple[Outcome, ...]
    course: Outcome
    scene: Scene


class Stage:
    """A small cluster on a plane, with everybody's files. ``folder`` is new and empty."""

    def __init__(self, plane: Plane, small: Small, folder: Path) -> None:
        self.plane, self.small, self.folder = plane, small, folder
        self.client: Client = plane.client()
        self.pods = folder / "pods"
        self.pods.mkdir(parents=True)
        self.platform = self._write_platform()
        self.repositories = {team: folder / team for team in TEAMS}

    @contextmanager
    def stands(self) -> Iterator[None]:
        """Nodes, queues and namespaces, until the block ends."""
        with ExitStack() as stack:
            stack.callback(withdraw, self.client)
            self._publish()
            stack.enter_context(installed(self.client, render_platform(self.platform).objects))
            stack.callback(self._clear)
            for team in TEAMS:
                note = {"metadata": {"annotations": {PLAYED: words(self.pods)}}}
                self.client.patch(NAMESPACE, team, None, note, manager="tests")
            if self.small.scheduler == "kueue":
                until(lambda: all(map(self._is_active, TEAMS)), "the queues to be active")
            yield

    def write(self, campaigns: Sequence[Campaign]) -> None:
        """The files of these, and what their pods find."""
        for each in campaigns:
            root = self.repositories[each.team]
            for folder in ("pipelines", "campaigns"):
                (root / folder).mkdir(parents=True, exist_ok=True)
            pipeline = {
                "image": IMAGE.format(each.name),
                "gpu": dict(each.need),
                "resources": {"cpu": 0.5, "memory": "256Mi"},
                "steps": [{"step": "checksum"}],
            }
            volumes = [
                {
                    "id": f"{each.name}-{place}",
                    "images": [f"https://images.example.org/{place}/{page}.png" for page in range(pages)],
                }
                for place, pages in enumerate(each.pages)
            ]
            window = {"min": each.width, "max": each.width}
            said = {"pipeline": each.name, "priority": each.lane, "window": window, "volumes": volumes}
            write(root / "pipelines" / f"{each.name}.yaml", pipeline)
            write(root / "campaigns" / f"{each.name}.yaml", said)
            for place, pages in enumerate(each.pages):
                (self.pods / f"{each.name}-{place}.pages").write_text(f"{pages}\n", encoding="utf-8")
            for number, node in enumerate(self.small.nodes, 1):
                path = self.pods / f"{each.name}.node-{number}"
                path.write_text(f"{each.seconds[node.card]}\n", encoding="utf-8")
        for root in self.repositories.values():
            if root.exists():
                self._write_measured(root)

    def allot(self, who: str, *said: str) -> subprocess.Popen[str]:
        """A command of a member of a team, or of the administrator, begun."""
        environment = {
            **os.environ,
            "KUBECONFIG": str(self.plane.kubeconfig(who, MINE if who == ADMIN else who)),
            "ALLOT_PLATFORM": str(self.folder / "platform.yaml"),
        }
        command = [str(Path(sys.executable).parent / "allot"), *said]
        return subprocess.Popen(
            command,
            cwd=self.repositories.get(who, self.folder),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def scene(self, read: Snapshot, inputs: Sequence[str], begun: Mapping[str, int]) -> Scene:
        """What ``allot plan`` plays of a snapshot with these inputs; ``begun`` as the bucket would tell."""
        place = Place(world_of(read).world, read.name, read)
        mine = self._loaded(MINE)
        beside = []
        if self.small.of(OTHERS):
            beside.append((self._loaded(OTHERS), self.platform.teams[OTHERS]))
        known = look(mine, self.platform.teams[MINE], None)
        done = {
            (campaign.pipeline, volume.id): begun[volume.id]
            for campaign in mine.campaigns.values()
            for volume in campaign.volumes
            if begun.get(volume.id)
        }
        entries = [
            *known.measured.entries,
            *(entry for other, team in beside for entry in look(other, team, None).measured.entries),
        ]
        known = replace(known, begun=done, measured=replace(known.measured, entries=tuple(entries)))
        pace, chances = inputs_of(inputs)
        return scene_for(
            mine,
            self.platform,
            self.platform.teams[MINE],
            place,
            known=known,
            choices=Choices(pace, chances, window=False),
            now=read.time,
            beside=beside,
        )

    def plan(
        self, read: Snapshot, paces: Paces, begun: Mapping[str, int], arrivals: Mapping[str, float]
    ) -> Planned:
        """As many courses as a plan has, each at a pace between the fastest and the slowest.

        When things are sent is no matter of a plan: what has ``arrivals``, by name, comes when it did.
        """
        scene = self.scene(read, paces.set(1), begun)
        works = [
            replace(each, arrival=max(0.0, each.arrival + arrivals.get(each.name, 0.0)))
            for each in scene.works
        ]
        scene = replace(scene, works=tuple(works))
        courses = []
        for seed in range(1, DRAWS + 1):
            pace: Pace = inputs_of(paces.set(seed))[0]
            setting = replace(scene.setting, pace=pace)
            courses.append(simulate(setting, scene.works, scene.run_times, Draws(seed), HOUR))
        ordered = sorted(courses, key=_end)
        return Planned(tuple(courses), ordered[DRAWS // 2], scene)

    def begun(self) -> Mapping[str, int]:
        """How many pages of each volume are done."""
        found = {path.stem: path.read_text(encoding="utf-8") for path in self.pods.glob("*.done")}
        return {volume: int(text or "0") for volume, text in found.items()}

    def _loaded(self, team: str) -> Repository:
        loaded = load_repository(self.repositories[team], self.platform)
        assert not [each for each in loaded.findings if each.severity == "error"], loaded.findings
        return loaded.repository

    def _write_measured(self, root: Path) -> None:
        (root / FILE).unlink(missing_ok=True)
        loaded = load_repository(root, self.platform).repository
        known = {each.name: each for each in self.small.campaigns}
        entries = [
            _measured(name, recipe_of(pipeline), find(card).id, seconds)
            for name, pipeline in loaded.pipelines.items()
            for card, seconds in known[name].seconds.items()
        ]
        (root / FILE).write_text(written(entries), encoding="utf-8")

    def _write_platform(self) -> Platform:
        file = self.folder / "platform.yaml"
        teams = {
            team: {
                "repository": str(self.folder / team),
                "namespace": team,
                "queue": dict(self.small.quotas[team]),
            }
            for team in TEAMS
        }
        write(file, platform_words(self.small.scheduler, teams))
        platform, findings = scan_platform(file, file.name)
        assert not findings, findings
        return platform

    def _publish(self) -> None:
        port = self.plane.kubelet.port
        for name, node in zip(
            publish(self.client, self.small.fleet, port=port), self.small.nodes, strict=True
        ):
            status = {"status": status_of(port, {**CAPACITY, "cpu": str(node.cores)})}
            self.client.patch(NODE, name, None, status, manager="nodes", subresource="status")

    def _is_active(self, name: str) -> bool:
        told = (self.client.get(CLUSTER_QUEUE, name) or {}).get("status", {}).get("conditions") or ()
        return any((each["type"], each["status"]) == ("Active", "True") for each in told)

    def _clear(self) -> None:
        for team in TEAMS:
            for kind in SENT:
                for each in self.client.listed(kind, team):
                    self.client.delete(kind, each["metadata"]["name"], team)
        until(
            lambda: not any(self.client.listed(POD, team) for team in TEAMS),
            "the pods to be gone",
            seconds=90,
        )


def planned_and_run(plane: Plane, small: Small, folder: Path, paces: Paces) -> tuple[Planned, Happened]:
    """The plan of a small cluster's campaigns, and then what became of them."""
    stage = Stage(plane, small, folder)
    first = [each for each in small.campaigns if each.goes_before]
    later = [each for each in small.campaigns if not each.goes_before]
    with stage.stands():
        watch = Watch(stage.client, with_kueue=small.scheduler == "kueue")
        watch.start()
        try:
            if first:
                stage.write(first)
                _sent(stage, [each.team for each in first])
                until(partial(_runs, stage, first), "the first pods to run", seconds=60)
                time.sleep(small.head_start)
            stage.write(later)
            snapshot = folder / "snapshot.yaml"
            _well(stage.allot(ADMIN, "snapshot", "--cluster", "--out", str(snapshot)))
            read = read_file(snapshot)
            begun = stage.begun()
            for place, team in enumerate(sorted({each.team for each in later})):
                time.sleep(small.late * place)
                _sent(stage, [team])
            names = [(each.team, each.name) for each in small.campaigns]
            until(partial(_have_ended, stage, names), "all of it to end", seconds=SECONDS, pause=0.3)
            until(lambda: len(watch.seen.ended) == len(names), "their ends to be seen")
        finally:
            seen = watch.stop()
    arrivals = arrivals_of(later, seen.jobs, read.time)
    return stage.plan(read, paces, begun, arrivals), happened(stage.pods / "log", seen, read.time)


def arrivals_of(later: Sequence[Campaign], jobs: Mapping[str, float], since: float) -> Mapping[str, float]:
    """When the apply of each sent its first; how far apart those of one apply come is the plan's business."""
    found: dict[str, float] = {}
    for team in TEAMS:
        names = [each.name for each in later if each.team == team]
        found |= {name: min(jobs[each] for each in names) - since for name in names}
    return found


def platform_words(scheduler: str, teams: Mapping[str, Any]) -> dict[str, Any]:
    """A platform's file."""
    return {
        "engine": "kubernetes",
        "scheduler": scheduler,
        "versions": {"kubernetes": MINOR, "kueue": "0.17.0"},
        "bucket": "s3://results",
        "bucket_options": {"endpoint": NOWHERE, "region": "us-east-1", "allow_http": True},
        "teams": dict(teams),
        "cards": {name: {"card": card, "class": f"gpu-{name}"} for name, card in CLASSES.items()},
        "sources": {"hosts": ["images.example.org"]},
        "images": ["registry.example.org/htr"],
        "defaults": {"grace_seconds": GRACE},
    }


def _sent(stage: Stage, teams: Sequence[str]) -> None:
    for team in teams:
        _well(stage.allot(team, "apply"))


def _well(process: subprocess.Popen[str]) -> None:
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, (process.args, out, err)


def _runs(stage: Stage, campaigns: Sequence[Campaign]) -> bool:
    log = stage.pods / "log"
    said = log.read_text(encoding="utf-8").count(" begins ") if log.exists() else 0
    return said >= sum(each.width for each in campaigns)


def _have_ended(stage: Stage, names: Sequence[tuple[str, str]]) -> bool:
    return all(ending(dict(stage.client.get(JOB, name, team) or {})) for team, name in names)


def _measured(name: str, recipe: str, card: str, seconds: float) -> Measured:
    took = PageSeconds(seconds, seconds, seconds)
    return Measured(name, recipe, card, 2**30, 1.0, 30, 300, took, 0.0, "2026-01-01T00:00:00Z")


def _end(outcome: Outcome) -> float:
    return max((each.finished if each.finished is not None else HOUR for each in outcome.ends), default=0.0)


def write(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(yaml.safe_dump(dict(value), sort_keys=False), encoding="utf-8")
