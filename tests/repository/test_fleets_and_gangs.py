"""Fleets and gangs: every key, what it is when left out, and each fault at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.errors import Position
from allotment.platform.model import Lane, Platform, TopologyLevel
from allotment.platform.need import MemoryRange, Need, Resources
from allotment.repository import Loaded, load_repository
from allotment.repository.model import EnvironmentVariable, Fleet, Gang, Replicas, Topology

GI = 2**30
IMAGE = "registry.example.org/serve@sha256:" + "0" * 64
PLATFORM = Platform(
    lanes={"bulk": Lane(0), "night": Lane(-5, preemptible=False)},
    topology=(TopologyLevel("rack", "example.org/rack"),),
)


def loaded(root: Path, files: dict[str, str], platform: Platform = PLATFORM) -> Loaded:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return load_repository(root, platform)


def test_a_fleet_with_every_key(tmp_path: Path) -> None:
    text = f"""\
image: {IMAGE}
command: [serve, --port, "80"]
replicas: {{min: 2, max: 4}}
gpu: {{memory: 8Gi}}
resources: {{memory: 2Gi}}
priority: night
preemptible: true
topology: {{prefer: rack}}
env:
  PORT: "80"
  TOKEN: {{secret: hub, key: token}}
"""
    found = loaded(tmp_path, {"fleets/web.yaml": text})
    assert found.findings == ()
    assert found.repository.fleets == {
        "web": Fleet(
            name="web",
            command=("serve", "--port", "80"),
            replicas=Replicas(2, 4),
            image=IMAGE,
            gpu=Need(memory=MemoryRange(at_least=8 * GI)),
            resources=Resources(memory=2 * GI),
            priority="night",
            preemptible=True,
            topology=Topology("prefer", "rack"),
            env=(
                EnvironmentVariable("PORT", value="80"),
                EnvironmentVariable("TOKEN", secret="hub", key="token"),
            ),
            path=tmp_path / "fleets/web.yaml",
        )
    }
    assert found.repository.fleets["web"].position("replicas", "max") == Position(
        str(tmp_path / "fleets/web.yaml"), 3, 25
    )


def test_a_fleet_that_says_little(tmp_path: Path) -> None:
    found = loaded(tmp_path, {"fleets/web.yaml": "command: [serve]\n"})
    assert found.findings == ()
    fleet = found.repository.fleets["web"]
    assert (fleet.replicas, fleet.priority, fleet.preemptible) == (Replicas(1, 1), "bulk", False)
    assert (fleet.image, fleet.gpu, fleet.env, fleet.topology) == (None, None, (), None)


def test_a_number_of_replicas_is_always_that_many(tmp_path: Path) -> None:
    found = loaded(tmp_path, {"fleets/web.yaml": f"image: {IMAGE}\nreplicas: 3\n"})
    assert found.repository.fleets["web"].replicas == Replicas(3, 3)
    assert found.repository.fleets["web"].command == ()


def test_a_gang_with_every_key(tmp_path: Path) -> None:
    text = f"""\
image: {IMAGE}
command: [train]
workers: 8
min: 6
gpu: {{count: 2, same: pcie-root}}
resources: {{cpu: 4}}
priority: bulk
preemptible: false
topology: {{require: rack}}
duration: 2h
env: {{EPOCHS: "3"}}
"""
    found = loaded(tmp_path, {"gangs/train.yaml": text})
    assert found.findings == ()
    assert found.repository.gangs == {
        "train": Gang(
            name="train",
            workers=8,
            min=6,
            command=("train",),
            image=IMAGE,
            gpu=Need(count=2, same="pcie-root"),
            resources=Resources(cpu=4),
            priority="bulk",
            preemptible=False,
            topology=Topology("require", "rack"),
            duration=7200,
            env=(EnvironmentVariable("EPOCHS", value="3"),),
            path=tmp_path / "gangs/train.yaml",
        )
    }


@pytest.mark.parametrize(("lane", "preemptible"), [("bulk", True), ("night", False)])
def test_a_gang_waits_for_all_and_gives_way_as_its_lane_does(
    tmp_path: Path, lane: str, *, preemptible: bool
) -> None:
    text = f"command: [train]\nworkers: 4\npriority: {lane}\n"
    gang = loaded(tmp_path, {"gangs/train.yaml": text}).repository.gangs["train"]
    assert (gang.min, gang.preemptible, gang.duration) == (4, preemptible, None)


FLEET = "command: [serve]\n"
GANG = "command: [train]\nworkers: 2\n"


@pytest.mark.parametrize(
    ("name", "text", "place", "rule", "said"),
    [
        ("fleets/web.yaml", FLEET + "replica: 2\n", "2:1", "unknown-key", "did you mean `replicas`?"),
        ("fleets/web.yaml", FLEET + "workers: 2\n", "2:1", "unknown-key", "no key `workers`"),
        ("fleets/web.yaml", "replicas: 2\n", "1:1", "missing-key", "`command: [program, argument]`"),
        ("fleets/web.yaml", "command: serve --port 80\n", "1:10", "wrong-type", "[serve, --port, 80, …]"),
        ("fleets/web.yaml", "command: []\n", "1:10", "empty-list", "names no program"),
        ("fleets/web.yaml", 'command: ["", x]\n', "1:10", "empty-list", "names no program"),
        ("fleets/web.yaml", "command: [serve, 80]\n", "1:18", "yaml-trap", "put it in quotes"),
        ("fleets/web.yaml", "command: [serve, on]\n", "1:18", "yaml-trap", "put it in quotes"),
        ("fleets/web.yaml", 'command: [serve, "a\\0b"]\n', "1:18", "bad-text", "no program can be given"),
        ("fleets/web.yaml", FLEET + "replicas: 0\n", "2:11", "out-of-range", "must be from 1"),
        ("fleets/web.yaml", FLEET + 'replicas: "2"\n', "2:11", "wrong-type", "without them"),
        ("fleets/web.yaml", FLEET + "replicas: {min: 3, max: 2}\n", "2:17", "bad-range", "min at most max"),
        ("fleets/web.yaml", FLEET + "replicas: {min: 3}\n", "2:11", "missing-key", "at most"),
        ("fleets/web.yaml", FLEET + "priority: day\n", "2:11", "unknown-lane", "`night`"),
        ("fleets/web.yaml", FLEET + "preemptible: no\n", "2:14", "yaml-trap", "true or false"),
        ("fleets/web.yaml", FLEET + "topology: {require: rak}\n", "2:21", "unknown-topology", "`rack`"),
        ("fleets/web.yaml", FLEET + "gpu: {sharing: mps}\n", "2:16", "sharing-not-allowed", "`whole`"),
        ("fleets/web.yaml", "image: serve:latest\n", "1:8", "image-not-pinned", "without its digest"),
        ("gangs/train.yaml", "command: [train]\n", "1:1", "missing-key", "how many workers"),
        ("gangs/train.yaml", GANG + "min: 3\n", "3:6", "bad-range", "there are 2 workers"),
        ("gangs/train.yaml", GANG + "duration: soon\n", "3:11", "bad-duration", "soon"),
        ("gangs/train.yaml", GANG + "replicas: 2\n", "3:1", "unknown-key", "no key `replicas`"),
        ("gangs/train.yaml", GANG + "env: {1a: x}\n", "3:7", "bad-name", "cannot be a variable's name"),
        ("gangs/Train.yaml", GANG, "1:1", "bad-name", "a gang's name"),
        ("fleets/a-status.yaml", FLEET, "1:1", "bad-name", "rename the file"),
    ],
)
def test_each_fault_is_found_at_its_place(
    tmp_path: Path, *, name: str, text: str, place: str, rule: str, said: str
) -> None:
    found = loaded(tmp_path, {name: text})
    (finding,) = found.findings
    assert (str(finding.position), finding.rule) == (f"{tmp_path / name}:{place}", rule)
    assert said in f"{finding.message} ({finding.hint})"
    assert found.repository.broken == {tmp_path / name}
    assert not found.repository.fleets
    assert not found.repository.gangs


def test_names_are_told_apart_across_kinds(tmp_path: Path) -> None:
    (tmp_path / "scans/a").mkdir(parents=True)
    found = loaded(
        tmp_path,
        {
            "pipelines/web.yaml": "steps: [{step: ocr}]\n",
            "campaigns/web.yaml": "pipeline: web\nvolumes: [{id: a, folder: scans/a}]\n",
            "campaigns/books.yaml": "pipeline: web\nvolumes: [{id: a, folder: scans/a}]\n",
            "fleets/web.yaml": FLEET,
            "fleets/train.yaml": FLEET,
            "gangs/train.yaml": GANG,
            "gangs/books.yaml": GANG,
        },
    )
    assert [(Path(each.position.file).parent.name, each.rule, each.message) for each in found.findings] == [
        ("fleets", "bad-name", "`web` is the name of a file in `campaigns/` as well"),
        ("gangs", "bad-name", "`books` is the name of a file in `campaigns/` as well"),
        ("gangs", "bad-name", "`train` is the name of a file in `fleets/` as well"),
    ]


def test_a_platform_that_cannot_be_read_is_not_held_against_them(tmp_path: Path) -> None:
    platform = Platform(unread=frozenset({"lanes", "topology", "sharing"}))
    text = FLEET + "priority: day\ntopology: {require: row}\ngpu: {sharing: mps}\n"
    assert loaded(tmp_path, {"fleets/web.yaml": text}, platform).findings == ()
    gang = GANG + "priority: day\n"
    assert loaded(tmp_path, {"gangs/train.yaml": gang}, platform).repository.gangs["train"].preemptible
