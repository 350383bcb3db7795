"""A repository of an earlier platform, read as it stands: green unchanged, and its record is held to."""

from __future__ import annotations

import shutil
from itertools import takewhile
from pathlib import Path

import pytest

from allotment.cli import invoke
from allotment.platform.find import find_platform
from allotment.platform.model import Lane
from allotment.platform.need import Need, Resources
from allotment.repository import load_repository
from allotment.repository.model import ImagesSource, ManifestSource, ReferenceSource, Window
from allotment.repository.rendered import read_rendered

SEED = Path(__file__).parents[1] / "repository/seed"
GI = 2**30
LOGBOOKS, TALLIES = "campaigns/logbooks-1887.yaml", "campaigns/tallies.yaml"
PIPELINE, SETTINGS = "pipelines/logbook-v1.yaml", "converter.yaml"
OURS = """
engine: local
defaults: {window: 3}
lanes: {harbour-interactive: {value: 0}}
sizes: {large: {gpu: {count: 2}}}
sources: {template: "https://x.example/{ref}", hosts: [x.example, scans.harbour.example]}
"""
RECORD = "rendered/campaigns/logbooks-1887.yaml"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "harbour"
    shutil.copytree(SEED, root)
    monkeypatch.chdir(root)
    monkeypatch.delenv("ALLOT_PLATFORM", raising=False)
    return root


def check(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str]]:
    """The exit code, and place, severity and rule of each finding in a file."""
    code = invoke(["check", *words])
    in_files = takewhile(lambda line: " are right (" not in line, capsys.readouterr().out.splitlines())
    return code, [" ".join(line.split(" ")[:3]).rstrip(":") for line in in_files]


def edit(root: Path, name: str, old: str, new: str) -> None:
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new, 1))


def test_it_is_green_without_a_change(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(capsys, "--strict") == (0, [])


def test_what_it_means_here(root: Path) -> None:
    platform, origin = find_platform(root, option=None, environ={}, system_file=root / "nothing")
    assert origin == str(root / SETTINGS)
    assert list(platform.teams) == ["harbour-archive"]
    assert platform.teams["harbour-archive"].secret == "harbour-results"
    assert dict(platform.lanes) == {
        "harbour-bulk": Lane(0),
        "harbour-interactive": Lane(50),
        "harbour-idle": Lane(-10),
    }
    repository = load_repository(root, platform).checked()
    logbooks, tallies = (repository.campaigns[name] for name in ("logbooks-1887", "tallies"))
    assert (logbooks.priority, logbooks.window) == ("harbour-interactive", Window(1, 4))
    assert (tallies.priority, tallies.window) == ("harbour-bulk", Window(1, 6))
    assert [type(volume.source) for volume in logbooks.volumes] == [
        ReferenceSource,
        ManifestSource,
        ImagesSource,
    ]
    large, plain = (repository.pipelines[name] for name in ("logbook-v1", "tally-v1"))
    assert (large.gpu, large.resources) == (Need(count=2), Resources(0.5, 32 * 10**9, 4 * GI))
    assert (plain.gpu, plain.resources) == (Need(), Resources(4, 16 * GI, 2 * GI))
    assert (large.runner, plain.runner) == ("image", "image")
    assert (large.max_seconds, plain.max_seconds) == (3600, 7200)
    assert large.ttl_seconds_after_finished == 86400
    assert dict(large.steps[2].settings["generation_settings"]) == {"num_beams": 4, "length_penalty": 1.5}


@pytest.mark.parametrize(
    ("said", "settings", "ours", "held"),
    [
        (4, "window: 6", None, Window(1, 4)),
        (7, "window: 6", None, Window(1, 6)),
        ("{min: 7, max: 9}", "window: 6", None, Window(6, 6)),
        (50, "", None, Window(1, 20)),
        (7, "window: 6", OURS, Window(1, 6)),
        (50, "", OURS, Window(1, 50)),
    ],
)
def test_its_window_is_also_the_widest(
    root: Path, *, said: object, settings: str, ours: str | None, held: Window
) -> None:
    edit(root, SETTINGS, "window: 6", settings)
    edit(root, LOGBOOKS, "window: 4", f"window: {said}")
    if ours is not None:
        (root / "platform.yaml").write_text(ours)
    platform, _ = find_platform(root, option=None, environ={}, system_file=root / "nothing")
    loaded = load_repository(root, platform).repository
    assert loaded.campaigns["logbooks-1887"].window == held


def test_its_record_is_read_with_parts_in_order(root: Path) -> None:
    record = read_rendered(root)
    assert record.findings == ()
    assert list(record.namespaces) == ["harbour-archive"]
    assert [volume.id for volume in record.before.campaigns["tallies"].volumes] == [
        "H0002001",
        "H0002002",
        "H0002003",
    ]
    assert record.before.recipes["logbook-v1"].steps[0].step == "FindRegions"


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        (LOGBOOKS, "  - H0001887\n", "", "6:5 error volume-removed"),
        (TALLIES, "  - H0002003\n", "", "5:5 error volume-removed"),
        (LOGBOOKS, "iiif/pilot-7/", "iiif/pilot-8/", "7:5 error volume-changed"),
        (LOGBOOKS, "leaf/2.jpg", "leaf/3.jpg", "9:5 error volume-changed"),
        (
            LOGBOOKS,
            "leaf/2.jpg]",
            "leaf/2.jpg, https://scans.harbour.example/leaf/3.jpg]",
            "9:5 error volume-changed",
        ),
        (TALLIES, "  - H0002001\n  - H0002002\n", "  - H0002002\n  - H0002001\n", "4:5 error volume-moved"),
        (TALLIES, "  - H0002001\n", "  - H0002000\n  - H0002001\n", "4:5 error volume-inserted"),
        (TALLIES, "tally-v1", "logbook-v1", "1:11 error campaign-pipeline-changed"),
        (TALLIES, "  - H0002003\n", "  - H0002003\n  - H0002004\n", "7:5 note volumes-appended"),
        (LOGBOOKS, "window: 4", "window: 2\nsuspend: true", None),
        (PIPELINE, "boxes", "blobs", "8:14 error recipe-changed"),
        (PIPELINE, "num_beams: 4", "num_beams: 5", "17:41 error recipe-changed"),
        (PIPELINE, "@sha256:4f", "@sha256:5f", "2:8 error recipe-changed"),
        (PIPELINE, "size: large\nmax_seconds: 3600\n", "size: small\n", None),
        (PIPELINE, "size: large\n", "gpu: {memory: 40Gi}\n", None),
        (LOGBOOKS, "harbour-interactive", "harbour-interactiv", "3:11 error unknown-lane"),
        (PIPELINE, "size: large", "size: larg", "3:7 error unknown-size"),
        (SETTINGS, "namespace: harbour-archive", "namespace: other", None),
        (SETTINGS, "queue:", "queues:", "3:1 warning unknown-key"),
        (SETTINGS, "data_pvc:", "allowed_image_repos: []\ndata_pvc:", "7:1 warning unknown-key"),
        (LOGBOOKS, "window: 4", "window: 6", None),
        (LOGBOOKS, "window: 4", "window: 7", "4:9 note window-held"),
        (SETTINGS, "window: 6", "window: 0", "4:9 error out-of-range"),
        (SETTINGS, "{ref}", "{code}", "10:18 error bad-template"),
        (SETTINGS, "sizes:", "default_size: tiny\nsizes:", "17:15 error unknown-size"),
        (RECORD, "volumes.txt", "volumes", "1:1 error record-unreadable"),
        (RECORD, "\\tht", "ht", "1:1 error record-unreadable"),
    ],
)
def test_each_change_is_found_at_its_line(
    root: Path, capsys: pytest.CaptureFixture[str], *, name: str, old: str, new: str, said: str | None
) -> None:
    edit(root, name, old, new)
    code, lines = check(capsys)
    if name == SETTINGS and "other" in new:
        assert (code, lines) == (
            1,
            ["rendered/campaigns/logbooks-1887.yaml:5:14 error foreign-team"],
        )
        return
    expected = [] if said is None else [f"{name}:{said}"]
    assert lines == expected
    assert code == (1 if said is not None and " error " in said else 0)


PLATFORM = """\
engine: local
teams: {readers: {namespace: harbour-archive}, others: {namespace: town-archive}}
lanes: {harbour-bulk: {value: 0}, harbour-interactive: {value: 5}}
sizes: {large: {gpu: {count: 2}}}
sources: {template: "https://scans.harbour.example/iiif/{ref}/manifest", hosts: [scans.harbour.example]}
"""


@pytest.mark.parametrize(
    ("platform", "words", "code", "said"),
    [
        (PLATFORM, [], 0, []),
        (PLATFORM, ["--team", "readers"], 0, []),
        (PLATFORM, ["--team", "others"], 1, ["converter.yaml:2:12 error foreign-team"]),
        (
            PLATFORM.replace("harbour-archive", "port-archive"),
            [],
            1,
            ["converter.yaml:2:12 error foreign-team"],
        ),
        (
            "engine: local\nteams: {mine: {}}\n" + PLATFORM.partition("\n")[2].partition("\n")[2],
            [],
            1,
            ["converter.yaml:2:12 error foreign-team"],
        ),
    ],
)
def test_a_foreign_team_is_refused_at_the_line_that_names_it(
    root: Path,
    capsys: pytest.CaptureFixture[str],
    *,
    platform: str,
    words: list[str],
    code: int,
    said: list[str],
) -> None:
    (root / "platform.yaml").write_text(platform)
    assert check(capsys, *words) == (code, said)


def test_nothing_is_held_against_files_by_settings_that_cannot_be_read(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / SETTINGS).write_text("[]\n")
    assert check(capsys) == (1, [f"{SETTINGS}:1:1 error wrong-type"])


def test_a_further_part_is_held_to_once_it_is_recorded(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = (root / "rendered/campaigns/tallies-part2.yaml").read_text()
    for number, volume in ((10, "H0002005"), (3, "H0002004")):
        text = part.replace("part2", f"part{number}").replace("H0002003", volume)
        (root / f"rendered/campaigns/tallies-part{number}.yaml").write_text(text)
    assert check(capsys) == (1, [f"{TALLIES}:6:5 error volume-removed"] * 2)
    edit(root, TALLIES, "  - H0002003\n", "  - H0002003\n  - H0002004\n  - H0002005\n")
    assert check(capsys) == (0, [])
