"""A plan that was saved: what of it an apply needs, which is what it was made from and for whom.

Whoever applies a plan gets what its reviewer read, or is told what has moved since. The rest of the file is
for people and programs, and is not read back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from allotment.errors import AllotmentError, UsageError, WorldError
from allotment.planning.plan.plan import FORMAT_VERSION, Plan, Seen

KIND: Final = "plan"
MADE_FROM: Final = "made_from"
MOST_BYTES: Final = 64 * 1024 * 1024
MOST_TOLD: Final = 12
_PARTS: Final = ("files", "platform", "world", "steps")
_AGAIN: Final = "make it anew: `allot plan … -o json --out FILE`"


@dataclass(frozen=True, slots=True)
class Saved:
    """What was planned: for which ``team``, which ``names`` (none: all), in which ``world``, from what."""

    world: str
    team: str
    scheduler: str
    names: tuple[str, ...]
    seen: Seen


def saved_data(plan: Plan, names: Sequence[str]) -> dict[str, Any]:
    """The part of a plan's file that an apply reads."""
    seen = plan.seen
    return {
        "names": list(names),
        "cluster": seen.is_cluster,
        **{part: dict(sorted(getattr(seen, part).items())) for part in _PARTS},
    }


def read_saved(path: Path) -> Saved:
    """The saved plan of a file; AllotmentError for one that is no plan, or of a version that is not known."""
    try:
        size = path.stat().st_size
        text = path.read_text("utf-8") if size <= MOST_BYTES else ""
    except OSError as error:
        raise WorldError(f"the plan cannot be read: {error.strerror}", where=str(path)) from None
    except UnicodeDecodeError:
        raise _no_plan(path) from None
    if size > MOST_BYTES:
        raise UsageError("this is too large for a plan", where=str(path), remedy=_AGAIN)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise _no_plan(path) from None
    if not isinstance(value, dict) or value.get("kind") != KIND:
        raise _no_plan(path)
    _hold_version(value.get("format_version"), path)
    try:
        return _saved(value)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _no_plan(path) from None


def hold_unmoved(moved: Sequence[str], path: Path) -> None:
    """Raise where anything has moved since the plan was made, and say what."""
    if not moved:
        return
    more = len(moved) - MOST_TOLD
    told = [*moved[:MOST_TOLD], *([f"and {more:,} more"] if more > 0 else [])]
    raise AllotmentError(
        "the plan is not applied, for it was made of something else: " + "; ".join(told),
        where=str(path),
        remedy="plan again, look at it, and apply that; without --plan what is there now is applied",
    )


def _saved(value: Mapping[str, Any]) -> Saved:
    made = value[MADE_FROM]
    parts = {part: dict(_texts(made[part])) for part in _PARTS}
    names = made["names"]
    if not isinstance(names, list) or not isinstance(made["cluster"], bool):
        raise TypeError(MADE_FROM)
    return Saved(
        world=str(value["world"]),
        team=str(value["team"]),
        scheduler=str(value["scheduler"]),
        names=tuple(map(str, names)),
        seen=Seen(**parts, is_cluster=made["cluster"]),
    )


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    for name, digest in value.items():
        if not isinstance(digest, str):
            raise TypeError(name)
        yield str(name), digest


def _hold_version(version: Any, path: Path) -> None:
    if version == FORMAT_VERSION and not isinstance(version, bool):
        return
    is_later = isinstance(version, int) and not isinstance(version, bool) and version > FORMAT_VERSION
    words = (
        f"this plan has format_version {version}, and this `allot` knows {FORMAT_VERSION}"
        if is_later
        else f"this plan says format_version {version!r}, which no plan has had"
    )
    remedy = f"apply it with the `allot` that made it, or {_AGAIN}" if is_later else _AGAIN
    raise UsageError(words, where=str(path), remedy=remedy)


def _no_plan(path: Path) -> UsageError:
    return UsageError("this is no plan that `allot plan -o json` wrote", where=str(path), remedy=_AGAIN)
