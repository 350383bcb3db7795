"""What share each team deserves while it asks, and how near to it all of them are.

A team deserves its quota as far as it asks for it, and of what is left a part by its weight, up to what it
asks for and to its limit: what Kueue's and KAI's documentation both promise, whatever either of them does.
How evenly teams are served is Jain's index (Jain, Chiu and Hawe, DEC-TR-301, 1984) of given over deserved: 1
is even, and 1 over the number of teams is all for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from allotment.simulation.over_time import OverTime
from allotment.simulation.setting import TeamShare

_NOBODY = TeamShare("", "")
_LEAST = 1e-9


def jain(values: Sequence[float]) -> float:
    """How even the values are: from 1 over their number up to 1; 1 where all are nothing."""
    squares = sum(value * value for value in values)
    return min(1.0, sum(values) ** 2 / (len(values) * squares)) if squares > 0 else 1.0


def deserved(
    asked: Mapping[str, float], shares: Mapping[str, TeamShare], capacity: float
) -> dict[str, float]:
    """How many GPUs each team deserves of so many, by what it asks for."""
    most = {team: _most(team, ask, shares) for team, ask in asked.items()}
    given = {team: min(most[team], shares.get(team, _NOBODY).quota or 0.0) for team in asked}
    promised = sum(given.values())
    if promised > capacity:
        return {team: share * capacity / promised for team, share in given.items()}
    left = capacity - promised
    while left > _LEAST:
        hungry = {
            team: shares.get(team, _NOBODY).weight for team in asked if most[team] - given[team] > _LEAST
        }
        weights = sum(hungry.values())
        if weights <= 0:
            return given
        parts = {
            team: min(most[team] - given[team], left * weight / weights) for team, weight in hungry.items()
        }
        for team, part in parts.items():
            given[team] += part
        left -= sum(parts.values())
    return given


def _most(team: str, ask: float, shares: Mapping[str, TeamShare]) -> float:
    limit = shares.get(team, _NOBODY).limit
    return ask if limit is None else min(ask, limit)


def deserved_over_time(
    asked: Mapping[str, OverTime], shares: Mapping[str, TeamShare], capacity: float
) -> dict[str, OverTime]:
    """The deserved share of each team over time, from what each asks for over time."""
    known: dict[tuple[float, ...], dict[str, float]] = {}
    points: dict[str, list[tuple[float, float]]] = {team: [] for team in asked}
    for time, values in together(asked):
        key = tuple(values.values())
        if key not in known:
            known[key] = deserved(values, shares, capacity)
        for team, share in known[key].items():
            if not points[team] or points[team][-1][1] != share:
                points[team].append((time, share))
    return {team: OverTime(tuple(each)) for team, each in points.items()}


def together(values: Mapping[str, OverTime]) -> Iterable[tuple[float, dict[str, float]]]:
    """Each time at which any of them changes, with the values of all of them until the next such time."""
    changes = sorted((time, name, value) for name, each in values.items() for time, value in each.points)
    now = dict.fromkeys(values, 0.0)
    for place, (time, name, value) in enumerate(changes):
        now[name] = value
        if place + 1 == len(changes) or changes[place + 1][0] > time:
            yield time, now


def evenness(
    given: Mapping[str, OverTime],
    asked: Mapping[str, OverTime],
    shares: Mapping[str, OverTime],
    until: float,
) -> float | None:
    """Jain's index of given over deserved, in the mean of the time in which two teams or more ask."""
    everything = {
        **{f"a{team}": each for team, each in asked.items()},
        **{f"d{team}": each for team, each in shares.items()},
        **{f"g{team}": given.get(team, OverTime()) for team in asked},
    }
    total = seconds = 0.0
    before: tuple[float, float] | None = None
    for time, values in together(everything):
        if before is not None and (length := min(time, until) - before[0]) > 0:
            total, seconds = total + before[1] * length, seconds + length
        asking = [team for team in asked if values[f"a{team}"] > _LEAST and values[f"d{team}"] > _LEAST]
        ratios = [values[f"g{team}"] / values[f"d{team}"] for team in asking]
        before = (time, jain(ratios)) if len(ratios) > 1 else None
    if before is not None and until > before[0]:
        total, seconds = total + before[1] * (until - before[0]), seconds + until - before[0]
    return total / seconds if seconds > 0 else None
