"""A cluster of which others have all: what is planned waits for them and says so, in every form, and is not
refused for ever; what would not run there with everything free is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from allotment.cli import invoke
from allotment.devices.describe import parse_description
from tests.planning.scene_files import claim, node, pod

PLATFORM = """format: 1
engine: local
bucket: ./results
sources: {hosts: [images.example.org]}
"""
CAMPAIGN = "pipeline: demo\nvolumes: [{id: one, images: [https://images.example.org/1.jpg]}]\n"
NEED = "gpu: {memory: 40Gi}\nsteps: [{step: checksum}]\n"
ALL = {"pipelines/demo.yaml": NEED, "campaigns/letters.yaml": CAMPAIGN, "platform.yaml": PLATFORM}
REMEDY = " (take a time for them: `--set others_stay=4h`)"
SCHEDULERS = ("default", "kueue", "kai", "both")
HELD = "in use: 2 x A100-80, held by claim others/c0 of p0, claim others/c1 of p1"
Said = Callable[..., tuple[int, str]]


def objects(*more: dict[str, Any], held: int = 2, pods: str = "110") -> list[dict[str, Any]]:
    """A node with two cards, of which others have so many, and which takes so many pods."""
    world = parse_description("1 node of 2 x A100-80")
    name = str(world.slices[0].node_name)
    found = [each.to_dict() for each in world.slices]
    found += [each.to_dict() for each in world.classes.values()]
    for number in range(held):
        found.append(pod(f"p{number}", "others", on=name, claim=f"c{number}"))
        found.append(claim(f"c{number}", "others", f"p{number}", f"gpu-{number}", name))
    here = node(name)
    here["status"]["allocatable"]["pods"] = pods
    return [here, *found, *more]


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Said:
    """What a command says of that cluster, and its exit code."""
    for name, text in ALL.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ALLOT_PLATFORM", raising=False)

    def call(*words: str, of: list[dict[str, Any]] | None = None) -> tuple[int, str]:
        items = {"apiVersion": "v1", "kind": "List", "items": objects() if of is None else of}
        (tmp_path / "cluster.json").write_text(json.dumps(items))
        command, *rest = words
        draws = ["--draws", "12" if command == "compare" else "2"] if command != "why" else []
        code = invoke([command, *rest, "--snapshot", "cluster.json", *draws])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, " ".join(out.split())

    return call


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_what_others_have_is_waited_for_and_never_told_to_be_never(said: Said, scheduler: str) -> None:
    code, out = said("plan", "--scheduler", scheduler)
    assert (code, "never" in out) == (0, False)
    assert f"waits for others: all 2 that would do are {HELD}" in out
    assert f"starts not within 30 d, if others stay{REMEDY if scheduler == 'default' else ''} " in out
    assert "2 works of others that run or wait: they stay (default" in out
    assert "nobody: 2 works of others that run or wait" in out
    assert said("why", "letters")[1].startswith("letters: it waits: ")


@pytest.mark.parametrize("form", ["markdown", "html", "svg", "json"])
def test_every_form_says_that_it_waits_and_for_whom(said: Said, form: str) -> None:
    code, out = said("plan", "--scheduler", "default", "-o", form)
    assert (code, "never run" in out) == (0, False)
    if form == "json":
        (work,) = json.loads(out)["works"]
        assert (work["never"], work["start_seconds"]["p50"], work["fits"]["state"]) == (None, None, "waits")
        assert HELD in work["waits_for"]
        return
    assert "if others stay" in out
    if form != "svg":
        assert HELD in out


def test_once_others_end_it_runs(said: Said) -> None:
    code, out = said("plan", "--scheduler", "default", "--set", "others_stay=2h")
    assert (code, "if others stay" in out, "waits for" in out) == (0, False, False)
    assert "2 works of others that run or wait: they end" in out


def test_a_bound_is_missed_by_what_waits_for_others(said: Said) -> None:
    assert said("plan", "--scheduler", "default", "--deadline", "2h")[0] == 1


def test_a_comparison_says_the_same(said: Said) -> None:
    code, out = said("compare", "--scheduler", "default", "--scheduler", "kai")
    assert code == 0
    assert "letters does not begin under " in out
    assert "can never begin" not in out
    assert "2 works of others that run or wait: they stay" in out


OF_THE_NODE: dict[str, Any] = {"ownerReferences": [{"kind": "DaemonSet", "name": "d", "uid": "d"}]}


@pytest.mark.parametrize(
    ("of", "code", "words"),
    [
        (objects(held=1, pods="1"), 0, "starts not within 30 d, if others stay"),
        (objects(pod("d", "system", on="node-1", **OF_THE_NODE), held=0, pods="1"), 1, "never"),
        (objects(*(claim(f"c{n}", "others", "", f"gpu-{n}") for n in (0, 1)), held=0), 0, "others/c0"),
    ],
    ids=["room of others", "room of the node's own pods", "claims that no pod uses"],
)
@pytest.mark.parametrize("scheduler", ["default", "kai"])
def test_never_is_what_would_not_run_with_everything_free(
    said: Said, of: list[dict[str, Any]], code: int, words: str, scheduler: str
) -> None:
    found, out = said("plan", "--scheduler", scheduler, of=of)
    assert found == code, out
    assert words in out
