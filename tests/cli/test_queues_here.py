"""`allot queues` of teams that share this machine, now and over time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from time import monotonic, time

import pytest

from allotment.buckets.event_log import BucketSink
from allotment.buckets.opening import open_bucket
from allotment.cli import invoke
from allotment.cli.forms.queues import as_text
from allotment.devices.claims import AllocatedDevice, Allocation
from allotment.devices.describe import parse_description
from allotment.devices.holders import Holder
from allotment.devices.ledger import Ledger
from allotment.devices.machine import this_machine
from allotment.events.event import Event
from allotment.needs import claim_for
from allotment.planning.queues import Share, Shares
from allotment.platform.need import Need
from allotment.repository.model import Window
from allotment.running.engine.pretend import pretended_ledger, pretended_world
from allotment.running.engine.team_lines import Unit
from allotment.running.engine.team_table import Sharer, TeamTable
from allotment.scheduling.local import CampaignQueue, LocalState, TeamQueue

Run = Callable[..., tuple[int, str]]
PLATFORM = "format: 1\nengine: local\nteams:\n  archive: {queue: {quota: 2.5, limit: 8}}\n  open: {}\n"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ALLOT_LEDGER", str(tmp_path / "ledger"))
    monkeypatch.setenv("ALLOT_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("ALLOT_PLATFORM", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "platform.yaml").write_text(PLATFORM)

    def run_queues(*words: str) -> tuple[int, str]:
        code = invoke(["queues", *words])
        return code, capsys.readouterr().out

    return run_queues


def test_what_no_engine_of_a_team_holds_is_with_others(run: Run) -> None:
    world = pretended_world(parse_description("2 x L4"), this_machine())
    ledger = Ledger(pretended_ledger(world, os.environ))
    with ledger.locked() as view:
        device = next(world.devices())[0]
        hold = view.take([device], Holder(campaign="books", volume="v1", pid=os.getpid()))
    with hold:
        _, out = run("--pretend", "--describe", "2 x L4")
    lines = out.splitlines()
    assert lines[0] == "platform.yaml: this machine, 3 teams; 1 of 2 GPUs in use"
    assert [line.split()[:4] for line in lines[3:6]] == [
        ["archive", "2.5", "0", "0"],
        ["open", "–", "0", "0"],
        ["(others)", "–", "1", "–"],
    ]
    assert "it is no wall between those who use it" in out


def test_how_teams_of_a_machine_stand(run: Run) -> None:
    """Two engines say what they ask for; one holds both cards, and the model gives them to the other."""
    world = pretended_world(parse_description("2 x L4"), this_machine())
    ledger = Ledger(pretended_ledger(world, os.environ))
    cards = [device for device, _ in world.devices() if device.driver == "gpu.nvidia.com"]
    allocation = Allocation(tuple(AllocatedDevice("r", card) for card in cards))
    books = TeamTable("e1", Sharer(TeamQueue("open"), True))
    letters = TeamTable("e2", Sharer(TeamQueue("archive", 1.0), True))
    books.units = lambda: [Unit(books.holding("books", 0, allocation, 0.0), "v1")]
    campaign = CampaignQueue("letters", 0, 0, Window(1, 4), 0, range(4), claim_for(Need()))
    with ledger.locked() as view:
        hold = view.take(cards, Holder(campaign="books", volume="v1", pid=os.getpid(), team="open"))
        books.say(view, LocalState((), world), (), {}, monotonic())
        letters.say(view, LocalState((campaign,), world), (), {}, monotonic())
    with hold:
        _, out = run("--pretend", "--describe", "2 x L4")
        told = json.loads(run("--pretend", "--describe", "2 x L4", "-o", "json")[1])
    for table in (books, letters):
        table.post.close()
    assert "1 campaign waits for 4 GPUs; nothing is free for it now" in out
    rows = {each["queue"]: (each["used"], each["fair"], each["waiting_for"]) for each in told["queues"]}
    assert rows == {"archive": (0, 2, 4), "open": (2, 0, 0)}
    assert told["queues"][1]["next_end"] == "books/v1"
    assert told["queues"][0]["quota"] == 1
    by_file = "quota 2.5, weight 1, limit 8"
    assert any(
        f"go by quota 1, weight 1, and the platform's file says {by_file}" in each for each in told["notes"]
    )


def test_quotas_that_cannot_all_be_kept_are_told(run: Run) -> None:
    _, out = run("--pretend", "--describe", "2 x L4")
    assert "the quotas are 2.5 GPUs together and the machine has 2: they cannot all be kept at once" in out
    assert "cannot all be kept" not in run("--pretend", "--describe", "3 x L4")[1]


def test_a_course_of_time_is_asked_for_with_a_span(run: Run) -> None:
    assert run("-o", "html")[0] == 2
    assert run("--over-time", "soon")[0] == 2
    code, out = run("--over-time", "2h")
    assert (code, out) == (0, "this machine: no team has shared it with others in the last 2h\n")


def test_the_course_of_time_is_what_engines_told(run: Run, tmp_path: Path) -> None:
    bucket = open_bucket("./results", tmp_path)
    now = time()
    shares = [(90.0, 8, 8, 8), (60.0, 8, 5, 8), (50.0, 5, 5, 9)]
    sink = BucketSink(bucket, "open", "books", "w", lambda: now)
    for ago, had, fair, asked in shares:
        data = {
            "team_held": had,
            "fair": fair,
            "team_asked": asked,
            "total": 8,
            "unit": "GPUs",
            "quota": None,
        }
        sink.emit(Event("campaign.share", now - ago, "open", "books", data=data))
    taken = {"whom": "archive", "message": "its share"}
    sink.emit(Event("volume.reclaimed", now - 55, "open", "books", "v1", data=taken))
    sink.emit(Event("campaign.finished", now - 10, "open", "books"))
    sink.flush()
    told = json.loads(run("--over-time", "1h", "-o", "json")[1])
    (queue,) = told["queues"]
    assert [(round(at), value) for at, value in queue["allocated"]] == [(0, 8), (40, 5), (80, 0)]
    assert [(round(at), value) for at, value in queue["fair"]] == [(0, 8), (30, 5), (80, 0)]
    assert [(round(each["at"]), each["queue"], each["by"]) for each in told["reclaims"]] == [
        (35, "open", "archive")
    ]
    assert (told["total"], told["unit"]) == (8, "GPUs")
    code, _ = run("--over-time", "1h", "-o", "html", "--out", "shares.html")
    assert code == 0
    assert "archive" in (tmp_path / "shares.html").read_text()
    _, text = run("--over-time", "1h")
    assert "1 taken back" in text


@pytest.mark.parametrize(("ago", "later"), [(3000.0, None), (3000.0, 1000.0), (100.0, None)])
def test_a_killed_engine_that_told_no_end_has_nothing_after_its_last_word(
    run: Run, tmp_path: Path, ago: float, later: float | None
) -> None:
    bucket, now = open_bucket("./results", tmp_path), time()
    sink = BucketSink(bucket, "open", "books", "w", lambda: now)
    data = {"team_held": 8, "fair": 8, "team_asked": 8, "total": 8, "unit": "GPUs", "quota": None}
    sink.emit(Event("campaign.share", now - 3400, "open", "books", data=data))
    sink.emit(Event("campaign.share", now - 3390, "open", "books", data={**data, "team_held": 7}))
    for at in (3200.0, ago):
        sink.emit(Event("page.done", now - at, "open", "books", "v1"))
    if later is not None:
        sink.emit(Event("campaign.share", now - later, "open", "books", data=data))
        sink.emit(Event("campaign.finished", now - later + 5, "open", "books"))
    sink.flush()
    (queue,) = json.loads(run("--over-time", "1h", "-o", "json")[1])["queues"]
    began = [(0, 8), (10, 7)]
    gone = [(400, 0), *([(2400, 8), (2405, 0)] if later else [])]
    shown = [(round(at), value) for at, value in queue["allocated"]]
    assert shown == (began + gone if ago > 600 else [(0, 8), (10, 7), (200, 0)])


@pytest.mark.parametrize(
    ("used", "asked", "limit", "words"),
    [
        (2, 4, 2, "waits for 4 GPUs; its limit of 2 is reached"),
        (2, 1, 3, "waits for 1 GPU; nothing is free for it now"),
        (2, 4, None, "waits for 4 GPUs; nothing is free for it now"),
    ],
)
def test_who_has_reached_a_limit_is_told_so(used: int, asked: int, limit: int | None, words: str) -> None:
    share = Share(
        "maps",
        "GPUs",
        None,
        None if limit is None else Fraction(limit),
        Fraction(1),
        used=Fraction(used),
        waiting=1,
        waiting_for=Fraction(asked),
        free=Fraction(0),
    )
    told = "\n".join(as_text(Shares("this machine", "local", (share,)), None))
    assert f"maps: 1 campaign {words}" in told
