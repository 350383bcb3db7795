"""`allot queues` and `allot why` of a cluster that is only described: quotas, and what is decided."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from allotment.cli import invoke
from allotment.errors import EXIT_FINE, EXIT_USAGE
from tests.planning.scene_files import CAMPAIGN, PIPELINE

Run = Callable[..., str]
FLEET = "1 nodes of 4 x A100-80"
PLATFORM = """
engine: kubernetes
scheduler: {scheduler}
bucket: s3://results
teams:
  archive: {{queue: {{quota: 2, limit: 3}}}}
  laboratory: {{queue: {{quota: 2, weight: 3}}}}
sources: {{template: "https://x.org/{{ref}}/manifest", hosts: [x.org]}}
"""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.delenv("ALLOT_PLATFORM", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines/read.yaml").write_text(f"{PIPELINE}gpu: {{memory: 20Gi}}\n")
    (tmp_path / "campaigns").mkdir()

    def run_words(
        *words: str, scheduler: str = "kueue", campaign: str = CAMPAIGN, code: int = EXIT_FINE
    ) -> str:
        (tmp_path / "cluster.yaml").write_text(PLATFORM.format(scheduler=scheduler))
        (tmp_path / "campaigns/letters.yaml").write_text(campaign)
        found = invoke([words[0], "--platform", "cluster.yaml", *words[1:]])
        told = capsys.readouterr()
        assert found == code, told.err
        return told.out if words[0] == "render" else told.out + told.err

    return run_words


def why(run: Run, *words: str, **rest: str) -> str:
    return run("why", "letters", "--team", "archive", "--describe", FLEET, *words, **rest)


@pytest.mark.parametrize(("scheduler", "who"), [("kueue", "Kueue"), ("kai", "KAI")])
def test_the_queues_of_a_described_cluster_are_those_of_the_platforms_file(
    run: Run, scheduler: str, who: str
) -> None:
    text = run("queues", "--describe", FLEET, scheduler=scheduler)
    assert f"the described fleet: {who}, 2 queues; 0 " in text
    assert "the described fleet has 4 x A100-80, and nothing runs there" in text
    data = json.loads(run("queues", "archive", "--describe", FLEET, "-o", "json", scheduler=scheduler))
    (share,) = data["queues"]
    assert (share["queue"], share["quota"], share["limit"]) == ("archive", 2, 3)


@pytest.mark.parametrize(
    ("fleet", "told", "not_in_a_quota"),
    [
        (
            "2 x A100-80 mig=1g.10gb*7",
            "has 2 x A100-80 in 14 parts, and nothing",
            "10 of 14 devices are in no",
        ),
        ("1 x A100-80, 1 x A100-80 mig=1g.10gb*7", "has 2 x A100-80 in 7 parts", "4 of 8 devices are in no"),
        ("1 x H100-SXM mig=on-demand", "has 1 x H100-SXM-80, and nothing", ""),
        ("8 x L4", "has 8 x L4, and nothing", "4 of 8 cards are in no"),
    ],
)
def test_cards_are_counted_as_cards_and_parts_as_parts(
    run: Run, fleet: str, told: str, not_in_a_quota: str
) -> None:
    text = run("queues", "--describe", fleet)
    assert told in text
    assert not_in_a_quota in text


def test_what_fits_and_what_the_quota_lets_run_are_told_together(run: Run) -> None:
    told = why(run)
    assert "4 pods at once" in told
    assert "of the 4 pods that fit at once it lets 3 run" in told
    assert "at once it lets" not in why(run, "--describe", "1 nodes of 2 x A100-80")


def test_of_a_snapshot_the_quota_of_what_is_not_sent_yet_is_told(run: Run, tmp_path: Path) -> None:
    from allotment.devices.describe import parse_description

    slices = [each.to_dict() for each in parse_description(FLEET).slices]
    listed = yaml.safe_dump_all([*yaml.safe_load_all(run("render", "--platform-objects")), *slices])
    (tmp_path / "snapshot.yaml").write_text(listed)
    told = run("why", "letters", "--team", "archive", "--snapshot", "snapshot.yaml")
    assert "the quota of archive: ClusterQueue `archive` may have at most 3" in told
    assert "of the 4 pods that fit at once it lets 3 run" in told


def test_kinds_of_card_that_are_not_there_are_named(run: Run, tmp_path: Path) -> None:
    text = (
        PLATFORM.format(scheduler="kueue")
        + "cards: {a100: {card: A100-80, class: gpu-a100}, l4: {card: L4, class: gpu-l4}}\n"
    )
    (tmp_path / "kinds.yaml").write_text(text)
    told = run("queues", "--platform", "kinds.yaml", "--describe", FLEET)
    assert "of the platform's `cards` there is no l4 (L4)" in told


def test_files_of_devices_will_do(run: Run, tmp_path: Path) -> None:
    from allotment.devices.describe import parse_description

    slices = [each.to_dict() for each in parse_description(FLEET).slices]
    (tmp_path / "slices.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": slices}))
    assert "has 4 x A100-80" in run("queues", "--devices", "slices.json")


def test_a_platform_of_one_machine_has_no_queues_on_a_described_cluster(run: Run, tmp_path: Path) -> None:
    (tmp_path / "here.yaml").write_text("engine: local\n")
    text = run("queues", "--platform", "here.yaml", "--describe", FLEET, code=EXIT_USAGE)
    assert "engine: local" in text


def test_two_worlds_are_refused(run: Run) -> None:
    text = run("queues", "--describe", FLEET, "--devices", "cluster.yaml", code=EXIT_USAGE)
    assert "two worlds" in text


def test_why_tells_quota_and_what_kueue_would_do(run: Run) -> None:
    text = why(run)
    assert "it fits: 4 of 4 devices would do" in text
    assert "ClusterQueue `archive` may have at most 3 `gpus`" in text
    assert "what Kueue would do if it were sent (a model of Kueue 0.19)" in text
    assert "it lets it in in its next cycle" in text


def test_a_window_over_the_quota_waits_for_ever(run: Run) -> None:
    text = why(run, campaign=f"{CAMPAIGN}window: {{min: 4, max: 4}}\n")
    assert "it lets it wait: ExceedsMaxQuota" in text


@pytest.mark.parametrize(
    ("scheduler", "sentence"),
    [
        ("default", "the default scheduler would do if it were sent (a model):\n    it starts all 4 pods"),
        ("kai", "KAI would do if it were sent (a model):\n    it starts 3 of 4 pods at once, and the others"),
        ("both", "KAI, after Kueue, would do if it were sent (a model):\n    it starts"),
    ],
)
def test_why_tells_what_those_who_place_would_do(run: Run, scheduler: str, sentence: str) -> None:
    assert sentence in why(run, scheduler=scheduler)


def test_why_tells_programs_the_same(run: Run) -> None:
    data = json.loads(why(run, "-o", "json", scheduler="both"))
    assert data["next"]["workloads"][0]["next"] == "admitted"
    assert data["next"]["placed"]["wanted"] == 4
    assert data["next"]["placed"]["nodes"] == ["node-1"]


def test_a_pipeline_alone_is_asked_about_its_need_alone(run: Run) -> None:
    text = run("why", "read", "--team", "archive", "--describe", FLEET)
    assert "if it were sent" not in text
