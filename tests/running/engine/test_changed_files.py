"""Files that change while their campaigns run: what they say holds from then on, wrong ones do nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from allotment.errors import WorldError
from allotment.repository.model import Window
from allotment.running.engine.requests import LOOK_SECONDS, Requests, Settings
from tests.running.engine.sharing_teams import Moment, Teams

NOW = Settings(Window(1, 2), "fixed", 7, suspended=False, lends=False)


def requests_of(file: Path, reread: Callable[[str], Settings | None]) -> Requests:
    return Requests(frozenset, lambda _: None, {"c": file}, reread)


def test_while_the_platform_is_wrong_nothing_changes_and_afterwards_it_does(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.touch()
    said: list[Settings | None] = [NOW, None]

    def reread(_: str) -> Settings | None:
        if said:
            return said.pop()
        raise WorldError("the platform's file is wrong")

    requests = requests_of(file, reread)
    for turn in range(1, 3):
        os.utime(file, (turn, turn))
        assert requests.changes(turn * LOOK_SECONDS * 2) == ({} if turn == 1 else {"c": NOW})
    os.utime(file, (9, 9))
    assert requests.changes(10.0) == {}
    said.append(NOW)
    assert requests.changes(20.0) == {"c": NOW}
    assert requests.changes(30.0) == {}


def has(moment: Moment) -> tuple[float, float]:
    """What the team has, and what of it is never taken back."""
    account = moment.accounts.get("archive")
    return (0, 0) if account is None else (account.all.cards, account.firm.cards)


def test_what_starts_in_a_lane_that_is_never_taken_back_keeps_to_the_quota_from_then_on(
    tmp_path: Path,
) -> None:
    teams = Teams(tmp_path, {"archive": "quota: 2", "letters": "quota: 6"}, minimum="0s").write()
    platform = tmp_path / "platform.yaml"
    platform.write_text(
        platform.read_text() + "lanes:\n  bulk: {value: 0}\n  fixed: {value: 0, preemptible: false}\n"
    )
    teams.campaign("archive", "books", 60, 6)
    teams.watch()
    try:
        teams.run("archive", "books")
        teams.until(lambda moment: has(moment) == (8, 0))
        right = platform.read_text()
        platform.write_text("nonsense: [")
        file = tmp_path / "archive" / "campaigns" / "books.yaml"
        file.write_text(file.read_text().replace("window: 8", "window: 8\npriority: fixed"))
        seen = len(teams.record)
        teams.until(lambda _: len(teams.record) > seen + 15)
        platform.write_text(right)
        teams.until(lambda moment: has(moment) == (2, 2))
    finally:
        teams.end()
