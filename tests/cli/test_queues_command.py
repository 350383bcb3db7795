"""`allot queues` as a person meets it: shares, bars, what waits and why nothing is admitted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from allotment.cli import invoke
from allotment.cli.forms.queues import as_text
from allotment.cli.pictures import bar
from allotment.errors import EXIT_FINE, EXIT_USAGE
from allotment.kubernetes.cluster.file import snapshot_text
from allotment.kubernetes.cluster.snapshot import Missing, Snapshot
from allotment.kubernetes.kinds import CLUSTER_QUEUE, WORKLOAD
from allotment.planning.queues_of_cluster import shares_of_cluster
from tests.kubernetes.cluster.queue_objects import KUEUE, local_queue, made, of_kai, of_kueue, workload

Run = Callable[..., tuple[int, str, str]]
BROKEN = [{"type": "Active", "status": "False", "reason": "FlavorNotFound", "message": "no flavor any"}]
QUEUES = [
    of_kueue("transcription", 8, 11, borrow=8),
    of_kueue("archive", 4, 0, borrow=8, weight="2"),
    of_kueue("old", 0, 0, conditions=BROKEN),
]
WORK = [
    local_queue("archive", "archive", "archive"),
    workload("letters", "archive", 4),
    workload("books", "archive", 2),
    workload("drawings", "archive", 1, active=False),
]
FREE = [of_kai("transcription", -1, -1), of_kai("archive", -1, -1)]
DEPARTMENT = [
    of_kai("dept", 12, 16, allocated=8.5, requested=13.5),
    of_kai("transcription", 8, -1, "dept", allocated=8, requested=8),
    of_kai("archive", 4, 20, "dept", allocated=0.5, requested=5.5),
]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ALLOT_LEDGER", str(tmp_path / "ledger"))
    monkeypatch.setenv("ALLOT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("ALLOT_PLATFORM", raising=False)
    monkeypatch.chdir(tmp_path)

    def run_queues(*words: str, objects: list[Any] | None = None) -> tuple[int, str, str]:
        if objects is not None:
            text = snapshot_text(Snapshot(1.8e9, tuple(objects), name="prod", version="1.36"))
            (tmp_path / "cluster.yaml").write_text(text)
            words = ("--snapshot", "cluster.yaml", *words)
        code = invoke(["queues", *words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run_queues


def shown(objects: list[Any], width: int | None, **rest: Any) -> list[str]:
    shares = shares_of_cluster(Snapshot(1.8e9, tuple(objects), name="prod", **rest))
    return [click.unstyle(line) for line in as_text(shares, width)]


def test_a_wide_terminal_shows_everything() -> None:
    assert shown([*QUEUES, *WORK], 96) == [
        "prod: Kueue, 3 queues; 11 gpus in use (quotas 12), 3 of them over quotas, 2 campaigns wait for 6",
        "",
        "QUEUE           QUOTA  IN USE  BORROWED  LENT  LIMIT  WEIGHT  WAITING",
        "transcription       8      11         3           16       1           ████████████▓▓▓▓▓········",
        "archive             4       0               3     12       2  2 for 6  ▒▒▒▒▒░·············",
        "old (inactive)      0       0                      –       1",
        "all                12      11         3                       2 for 6",
        "",
        "█ in use  ▓ in use over the quota  ▒ quota that others use  ░ idle quota  · up to the limit",
        "",
        "transcription: the limit of 16 `gpus` is never reached: with all that others could lend it has",
        "  12 at most",
        "archive: 2 campaigns wait for 6 gpus; 1 is free for it now, and 3 of its quota is with others,",
        "  from whom it is taken back when it is asked for",
        "archive: 1 campaign paused, for which nothing is kept",
        "old admits nothing: FlavorNotFound: no flavor any",
    ]


@pytest.mark.parametrize("width", [80, 100, 140])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    long = [*QUEUES, of_kueue("laboratory-of-the-handwriting-of-the-north", 2, 2), *WORK]
    lines = shown(long, width)
    assert max(map(len, lines)) <= width
    assert any("█" in line for line in lines)


def test_a_very_narrow_terminal_has_no_bars() -> None:
    assert not any("█" in line for line in shown([*QUEUES, *WORK], 60))


def test_a_queue_that_is_named_is_explained(run: Run) -> None:
    code, out, _ = run("archive", objects=[*QUEUES, *WORK])
    assert code == EXIT_FINE
    assert (
        "its quota of 4 and up to 8 borrowed in cohort `all` (borrowing limit 8; the others could lend 8)"
        in out
    )
    assert "transcription" not in out
    code, _, err = run("archiv", objects=QUEUES)
    assert (code, "did you mean `archive`?" in err) == (EXIT_USAGE, True)


def test_programs_get_numbers(run: Run) -> None:
    _, out, _ = run("-o", "json", objects=[*QUEUES, *WORK])
    data = json.loads(out)
    archive, old, transcription = data["queues"]
    assert (archive["queue"], archive["quota"], archive["lent"], archive["weight"]) == ("archive", 4, 3, 2)
    assert (archive["waiting"], archive["waiting_for"], archive["paused"], archive["free"]) == (2, 6, 1, 1)
    assert old["inactive"].startswith("FlavorNotFound")
    assert (transcription["borrowed"], transcription["limit"]) == (3, 16)
    (totals,) = data["totals"]
    assert (totals["quota"], totals["used"], totals["waiting_for"]) == (12, 11, 6)
    assert (data["format_version"], data["holder"], data["source"]) == (1, "kueue", "prod")


def test_kais_queues_have_what_their_parents_let_them(run: Run) -> None:
    _, out, _ = run(objects=DEPARTMENT)
    lines = out.splitlines()
    assert lines[0] == "prod: KAI, 2 queues; 8.5 GPUs in use (quotas 12), work waits for 5"
    assert lines[3].split()[:5] == ["archive", "4", "0.5", "16", "for"]
    assert "note: `dept` holds `archive`, `transcription` together to its limit of 16" in out
    assert "shares out what is above the quotas by weight" in out


def test_with_both_kais_queues_only_place(run: Run) -> None:
    _, out, _ = run(objects=[*QUEUES, *FREE])
    assert "KAI's queues are without limit, and only place what Kueue admitted" in out
    _, out, _ = run(objects=[*QUEUES, *DEPARTMENT])
    assert "two layers of quota" in out


def test_a_cohorts_own_quota_counts(run: Run) -> None:
    own = {"name": "any", "resources": [{"name": "gpus", "nominalQuota": "5"}]}
    spec = {"resourceGroups": [{"coveredResources": ["gpus"], "flavors": [own]}]}
    _, out, _ = run(objects=[*QUEUES, made(KUEUE, "Cohort", "all", spec)])
    assert "11 gpus in use (quotas 17)" in out
    assert "cohort `all` has 5 `gpus` of its own, which the queues below it may borrow" in out


def test_a_cluster_without_queues_says_what_that_means(run: Run) -> None:
    claim = made("resource.k8s.io/v1", "ResourceClaim", "c", {}, "team-a")
    claim["status"] = {"allocation": {"devices": {"results": [{"device": "a"}, {"device": "b"}]}}}
    waiting = made("v1", "Pod", "p", {"resourceClaims": [{"name": "g"}]}, "team-b")
    waiting["status"] = {"phase": "Pending"}
    _, out, _ = run(objects=[claim, waiting])
    lines = out.splitlines()
    assert lines[0] == "prod: no queues, 2 namespaces; 2 devices in use, 1 campaign waits"
    assert lines[3].split()[:2] == ["team-a", "2"]
    assert "Claims have no quota" in out
    assert "has no queues" in run(objects=[])[1]


@pytest.mark.parametrize("why", ["forbidden", "not served: only kueue.x-k8s.io/v1beta1"])
def test_queues_that_cannot_be_read_are_not_said_to_be_none(why: str) -> None:
    lines = shown([], 120, missing=(Missing(CLUSTER_QUEUE, why),))
    assert not any("has no queues" in line for line in lines)
    assert any(f"clusterqueues.kueue.x-k8s.io could not be read: {why}" in line for line in lines)


def test_what_waits_elsewhere_is_counted_by_kueue() -> None:
    queue = of_kueue("archive", 4)
    queue["status"]["pendingWorkloads"] = 3
    lines = shown([queue, *WORK], 120, partly=(Missing(WORKLOAD, "forbidden outside of namespace archive"),))
    assert lines[0] == "prod: Kueue, 1 queue; 0 gpus in use (quotas 4), 3 campaigns wait"
    assert lines[-2:] == [
        (
            "note: what waits is counted as Kueue counts it, by Workloads, and for how much is not known: "
            "workloads.kueue.x-k8s.io"
        ),
        "  are forbidden outside of namespace archive",
    ]


PLATFORM = "format: 1\nengine: local\nteams:\n  archive: {queue: {quota: 2.5, limit: 8}}\n  open: {}\n"


def test_a_platform_of_a_cluster_says_where_the_rest_is_known(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cluster-platform.yaml").write_text(PLATFORM.replace("local", "kubernetes"))
    _, out, _ = run("--platform", "cluster-platform.yaml")
    assert "IN USE" not in out
    assert "add --cluster" in out
    assert "`scheduler: default` holds no team to its quota" in out


@pytest.mark.parametrize(
    ("parts", "whole", "picture"),
    [
        ([("a", 1), ("b", 1)], 2, "aaaaabbbbb"),
        ([("a", 0.01), ("b", 0)], 2, "a"),
        ([("a", 5)], 2, "aaaaaaaaaa"),
        ([("a", 1)], 0, ""),
        ([], 1, ""),
    ],
)
def test_a_bar_is_as_long_as_its_parts(parts: list[tuple[str, float]], whole: float, picture: str) -> None:
    assert bar(parts, whole, 10) == picture


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--pretend", "--describe", "2 x L4"), "--pretend is of runs on this machine"),
        (("--over-time", "2h", "--describe", "2 x L4"), "--over-time is of this machine alone"),
    ],
)
def test_a_world_that_would_not_be_looked_at_is_refused(
    run: Run, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    text = (
        "engine: kubernetes\nscheduler: kueue\nbucket: s3://results\nteams: {a: {namespace: a, secret: s}}\n"
    )
    (tmp_path / "platform.yaml").write_text(text)
    code, _, err = run("--platform", "platform.yaml", *words)
    assert code == EXIT_USAGE
    assert told in err
