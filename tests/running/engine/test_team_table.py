"""What engines of one machine know of each other: asks that vanish with their engine, and wrong words."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.devices.board import Notice, Post, notices
from allotment.devices.claims import AllocatedDevice, Allocation
from allotment.devices.describe import parse_description
from allotment.devices.holders import Holder
from allotment.devices.ledger import Ledger
from allotment.errors import WorldError
from allotment.needs import claim_for
from allotment.platform.need import MemoryRange, Need
from allotment.repository.model import Window
from allotment.running.engine.team_lines import Said, Unit, plain, said_by
from allotment.running.engine.team_table import SILENT_SECONDS, Sharer, TeamTable
from allotment.scheduling.local import (
    CampaignQueue,
    FleetQueue,
    GangQueue,
    Holding,
    LocalState,
    Queue,
    Replica,
    TeamQueue,
)

WORLD = parse_description("8 x H100-SXM mig=3g.40gb*2")
CARDS = [device for device, _ in WORLD.devices()]
CLAIM = claim_for(Need(memory=MemoryRange(at_least=40 << 30)))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger")


def asking(name: str = "camp", ready: int = 3) -> LocalState:
    return LocalState((CampaignQueue(name, 0, 0, Window(1, 9), 0, range(ready), CLAIM),), WORLD)


def table(engine: str, team: str, quota: float | None = None) -> TeamTable:
    return TeamTable(engine, Sharer(TeamQueue(team, quota), True, 5.0))


def test_an_engine_knows_what_the_others_ask_for(ledger: Ledger) -> None:
    ours, theirs = table("e1", "ours"), table("e2", "theirs", 4)
    with ledger.locked() as view:
        theirs.say(view, asking(), (), {}, 100.0)
        found = ours.sharing(view, 101.0)
    assert found is not None
    assert [(each.engine, each.team, each.queue.name) for each in found.others] == [("e2", "theirs", "camp")]
    assert [len(each.queue.ready) for each in found.others if isinstance(each.queue, CampaignQueue)] == [3]
    assert found.teams == (TeamQueue("ours"), TeamQueue("theirs", 4))
    with ledger.locked() as view:
        theirs.say_no_more(view, 101.0)
        found = ours.sharing(view, 102.0)
        assert found is not None
        assert found.others == ()
        theirs.post.remove(view)
        assert notices(view) == ()


def test_an_engine_that_says_nothing_for_a_while_is_not_waited_for(ledger: Ledger) -> None:
    ours, theirs = table("e1", "ours"), table("e2", "theirs")
    with ledger.locked() as view:
        theirs.say(view, asking(), (), {}, 100.0)
        found = ours.sharing(view, 100.0 + SILENT_SECONDS + 1)
    theirs.post.close()
    assert found is not None
    assert found.others == ()


KILLED = """
import sys, time
from pathlib import Path
from allotment.devices.board import Post
from allotment.devices.ledger import Ledger

post = Post("e2")
with Ledger(Path(sys.argv[1])).locked() as view:
    post.write(view, {"format": 1})
print("said", flush=True)
time.sleep(60)
"""


def test_what_a_killed_engine_said_counts_for_nothing_at_once(ledger: Ledger) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(ledger.folder)], stdout=subprocess.PIPE, text=True
    ) as engine:
        assert engine.stdout is not None
        assert engine.stdout.readline() == "said\n"
        with ledger.locked() as view:
            assert [each.engine for each in notices(view)] == ["e2"]
        engine.send_signal(signal.SIGKILL)
        engine.wait()
        with ledger.locked() as view:
            assert notices(view, tidy=True) == ()
    assert list(ledger.folder.glob("*.notice")) == []


def test_the_ledger_says_what_is_held_and_the_board_whose_it_is(ledger: Ledger) -> None:
    theirs = table("e2", "theirs")
    given_to = Allocation((AllocatedDevice("r", CARDS[0]), AllocatedDevice("r", CARDS[1])))
    theirs.units = lambda: [Unit(theirs.holding("camp", 7, given_to, 50.0), "v7")]
    ours = table("e1", "ours")
    about = Holder(pid=os.getpid(), campaign="camp", volume="v7", team="theirs")
    with ledger.locked() as view:
        hold = view.take([CARDS[0]], about)
        dying = view.take([CARDS[2]], Holder(pid=1 << 40, campaign="x", volume="y", team="gone"))
        foreign = view.take([CARDS[3]], Holder(pid=1, campaign="x", volume="y"))
        theirs.say(view, asking(), (), {}, 100.0)
        found = ours.sharing(view, 100.0)
    with hold, dying, foreign:
        theirs.post.close()
    assert found is not None
    assert [(each.team, each.number, each.devices, each.ending) for each in found.held] == [
        ("theirs", 7, (CARDS[0],), False),
        ("gone", -1, (CARDS[2],), True),
    ]
    assert found.held[0].keeps_until == 55.0


def test_a_team_alone_shares_with_nobody(ledger: Ledger) -> None:
    ours, mate = (TeamTable(engine, Sharer(TeamQueue("ours"))) for engine in ("e1", "e2"))
    with ledger.locked() as view:
        mate.say(view, asking(), (), {}, 100.0)
        assert ours.sharing(view, 100.0) is None
    mate.post.close()


def test_a_notice_survives_its_folder(ledger: Ledger) -> None:
    post = Post("e1")
    with ledger.locked() as view:
        post.write(view, {"format": 1})
    for each in ledger.folder.iterdir():
        each.unlink()
    ledger.folder.rmdir()
    with ledger.locked() as view:
        post.write(view, {"format": 1})
        assert [each.engine for each in notices(view)] == ["e1"]
    post.close()


def test_a_notice_that_was_written_in_part_is_no_notice_and_is_told(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    post, write = Post("e1"), os.pwrite
    with ledger.locked() as view:
        with monkeypatch.context() as full:
            full.setattr(os, "pwrite", lambda fd, line, at: write(fd, line[:5], at))
            with pytest.raises(WorldError, match="No space left"):
                post.write(view, {"format": 1})
        assert notices(view) == ()
        post.write(view, {"format": 1})
        assert [each.engine for each in notices(view)] == ["e1"]
    post.close()


QUEUES: list[Queue] = [
    CampaignQueue("c", 50, 1, Window(1, 9), 2, range(3), CLAIM, 5, True, False),
    FleetQueue("f", 0, 2, 1, 4, (Replica(-1, ()),), range(2), CLAIM, 0, 1, True),
    GangQueue("g", -10, 3, 4, 2, claim_for(Need(count=2))),
]
HOLDING = Holding("e", "t", "c", 3, (CARDS[0],), ((CARDS[1], 5),), 7, 1.5, 2.5, True, False, False, 50, True)
SAID = Said("e", 12, TeamQueue("t", 1.5, 2, None), True, 9.0, tuple(QUEUES), (Unit(HOLDING, "v3"),))


def test_what_is_said_is_read_as_it_was_meant() -> None:
    read = said_by(Notice("e", "anna", json.loads(json.dumps(plain(SAID)))))
    assert read == SAID


def test_whatever_a_stranger_writes_is_no_error() -> None:
    words = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=8,
    )

    @given(st.sampled_from(list(_paths(plain(SAID)))), words)
    def look(path: tuple[Any, ...], word: object) -> None:
        said = json.loads(json.dumps(plain(SAID)))
        inner = said
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = word
        said_by(Notice("e", "mallory", said))

    look()


def _paths(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += _paths(inner, (*path, key))
    return found


def test_names_that_are_no_engines_are_left_alone(ledger: Ledger) -> None:
    with ledger.locked() as view:
        for name in ("x@0.notice", "../x@0.notice".replace("/", "%"), "@.notice", "e@me.notice"):
            (ledger.folder / name).write_text("{}")
        assert notices(view) == ()


def holding_of(sharing_table: TeamTable, ledger: Ledger, said_at: float) -> Holding:
    """How another engine sees what this one holds, which it said at a moment, at 100 s."""
    given_to = Allocation((AllocatedDevice("r", CARDS[0]),))
    unit = Unit(replace(sharing_table.holding("camp", 7, given_to, 5.0, lends=True), ending=True), "v7")
    sharing_table.units = lambda: [unit]
    about = Holder(pid=os.getpid(), campaign="camp", volume="v7", team=sharing_table.sharer.team.name)
    with ledger.locked() as view, view.take([CARDS[0]], about):
        sharing_table.say(view, asking(), (), {}, said_at)
        found = table("e1", "ours").sharing(view, 100.0)
    sharing_table.post.close()
    assert found is not None
    (held,) = found.held
    return held


@pytest.mark.parametrize(("said_at", "ending", "deaf"), [(95.0, True, False), (80.0, False, True)])
def test_an_engine_that_says_nothing_for_a_while_gives_nothing_back(
    ledger: Ledger, said_at: float, ending: bool, deaf: bool
) -> None:
    held = holding_of(table("e2", "theirs"), ledger, said_at)
    assert (held.ending, held.deaf) == (ending, deaf)


@pytest.mark.parametrize(("pid", "ending"), [(os.getppid(), False), (None, True), (0, True), (1 << 40, True)])
def test_what_an_engine_holds_that_nobody_understands_stays_while_it_lives(
    ledger: Ledger, pid: int | None, ending: bool
) -> None:
    strange = Post("e2")
    about = Holder(pid=pid, campaign="camp", volume="v7", team="theirs")
    with ledger.locked() as view, view.take([CARDS[0]], about):
        strange.write(view, {"format": 2})
        ours = TeamTable("e1", Sharer(TeamQueue("ours"), True))
        found = ours.sharing(view, 100.0)
    strange.close()
    assert found is not None
    (held,) = found.held
    assert (held.team, held.ending, held.deaf, held.passes) == ("theirs", ending, not ending, ending)


def test_an_engine_of_thousands_of_campaigns_is_heard_by_the_others(ledger: Ledger) -> None:
    ours, theirs = table("e1", "ours"), table("e2", "theirs")
    queues = (
        CampaignQueue(f"c{place}", place % 3, place, Window(1, 9), 0, range(9), CLAIM)
        for place in range(5000)
    )
    with ledger.locked() as view:
        theirs.say(view, LocalState(tuple(queues), WORLD), (), {}, 100.0)
        found = ours.sharing(view, 100.0)
    theirs.post.close()
    assert found is not None
    assert {each.queue.lane_value for each in found.others} == {2}
