"""In words, why something waits or ends on a machine that teams share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from allotment.scheduling.local_accounts import Account
from allotment.scheduling.local_desk import Desk
from allotment.scheduling.local_lines import Counter, Line
from allotment.scheduling.local_reclaim import Taking
from allotment.scheduling.local_state import Holding, LocalState, WaitReason

_MANY: Final = 3


def amount_words(cards: float | None) -> str:
    """``4 GPUs``, ``0.5 GPUs``."""
    number = f"{cards or 0.0:.2f}".rstrip("0").rstrip(".")
    return f"{number} GPU" + ("" if number == "1" else "s")


def share_words(account: Account) -> str:
    """What a team has of its share."""
    of = account.team
    of_cards = account.fair.cards or account.staying.cards or account.asked.cards
    if not of_cards and (account.fair.processors or account.staying.processors or account.asked.processors):
        has, fair = (f"{number:g}" for number in (account.staying.processors, account.fair.processors))
        return f"team `{of.name}` has {has} processors, its share is {fair}"
    bounds = [] if of.quota is None else [f"quota {of.quota:g}"]
    bounds += [] if of.limit is None else [f"limit {of.limit:g}"]
    said = f" ({', '.join(bounds)})" if bounds else ""
    fair = f"{account.fair.cards:.2f}".rstrip("0").rstrip(".")
    return f"team `{of.name}` has {amount_words(account.staying.cards)}, its share is {fair}{said}"


def reclaim_words(victim: Holding, line: Line, had: Mapping[str, Account]) -> str:
    """Why something ends."""
    if victim.team == line.team:
        return f"`{line.queue.name}` in a higher lane waits: {line.message}"
    return (
        f"its devices go back to team `{line.team}`, whose share they are: "
        f"{share_words(had[line.team])}; {share_words(had[victim.team])}"
    )


@dataclass(frozen=True, slots=True)
class Waits:
    """Why each line of this engine waits. ``had`` is what the teams had before anything was taken back."""

    state: LocalState
    counter: Counter
    taking: Taking
    had: Mapping[str, Account]
    fits: dict[tuple[Any, ...], bool] = field(default_factory=dict)

    def of(self, line: Line) -> tuple[WaitReason, str] | None:
        """The reason and the words; None for what does not wait."""
        queue = line.queue
        if line.reason is None:
            most, running = getattr(queue, "window", None), getattr(queue, "running", 0) + line.started
            if most is None or len(queue.ready) <= line.started:  # type: ignore[union-attr]  # it has a window
                return None
            return WaitReason.WINDOW, f"{running} run, and its window is {most.max}"
        ours = share_words(self.had[line.team])
        if line.reason in {WaitReason.LIMIT, WaitReason.QUOTA}:
            return line.reason, f"{line.message}: {ours}"
        if line.reason not in {WaitReason.DEVICES, WaitReason.MEMORY}:
            return line.reason, line.message
        if first := self._kept_for(line):
            return WaitReason.SHARE, f"{first}; {ours}"
        return line.reason, f"{line.message}; {ours}{self._coming(line)}"

    def _kept_for(self, line: Line) -> str:
        """Whom free devices are kept for that it could have else, in words; nothing where there are none."""
        others = [other for other, _ in self.counter.given if not other.own]
        others += [other for other, ids, _ in self.counter.kept if ids and other is not line]
        if not others:
            return ""
        if line.claimed not in self.fits:
            self.fits[line.claimed] = self._fits(line)
        if not self.fits[line.claimed]:
            return ""
        teams = sorted({other.team for other in others if other.team != line.team})
        if not teams:
            return f"what is free is kept for `{others[0].queue.name}` of the same team"
        shown = "; ".join(share_words(self.had[team]) for team in teams[:_MANY])
        return f"what is free goes to others first: {shown}"

    def _fits(self, line: Line) -> bool:
        """Whether it would fit beside what this engine starts."""
        desk = Desk(self.state)
        for other, allocations in self.counter.given:
            for allocation in allocations if other.own else ():
                desk.hold(other.queue, allocation)
        return bool(line.give(desk))

    def _coming(self, line: Line) -> str:
        """What is being given back for it, or will be."""
        taking = self.taking
        teams = {victim.team for victim, whom in taking.ended if whom is line}
        teams = teams or {each.team for each in taking.sharing.held if each.ending} - {line.team}
        if teams:
            names = ", ".join(f"`{name}`" for name in sorted(teams))
            return f"; team {names} gives back after the pages in flight"
        until = self.taking.waits_for_runtime(line)
        if until is None:
            return self._deaf(line)
        minutes = math.ceil((until - self.taking.now) / 60.0)
        more = "less than a minute" if minutes <= 1 else f"at most {minutes:,} minutes"
        return f"; what others have above their shares has its minimum runtime, {more} more"

    def _deaf(self, line: Line) -> str:
        """Whose engine would give something back, if it heard."""
        teams = {each.team for each in self.taking.sharing.held if each.deaf and each.lends} - {line.team}
        if not teams:
            return ""
        names = ", ".join(f"`{name}`" for name in sorted(teams))
        return f"; an engine of team {names} says nothing now (was it stopped?), and so gives nothing back"
