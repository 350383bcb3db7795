"""The platform's file: every key is read, every key has a default, and a broken one is told at its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from allotment.documents import read_text
from allotment.errors import Severity, UsageError
from allotment.platform.file import platform_of, scan_platform
from allotment.platform.model import (
    Card,
    Defaults,
    Lane,
    Platform,
    PodRunner,
    Prices,
    Queue,
    Size,
    Sources,
    Team,
    TopologyLevel,
    Versions,
)
from allotment.platform.need import MemoryRange, Need, Resources
from allotment.quantities import GI

EVERYTHING = """
format: 1
engine: kubernetes
scheduler: both
versions: {kubernetes: "1.37", kueue: "0.20", kai: "0.18"}
bucket: s3://books/results
bucket_options: {endpoint: "https://s3.example.org", path_style: true, timeout: 1m}
teams:
  transcription:
    repository: https://git.example.org/transcription.git
    namespace: htr
    queue: {quota: 4, weight: 2.5, limit: null}
    secret: transcription-bucket
  layout: {}
lanes:
  normal: {}
  night: {value: -5, preemptible: false}
defaults: {window: 8, max_seconds: 100, ttl_seconds_after_finished: 60, retries: 0, reclaims: 5,
           grace_seconds: 30, minimum_runtime: 1h, look_ahead: 4, page_seconds: 50}
sizes:
  large: {gpu: {memory: ">40Gi"}, resources: {cpu: 500m, memory: 16Gi}}
default_size: large
cards:
  a100-80: {card: A100-80, class: gpu-a100-80}
sharing: [whole, mig, fraction]
topology:
  - {name: rack, label: example.org/rack}
sources: {template: "https://iiif.example.org/{ref}/manifest", hosts: [iiif.example.org]}
images: [registry.example.org/htr]
runner: {image: "registry.example.org/htr/inject@sha256:DIGEST"}
prices: {currency: SEK, hour: {a100-80: 12.5, h100-sxm: 20, NEW-9000: 1}}
""".replace("DIGEST", "ab" * 32)


def platform_in(text: str) -> Platform:
    platform, findings = platform_of(read_text(text, name="platform.yaml"))
    assert findings == []
    return platform


def test_every_key_is_read() -> None:
    assert platform_in(EVERYTHING) == Platform(
        engine="kubernetes",
        scheduler="both",
        versions=Versions("1.37", "0.20", "0.18"),
        bucket="s3://books/results",
        bucket_options={"endpoint": "https://s3.example.org", "path_style": True, "timeout": 60},
        teams={
            "transcription": Team(
                "transcription",
                "https://git.example.org/transcription.git",
                "htr",
                Queue(4, 2.5, None),
                "transcription-bucket",
            ),
            "layout": Team("layout", namespace="layout"),
        },
        lanes={"normal": Lane(), "night": Lane(-5, preemptible=False)},
        defaults=Defaults(8, 100, 60, 0, 5, 30, 3600, 4, 50),
        sizes={
            "large": Size(Need(memory=MemoryRange(more_than=40 * GI)), Resources(cpu=0.5, memory=16 * GI))
        },
        default_size="large",
        cards={"a100-80": Card("A100-80", "gpu-a100-80")},
        sharing=("whole", "mig", "fraction"),
        topology=(TopologyLevel("rack", "example.org/rack"),),
        sources=Sources("https://iiif.example.org/{ref}/manifest", ("iiif.example.org",)),
        images=("registry.example.org/htr",),
        runner=PodRunner("registry.example.org/htr/inject@sha256:" + "ab" * 32),
        prices=Prices("SEK", {"A100-80": 12.5, "H100-SXM-80": 20, "NEW-9000": 1}),
    )


def test_every_key_may_be_left_out() -> None:
    assert platform_in("format: 1\n") == Platform()
    assert platform_in("engine: local\n") == Platform(says_local=True)


def test_the_first_lane_is_the_default_one() -> None:
    assert Platform().default_lane == "bulk"
    assert platform_in("lanes: {night: {value: -5}, day: {value: 5}}\n").default_lane == "night"


def test_all_findings_are_told_and_the_rest_is_read() -> None:
    text = (
        "engin: local\nbucket: ftp://x/y\nlanes: {Bulk: {}}\nsharing: [whole, hole]\nimages: ['x:latest']\n"
    )
    platform, findings = platform_of(read_text(text + "defaults: {window: 3}\n", name="platform.yaml"))
    assert [(finding.rule, finding.position.line) for finding in findings] == [
        ("unknown-key", 1),
        ("bad-bucket", 2),
        ("bad-name", 3),
        ("unknown-word", 4),
        ("bad-image", 5),
    ]
    assert platform.defaults.window == 3
    assert {"bucket", "lanes", "sharing", "images"} <= platform.unread


def test_of_a_file_that_is_no_yaml_nothing_is_held_against_anybody(tmp_path: Path) -> None:
    path = tmp_path / "platform.yaml"
    path.write_text("lanes: [")
    platform, findings = scan_platform(path, str(path))
    assert [finding.rule for finding in findings] == ["yaml-syntax"]
    assert {"lanes", "sizes", "sources", "topology"} <= platform.unread


TWO_TEAMS: dict[str, Any] = {
    "a": Team("a", repository="git@git.example.org:books/a.git"),
    "b": Team("b", repository="/srv/books/b"),
}


@pytest.mark.parametrize(
    "identity",
    [
        "https://git.example.org/books/a",
        "https://user:word@git.example.org/books/a.git",
        "git@git.example.org:books/a.git",
        "ssh://git@git.example.org/books/a.git/",
    ],
)
def test_a_remote_is_one_repository_however_it_is_written(identity: str) -> None:
    assert Platform(teams=TWO_TEAMS).team_for(["/home/me/a", identity]).name == "a"


def test_a_folder_is_a_teams_repository() -> None:
    assert Platform(teams=TWO_TEAMS).team_for(["/srv/books/b/"]).name == "b"


def test_the_only_team_owns_any_repository() -> None:
    assert Platform().team_for(["/anywhere"]).name == "local"


def test_of_several_teams_one_has_to_be_named() -> None:
    with pytest.raises(UsageError, match="several teams") as caught:
        Platform(teams=TWO_TEAMS).team_for(["/anywhere", "https://me:token@host/team/books.git"])
    assert caught.value.what.endswith(", which is `/anywhere` or `host/team/books`")
    assert Platform(teams=TWO_TEAMS).team_for(["/anywhere"], "b").name == "b"


def test_a_team_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="no team `c`"):
        Platform(teams=TWO_TEAMS).team_for(["/anywhere"], "c")


def test_on_a_cluster_nobody_chooses_another_team_than_the_repositorys_own() -> None:
    with pytest.raises(UsageError, match="belongs to team `b`"):
        Platform(engine="kubernetes", teams=TWO_TEAMS).team_for(["/srv/books/b"], "a")


@pytest.mark.parametrize(("version", "nearest"), [("1.30", "1.34"), ("v1.38.1", "1.37")])
def test_a_version_of_kubernetes_that_is_not_known_is_kept_and_said(version: str, nearest: str) -> None:
    text = f'engine: kubernetes\nversions: {{kubernetes: "{version}"}}\n'
    platform, (finding,) = platform_of(read_text(text, name="platform.yaml"))
    assert platform.versions.kubernetes == version
    assert (finding.rule, finding.severity) == ("unknown-kubernetes", Severity.WARNING)
    assert finding.message.endswith(f"only 1.34 to 1.37; decided as {nearest}")


@pytest.mark.parametrize("version", ["9.99", "1", "newest"])
def test_what_is_no_version_of_kubernetes_is_refused(version: str) -> None:
    text = f'versions: {{kubernetes: "{version}"}}\n'
    _, (finding,) = platform_of(read_text(text, name="platform.yaml"))
    assert (finding.rule, finding.severity) == ("bad-text", Severity.ERROR)


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("runner: {}", []),
        ("runner: {image: null}", []),
        ("runner: {image: a/b@sha256:DIGEST}", []),
        ("images: [a]\nrunner: {image: a/b@sha256:DIGEST}", []),
        ("images: [a/b]\nrunner: {image: a/b@sha256:DIGEST}", []),
        ("images: [a/b]\nrunner: {image: a/bc@sha256:DIGEST}", ["image-not-allowed@2:17"]),
        ("runner: {image: 'a/b:latest'}", ["image-not-pinned@1:17"]),
        ("runner: {image: 'a/b@sha256:12'}", ["bad-image@1:17"]),
        ("runner: {imag: x}", ["unknown-key@1:10"]),
        ("runner: own", ["wrong-type@1:9"]),
    ],
)
def test_the_image_that_brings_the_runner_is_by_digest_and_allowed(text: str, rules: list[str]) -> None:
    document = read_text(text.replace("DIGEST", "0" * 64) + "\n", name="platform.yaml")
    _, findings = platform_of(document)
    assert [f"{each.rule}@{each.position.line}:{each.position.column}" for each in findings] == rules
