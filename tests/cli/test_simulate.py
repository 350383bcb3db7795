"""`allot simulate`: a trace under schedulers, or a cluster filled by policies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from allotment.cli import invoke
from allotment.events.event import parse_line
from allotment.simulation.traces.own import read_jobs

OWN = "".join(
    json.dumps(
        {"work": f"w{number}", "arrival": number * 60, "user": f"u{number % 5}", "gpus": 4, "seconds": 900}
    )
    + "\n"
    for number in range(30)
)
NODES = "sn,cpu_milli,memory_mib,gpu,model\n" + "".join(
    f"n{number},64000,262144,2,T4\n" for number in range(4)
)
TASKS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n" + "".join(
    f"p{number},4000,1024,1,{400 if number % 2 else 1000}\n" for number in range(12)
)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "own.jsonl"
    path.write_text(OWN, encoding="utf-8")
    return path


def test_a_trace_is_held_side_by_side(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = ("--scheduler", "simple", "--scheduler", "default", "--scheduler", "kai")
    assert invoke(["simulate", "--trace", str(trace), "--nodes", "1", "--teams", "2", *columns]) == 0
    out = capsys.readouterr().out
    assert "30 works in own.jsonl (8 GPU), decided by simple, default, kai; 1 draw from seed 1" in out
    assert "all that ends is over" in out
    assert "the cluster: 1 node with 8 cards (stated" in out


@pytest.mark.parametrize(
    "line",
    [
        '{"kind": "fleet", "pods": 3}',
        '{"seconds": 0}',
    ],
)
def test_what_takes_no_time_or_all_of_it_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(f"{line}\n", encoding="utf-8")
    assert invoke(["simulate", "--trace", str(path), "--days", "1"]) == 0
    assert "1 node with 8 cards" in capsys.readouterr().out


def test_where_nothing_begins_the_exit_code_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"work": "x", "gpus": 99, "seconds": 4}\n', encoding="utf-8")
    assert invoke(["simulate", "--trace", str(path), "--nodes", "1"]) == 1
    told = capsys.readouterr()
    assert told.err == "nothing of it can begin in any column\n"
    assert "x can never begin under default" in told.out
    assert "cards in use over" not in told.out


def test_works_are_called_what_the_trace_calls_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.jsonl"
    lines = (
        '{"work": "single", "team": "lab", "seconds": 60}',
        '{"work": "wide", "team": "lab", "pods": 2, "seconds": 60}',
        '{"work": "books", "team": "archive", "kind": "campaign", "volumes": 2, "seconds": 60}',
        '{"work": "maps", "team": "both", "kind": "campaign", "volumes": 2, "seconds": 60}',
        '{"work": "one", "team": "both", "seconds": 60}',
    )
    path.write_text("\n".join(lines), encoding="utf-8")
    assert invoke(["simulate", "--trace", str(path), "--nodes", "1", "-o", "json"]) == 0
    titles = {row["title"] for row in json.loads(capsys.readouterr().out)["rows"]}
    assert titles >= {
        "wait of lab's job",
        "wait of lab's job of several pods",
        "wait of archive's campaign",
        "wait, half of both's jobs and campaigns",
    }


def test_one_draw_tells_nothing_of_chance(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = ("--scheduler", "default", "--scheduler", "kai")
    assert invoke(["simulate", "--trace", str(trace), "--nodes", "1", *columns, "-o", "json"]) == 0
    (advice,) = json.loads(capsys.readouterr().out)["advice"]
    assert advice["verdict"] == "cannot be told"
    assert advice["reasons"][0] == "1 draw cannot tell a difference from chance: take 6 or more"


def test_a_page_of_a_trace_says_what_was_asked(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["simulate", "--trace", str(trace), "--nodes", "1", "-o", "html"]) == 0
    page = capsys.readouterr().out
    assert ">allot simulate<" in page
    assert "<h1>Under default</h1>" in page


def test_further_draws_take_other_times(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = trace.read_text(encoding="utf-8").replace('"seconds": 900', '"seconds": 90', 1)
    trace.write_text(text, encoding="utf-8")
    arguments = ["simulate", "--trace", str(trace), "--nodes", "1", "--draws", "3", "-o", "json"]
    assert invoke(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["draws"] == 3
    assert not any(row["key"].startswith("finish.") for row in found["rows"])
    assert invoke(arguments) == 0
    assert json.loads(capsys.readouterr().out) == found


def test_events_and_jobs_are_written(trace: Path, tmp_path: Path) -> None:
    events, saved, page = tmp_path / "e.jsonl", tmp_path / "s.jsonl", tmp_path / "p.html"
    arguments = ["simulate", "--trace", str(trace), "--nodes", "1", "--jobs", "7"]
    written = ["--events", str(events), "--save", str(saved), "-o", "html", "--out", str(page)]
    assert invoke([*arguments, *written]) == 0
    told = [parse_line(line) for line in events.read_text(encoding="utf-8").splitlines()]
    assert sum(event is not None and event.kind == "volume.completed" for event in told) == 7
    assert read_jobs(saved) == read_jobs(trace)[:7]
    assert page.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")


def test_a_cluster_is_filled_by_policies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "openb_node_list_gpu_node.csv").write_text(NODES, encoding="utf-8")
    (tmp_path / "openb_pod_list_default.csv").write_text(TASKS, encoding="utf-8")
    arguments = ["simulate", "--trace", "openb", "--data", str(tmp_path), "--draws", "2"]
    policies = ["--policy", "fgd", "--policy", "random", "--ties", "first", "--ties", "random"]
    assert invoke([*arguments, *policies]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "openb_pod_list_default.csv on 4 nodes with 8 cards, 2 seeds"
    assert [line.split()[:2] for line in lines[3:6]] == [
        ["fgd", "first"],
        ["fgd", "random"],
        ["random", "random"],
    ]
    assert invoke([*arguments, *policies, "-o", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [len(each["seeds"]) for each in found["fillings"]] == [2, 2, 2]


@pytest.mark.parametrize(
    ("said", "code", "arguments"),
    [
        ("give the folder that has it with --data", 2, ["--trace", "philly"]),
        ("is not a duration", 2, ["--trace", "own.jsonl", "--checkpoint", "soon"]),
        ("0.5 is not in the range", 2, ["--trace", "own.jsonl", "--limit", "0.5"]),
        ("1e+308 is not in the range", 2, ["--trace", "own.jsonl", "--limit", "1e308"]),
        ("100001 is not in the range", 2, ["--trace", "own.jsonl", "--nodes", "100001"]),
        ("at most 100,000 are played", 2, ["--trace", "own.jsonl", "--size", "1e300"]),
        ("is too short", 2, ["--trace", "own.jsonl", "--checkpoint", "0s"]),
        (
            "a filling is not written as markdown",
            2,
            ["--trace", "own.jsonl", "--policy", "fgd", "-o", "markdown"],
        ),
        ("broken.jsonl:1: this line is no JSON", 1, ["--trace", "broken.jsonl"]),
        ("has no job whose run time is known", 2, ["--trace", "empty.jsonl"]),
        ("cannot be written", 3, ["--trace", "own.jsonl", "--save", "no/where.jsonl"]),
    ],
)
def test_what_cannot_be_is_said(
    trace: Path,
    *,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    monkeypatch.chdir(trace.parent)
    monkeypatch.delenv("ALLOT_TRACES", raising=False)
    Path("broken.jsonl").write_text("{\n", encoding="utf-8")
    Path("empty.jsonl").write_text("", encoding="utf-8")
    assert invoke(["simulate", *arguments]) == code
    assert said in capsys.readouterr().err
