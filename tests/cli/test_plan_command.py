"""`allot plan` as it is called: what it says of a small repository, in which form, and what it exits with."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from allotment.cli import invoke
from allotment.devices.describe import parse_description
from allotment.repository.model import StepCall
from allotment.repository.recipe import recipe_digest
from tests.planning.manifests import manifest, page

PIPELINE = "gpu: {memory: 40Gi}\nsteps: [{step: checksum}]\n"
CAMPAIGN = """pipeline: demo
window: 2
volumes:
  - {id: one, images: [https://images.example.org/1.jpg, https://images.example.org/2.jpg]}
  - {id: two, images: [https://images.example.org/3.jpg]}
"""
PLATFORM = """format: 1
engine: local
bucket: ./results
sources: {hosts: [images.example.org]}
prices: {currency: EUR, hour: {H100-SXM-80: 3.6, L4: 1}}
"""
FLEET = "2 x H100-SXM, 3 x L4"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a campaign of two volumes, in which commands are called."""
    for name, text in (
        ("pipelines/demo.yaml", PIPELINE),
        ("campaigns/letters.yaml", CAMPAIGN),
        ("platform.yaml", PLATFORM),
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ALLOT_PLATFORM", raising=False)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0, world: str = FLEET) -> str:
    """What a call prints, with the exit code that is expected."""
    found = invoke(["plan", *words, "--draws", "3", *(["--describe", world] if world else [])])
    out, err = capsys.readouterr()
    assert found == code, (out, err)
    assert "Traceback" not in err
    return out or err


@pytest.mark.usefixtures("root")
def test_one_campaign_is_one_screen_that_a_newcomer_can_read(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys)
    assert "+ campaigns/letters: 2 volumes" in out
    assert "campaign letters: 2 volumes, 3 pages, window 1..2" in out
    assert "fits 2 of 5 cards (2 x H100-SXM-80); not all have at least" in out
    assert "(3 x L4: memory is 22.49Gi (23034Mi))" in out
    assert "starts    in 2 s (" in out
    assert "an hour of H100-SXM-80" in out
    assert "nobody: nothing else is known to run or wait there" in out
    assert "checksum only reads the page" in out
    assert len(out.splitlines()) <= 40


@pytest.mark.usefixtures("root")
def test_programs_get_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said(capsys, "-o", "json"))
    assert (found["kind"], found["format_version"], found["nothing_to_do"]) == ("plan", 1, False)
    (work,) = found["works"]
    assert (work["volumes"], work["pages_left"], work["window"]) == (2, 3, {"min": 1, "max": 2})
    assert work["fits"]["would_do"] == 2
    assert work["money"]["p90"] == pytest.approx(work["gpu_hours"]["p90"] * 3.6)
    assert sorted(found["made_from"]["files"]) == [
        "campaigns/letters.yaml",
        "measured.yaml",
        "pipelines/demo.yaml",
    ]
    assert found["made_from"]["cluster"] is False


KEYS = {
    "": [
        "assumptions", "at", "bounds", "cards", "caveats", "changes", "currency", "draws", "end_seconds",
        "format_version", "gpu_hours", "horizon_seconds", "kind", "made_from", "money", "notes",
        "nothing_to_do", "others", "payers", "risks", "scheduler", "seed", "team", "works", "world",
    ],
    "works": [
        "cards", "end_seconds", "failed", "finishes", "fits", "gpu_hours", "kind", "late", "money", "name",
        "never", "pages_left", "pages_lost", "reclaimed", "run_times", "start_seconds", "team", "volumes",
        "volumes_left", "volumes_uncounted", "waits", "waits_for", "window", "window_over_time",
    ],
    "assumptions": ["maturity", "remedy", "said", "source", "subject", "value"],
    "bounds": ["bound", "kept", "limit", "missed", "p90"],
    "made_from": ["cluster", "files", "names", "platform", "steps", "world"],
    "changes": ["against", "items", "notes"],
    "end_seconds": ["p10", "p50", "p90"],
}  # fmt: skip


@pytest.mark.usefixtures("root")
def test_keys_stay_as_they_are_under_one_format_version(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said(capsys, "-o", "json", "--deadline", "3d"))
    assert found["format_version"] == 1
    for place, keys in KEYS.items():
        part: Any = found[place] if place else found
        assert sorted(part[0] if isinstance(part, list) else part) == keys, place


@pytest.mark.usefixtures("root")
def test_the_same_seed_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    one, other = (json.loads(said(capsys, "-o", "json", "--seed", "7")) for _ in range(2))
    assert one["works"] == other["works"]


@pytest.mark.usefixtures("root")
def test_a_pull_request_gets_a_table_and_the_rest_to_unfold(capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "-o", "markdown")
    assert "| work | starts | ends | GPU-hours | costs |" in out
    assert out.count("<details>") == out.count("</details>") == 3


def test_a_page_needs_nothing_but_itself(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "-o", "html", "--out", "plan.html")
    text = (root / "plan.html").read_text()
    assert text.lower().startswith("<!doctype html>")
    assert "letters" in text


def test_the_picture_alone_is_an_image(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "-o", "svg", "--out", "plan.svg")
    text = (root / "plan.svg").read_text()
    assert text.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert "Plan for letters" in text


def test_a_file_gets_no_colours_and_no_width(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "--out", "plan.txt")
    assert "\x1b" not in (root / "plan.txt").read_text()


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--budget", "1000"], 0, "budget of 1,000 EUR kept"),
        (["--budget", "1,000.50 EUR"], 0, "kept"),
        (["--budget", "1_000"], 0, "budget of 1,000 EUR kept"),
        (["--budget", "0.0001 EUR"], 1, "EUR missed"),
        (["--deadline", "2d"], 0, "kept"),
        (["--deadline", "1s"], 1, "missed in all of the draws"),
        (["--deadline", "2d", "--budget", "0.0001"], 1, "kept"),
    ],
)
@pytest.mark.usefixtures("root")
def test_what_misses_a_bound_exits_1(
    capsys: pytest.CaptureFixture[str], words: list[str], code: int, told: str
) -> None:
    assert told in said(capsys, *words, code=code)


@pytest.mark.usefixtures("root")
def test_what_fails_whole_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert "fails" in said(capsys, "--set", "unit_fails=1", code=1)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--deadline", "soon"], "neither a time nor a span"),
        (["--deadline", "2020-01-01"], "has passed already"),
        (["--deadline", "9999-99-99"], "neither a time nor a span"),
        (["--budget", "much"], "no amount of money"),
        (["--budget", "-5"], "no amount of money"),
        (["--budget", "5,00"], "no amount of money"),
        (["--budget", "1,2,3"], "no amount of money"),
        (["--budget", "5_"], "no amount of money"),
        (["--budget", "5,000"], "is 5000 to some and 5.000 to others"),
        (["--budget", "12.500 EUR"], "write 12500, or 12.50"),
        (["--budget", "5 USD"], "prices are in EUR"),
        (["--set", "image_pul=3"], "did you mean `image_pull`"),
        (["--set", "image_pull"], "sets nothing"),
        (["--set", "image_pull=nan"], "sets no number"),
        (["--set", "image_pull=-1"], "sets no number"),
        (["--set", "default_rate=0"], "a number above 0"),
        (["--set", "kueue_rate=0"], "a number above 0"),
        (["--set", "unit_fails=1.5"], "a part from 0 to 1"),
        (["--set", "image_pull=1e308"], "at most ten years"),
        (["--set", "=="], "the keys are coarse"),
        (["--base", "nowhere"], "--base"),
        (["--draws", "0"], "--draws"),
        (["--scheduler", "slurm"], "--scheduler"),
        (["nobody"], "nobody"),
        (["--team", "nobody"], "no team `nobody`"),
        (["--describe", "3 x NOTHING"], "NOTHING"),
        (["--platform", "missing.yaml"], "missing.yaml"),
    ],
)
@pytest.mark.usefixtures("root")
def test_a_wrong_call_is_told_and_exits_2(
    capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    found = invoke(["plan", "--describe", FLEET, *words])
    err = capsys.readouterr().err
    assert (found, told in err, "Traceback" in err) == (2, True, False), err


@pytest.mark.usefixtures("root")
def test_a_slower_start_is_later(capsys: pytest.CaptureFixture[str]) -> None:
    soon, late = (
        json.loads(said(capsys, "-o", "json", "--set", f"pod_start={value}"))["works"][0]["end_seconds"]
        for value in ("0", "10m")
    )
    assert late["p50"] >= soon["p50"] + 600


def test_what_fits_nowhere_is_told_with_what_would_fit(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = said(capsys, world="2 x L4", code=1)
    assert "fits 0 of 2 cards" in out or "fits 0 of 2 devices" in out
    assert "never     it will never fit here" in out
    assert "try " in out


def test_a_campaign_that_is_paused_is_nothing_to_do(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = root / "campaigns" / "letters.yaml"
    path.write_text(path.read_text() + "suspend: true\n")
    out = said(capsys)
    assert out.startswith("nothing to do, held against what ./results holds")
    assert "campaigns/letters: its file says `suspend: true`; 2 volumes are left" in out


def test_what_the_bucket_has_is_not_planned_again(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = recipe_digest(None, None, [StepCall("checksum")])
    for volume in ("one", "two"):
        folder = root / "results" / "local" / "demo" / recipe / volume
        folder.mkdir(parents=True)
        (folder / "manifest.json").write_text(json.dumps(manifest([page()])))
        if volume == "one":
            assert "~ campaigns/letters: 1 of 2 volumes is left" in said(capsys)
    assert "nothing to do" in said(capsys)
    assert json.loads(said(capsys, "-o", "json"))["works"] == []
    assert "**nothing to do" in said(capsys, "-o", "markdown")
    assert "nothing changes" in said(capsys, "-o", "html")


@pytest.mark.usefixtures("root")
def test_this_machine_is_planned_as_its_engine_runs_it(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = root / "pipelines" / "demo.yaml"
    path.write_text("gpu: {memory: 1Gi, fallback: [{cpu: 1}]}\nsteps: [{step: checksum}]\n")
    out = said(capsys, world="")
    assert "never" not in out
    assert "is dropped on a cluster" not in out


def test_against_a_commit_only_what_differs_is_planned(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "n")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "n@example.org")
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "one"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    assert said(capsys, "--base", "main").startswith("nothing to do, held against main at")
    (root / "campaigns" / "maps.yaml").write_text(CAMPAIGN)
    out = said(capsys, "--base", "main")
    assert "+ campaigns/maps: its file is new" in out
    assert "campaign maps: 2 volumes" in out
    assert "campaign letters" not in out
    pipeline = root / "pipelines" / "demo.yaml"
    pipeline.write_text(PIPELINE.replace("40Gi", "20Gi"))
    assert "~ campaigns/letters: pipelines/demo.yaml has changed" in said(capsys, "--base", "main")
    (root / "campaigns" / "letters.yaml").unlink()
    assert "- campaigns/letters: its file is gone" in said(capsys, "--base", "main")


def test_what_kubectl_prints_of_a_cluster_will_do(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = parse_description("2 nodes of 2 x H100-SXM")
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": each.node_name, "creationTimestamp": "2026-11-01T00:00:00Z"},
            "status": {
                "allocatable": {"cpu": "1", "memory": "256Gi", "pods": "110"},
                "conditions": [
                    {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-11-01T00:00:00Z"}
                ],
            },
        }
        for each in world.slices
    ]
    items = [*(each.to_dict() for each in world.slices), *nodes]
    (root / "cluster.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    out = said(capsys, "--snapshot", "cluster.json", world="")
    assert "fits 4 of 4 cards (4 x H100-SXM-80)" in out
    assert "starts    in 2 s (" in out
    assert "the cluster is taken to be as it was" in out


def test_who_else_sends_something_is_played_beside(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = root / "other"
    shutil.copytree(root / "pipelines", other / "pipelines")
    shutil.copytree(root / "campaigns", other / "campaigns")
    (other / "campaigns" / "letters.yaml").rename(other / "campaigns" / "maps.yaml")
    teams = "teams: {archive: {}, museum: {}}\n"
    (root / "platform.yaml").write_text(PLATFORM + teams)
    found = json.loads(said(capsys, "--team", "archive", "--beside", "museum=other", "-o", "json"))
    assert found["others"] == 1
    assert [work["name"] for work in found["works"]] == ["letters"]
    assert "names no team" in said(capsys, "--team", "archive", "--beside", "nobody=other", code=2)


@pytest.mark.parametrize("name", ["quota", "running", "kai-reclaim", "topology", "no-kueue"])
def test_recorded_clusters_are_planned_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    example = Path(__file__).parents[2] / "examples" / "cluster"
    situation = Path(__file__).parents[1] / "kubernetes" / "follow" / "situations" / f"{name}.yaml"
    shutil.copytree(example, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    words = ["--platform", "cluster.yaml", "--team", "archive", "--snapshot", str(situation)]
    out = said(capsys, *words, world="", code=1)
    assert "what changes, against kubernetes-admin@archive" in out
