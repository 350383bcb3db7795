"""What the rules of the API find in an object that was read from a file, each at its place in it.

What a cluster may well hold all the same is a warning, and so is what an API server of the version drops.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from allotment.devices.validation import Problem, Reason, Server, validate
from allotment.devices.versions import KINDS, as_written
from allotment.documents.checking import Place
from allotment.errors import Severity

_PLACE_OF_DEVICE: Final = 3
_MOST_PLACES: Final = 7


def tell_problems(
    value: dict[str, Any], place: Place, kind: str, version: str, *, before: int, server: Server
) -> None:
    """Tell what the rules of the API find in an object; what its reading found already is not told again.

    ``before`` is how many findings there were before it was read.
    """
    if kind not in KINDS:
        return
    verdict = validate(kind, value, version=version, server=server)
    if verdict == ((), ()):
        return
    known = {each.position for each in place.check.findings[before:] if each.severity is Severity.ERROR}
    for problem in verdict.problems:
        where = _below(place, as_written(kind, problem.place, version))
        if where.check.document.position(where.loc) not in known and not _is_told_of_pool(problem, server):
            _tell(problem, where)
    gathered: dict[tuple[str, str], list[Place]] = {}
    for dropped in verdict.dropped:
        where = _below(place, as_written(kind, dropped.loc, version))
        gathered.setdefault((dropped.text, dropped.hint), []).append(where)
    for (text, hint), places in gathered.items():
        _tell_dropped(text, hint, places)


def _is_told_of_pool(problem: Problem, server: Server) -> bool:
    """Whether it is a device's name that is there twice: that makes its pool invalid."""
    is_twice = problem.reason is Reason.DUPLICATE and problem.loc[:2] == ("spec", "devices")
    return server.lenient and is_twice and len(problem.loc) == _PLACE_OF_DEVICE


def _below(place: Place, loc: Iterable[str | int]) -> Place:
    for step in loc:
        place /= step
    return place


def _tell_dropped(text: str, hint: str, places: Sequence[Place]) -> None:
    """Tell once of a field that an object has at several places."""
    more = f" (at {len(places):,} places of this object)" if len(places) > 1 else ""
    names = [each.name for each in places[:_MOST_PLACES]]
    if len(places) > _MOST_PLACES:
        names.append(f"… and {len(places) - _MOST_PLACES:,} more")
    evidence = names if more else ()
    places[0].found(
        "gated-field", f"{text}{more}", hint, key=True, severity=Severity.WARNING, evidence=evidence
    )


def _tell(problem: Problem, where: Place) -> None:
    """Tell a problem: an error, or a warning where a cluster may have such an object all the same."""
    hint = problem.hint or "an API server would refuse the object"
    if problem.tolerated or problem.loc[:1] == ("status",):
        hint = problem.tolerated or problem.hint or "an API server would refuse such a status; it is kept"
        where.found("api-limit", str(problem), hint, severity=Severity.WARNING)
        return
    where.found("api-limit", str(problem), hint)
