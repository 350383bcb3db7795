"""Three teams share a described machine of eight cards: real processes, bursts and lulls, and a record."""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from allotment.buckets.event_log import read_events
from allotment.buckets.opening import open_bucket
from tests.running.engine.sharing_teams import Moment, Teams

QUEUES = {"archive": "quota: 2", "letters": "quota: 3, weight: 2", "maps": "quota: 1, weight: 2, limit: 2"}


@pytest.fixture
def teams(tmp_path: Path) -> Iterator[Teams]:
    found = Teams(tmp_path, QUEUES).write()
    yield found
    found.end()


def has(moment: Moment, team: str) -> float:
    account = moment.accounts.get(team)
    return 0.0 if account is None else account.all.cards


def have_their_shares(moment: Moment) -> bool:
    return all(account.staying.cards == account.fair.cards for account in moment.accounts.values())


def audit(teams: Teams) -> None:
    """What holds at every moment of the record."""
    for moment in teams.record:
        assert sum(account.all.cards for account in moment.accounts.values()) <= 8
        for account in moment.accounts.values():
            limit = account.team.limit
            assert limit is None or account.all.cards <= limit, f"{account.team.name} has passed its limit"
            if moment.is_settled:
                off = abs(account.staying.cards - account.fair.cards)
                assert off <= 1, f"{account.team.name} has {account.staying.cards} of {account.fair.cards}"


def executions(teams: Teams) -> tuple[Counter[str], int]:
    """How often each page was begun, and how many were not ended."""
    words = [line.split(" ") for line in (teams.root / "tally").read_text().splitlines()]
    begun = Counter(f"{volume}/{page}" for what, volume, page, _ in words if what == "start")
    return begun, sum(begun.values()) - sum(what == "end" for what, *_ in words)


def done_again_in_vain(teams: Teams) -> list[str]:
    """Pages that were done again though the worker that had begun them went on to others."""
    lines = [line.split(" ") for line in (teams.root / "tally").read_text().splitlines()]
    begun = [(f"{volume}/{page}", pid) for what, volume, page, pid in lines if what == "start"]
    last = {pid: page for page, pid in begun}
    done: dict[str, str] = {}
    in_vain = []
    for page, pid in begun:
        if page in done and last[done[page]] != page:
            in_vain.append(page)
        done[page] = pid
    return in_vain


def test_bursts_and_lulls_of_three_teams(teams: Teams) -> None:
    teams.campaign("archive", "books", 14, 40)
    teams.campaign("letters", "boxes", 8, 40)
    teams.campaign("maps", "sheets", 4, 40)
    teams.watch()
    archive = teams.run("archive", "books")
    teams.until(lambda moment: has(moment, "archive") == 8 and moment.is_settled)
    letters = teams.run("letters", "boxes")
    teams.until(lambda moment: has(moment, "letters") > 3 and have_their_shares(moment))
    maps = teams.run("maps", "sheets")
    teams.until(lambda moment: has(moment, "maps") == 2 and have_their_shares(moment))
    teams.allot("letters", "stop", "boxes", "--team", "letters")
    teams.until(lambda moment: has(moment, "letters") == 0 and has(moment, "archive") == 6)
    again = teams.run("letters", "boxes")
    teams.until(lambda moment: has(moment, "letters") > 3 and have_their_shares(moment))
    teams.hurry()
    assert [engine.wait(timeout=120) for engine in (archive, letters, maps, again)] == [0, 130, 0, 0]
    teams.end()
    audit(teams)
    bucket = open_bucket(str(teams.root / "results"), teams.root)
    events = [
        event
        for team, name in (("archive", "books"), ("letters", "boxes"), ("maps", "sheets"))
        for event in read_events(bucket, team, name)
    ]
    ended = [event for event in events if event.kind == "volume.reclaimed"]
    for_teams = [event for event in ended if "whom" in event.data]
    assert {event.team for event in for_teams} == {"archive", "letters"}
    assert len(for_teams) >= 4
    assert all("whose share they are" in event.data["message"] for event in for_teams)
    begun, unfinished = executions(teams)
    assert len(begun) == (14 + 8 + 4) * 40
    assert sum(begun.values()) - len(begun) <= unfinished <= len(ended), "at most the page in flight"
    assert done_again_in_vain(teams) == []
    assert len(list((teams.root / "results").rglob("manifest.json"))) == 26


def test_a_killed_engine_asks_for_nothing_and_its_cards_go_to_others(teams: Teams) -> None:
    teams.campaign("archive", "books", 9, 40)
    teams.campaign("letters", "boxes", 6, 20)
    teams.watch()
    archive = teams.run("archive", "books")
    letters = teams.run("letters", "boxes")
    teams.until(lambda moment: has(moment, "letters") == 5 and has(moment, "archive") == 3)
    letters.kill()
    letters.wait()
    teams.engines.remove(letters)
    teams.until(lambda moment: has(moment, "archive") == 8)
    again = teams.run("letters", "boxes")
    teams.until(lambda moment: has(moment, "letters") == 5 and has(moment, "archive") == 3)
    teams.hurry()
    assert [engine.wait(timeout=120) for engine in (archive, again)] == [0, 0]
    teams.end()
    audit(teams)
    assert len(list((teams.root / "results").rglob("manifest.json"))) == 15


def test_a_fleet_gives_back_for_a_gang_and_a_campaign_of_another_team(teams: Teams) -> None:
    teams.campaign("letters", "boxes", 2, 40)
    teams.program("archive", "fleets", "serve", "replicas: {min: 1, max: 8}\npreemptible: true\n")
    teams.program("letters", "gangs", "train", "workers: 3\nmin: 3\n")
    teams.watch()
    teams.run("archive", "serve")
    teams.until(lambda moment: has(moment, "archive") == 8)
    teams.run("letters", "boxes", "train")
    teams.until(lambda moment: has(moment, "letters") == 5 and has(moment, "archive") == 3)
    teams.allot("letters", "stop", "train", "--team", "letters")
    teams.hurry()
    teams.until(lambda moment: has(moment, "archive") == 8)
    teams.allot("archive", "stop", "serve", "--team", "archive")
    assert [engine.wait(timeout=120) for engine in teams.engines] == [130, 130]
    teams.end()
    audit(teams)
    given_back = [
        event
        for event in read_events(open_bucket(str(teams.root / "results"), teams.root), "archive", "serve")
        if event.kind == "replica.given-back"
    ]
    assert len(given_back) == 5
    assert {event.data["whom"] for event in given_back} == {"letters"}


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_minutes_of_bursts_lulls_and_kills(teams: Teams, seed: int) -> None:
    rng = random.Random(seed)
    works = {team: [f"{team}{number}" for number in range(3)] for team in QUEUES}
    for team, names in works.items():
        for name in names:
            teams.campaign(team, name, 12, 30, window=rng.choice((2, 5, 8)))
    teams.watch()
    running: dict[str, subprocess.Popen[str]] = {}
    end = time.monotonic() + 120
    while time.monotonic() < end:
        team = rng.choice(list(QUEUES))
        engine = running.get(team)
        if engine is None or engine.poll() is not None:
            running[team] = teams.run(team, *rng.sample(works[team], rng.randint(1, 3)))
        elif rng.random() < 0.5:
            teams.engines.remove(engine)
            engine.kill()
            engine.wait()
        else:
            engine.terminate()
        time.sleep(rng.choice((0.5, 2.0, 8.0)))
    teams.hurry()
    for engine in running.values():
        engine.terminate()
        engine.wait(timeout=120)
    last = [teams.run(team, *names) for team, names in works.items()]
    assert [engine.wait(timeout=240) for engine in last] == [0, 0, 0]
    teams.end()
    audit(teams)
    begun, _ = executions(teams)
    assert len(begun) == 3 * 3 * 12 * 30
    assert done_again_in_vain(teams) == []
    assert len(list((teams.root / "results").rglob("manifest.json"))) == 3 * 3 * 12
