"""The shape of a campaign's file: a pipeline, volumes, a window, a lane."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from allotment.documents.checking import Check, Place, RefusedError
from allotment.documents.shapes import Flag, Integer, Key, Record, Text
from allotment.errors import Severity
from allotment.platform.model import Platform
from allotment.repository.file_name import FILE_NAME_KEYS
from allotment.repository.model import Campaign, Window
from allotment.repository.platform_words import LaneShape
from allotment.repository.volume_list import VolumeList

WIDEST: Final = 1_000_000
MOST_PACKED: Final = 10_000
WIDTH: Final = Integer(1, WIDEST)


def _window(values: dict[str, Any], place: Place) -> Window:
    window = Window(values.get("min", 1), values["max"])
    if window.min > window.max:
        message = f"the window is at least {window.min} and at most {window.max}, which no number is"
        (place / "min").refuse("bad-range", message, "make min at most max")
    return window


MIN_MAX: Final = Record({"min": Key(WIDTH), "max": Key(WIDTH, required="say how wide at most")}, _window)


@dataclass(frozen=True, slots=True)
class WindowShape:
    """How wide a campaign runs: ``8`` is at most 8; ``{min: 2, max: 8}``."""

    def read(self, value: object, place: Place) -> Window:
        """The window."""
        if isinstance(value, dict):
            return MIN_MAX.read(value, place)
        if isinstance(value, str | bool | float) or value is None:
            place.refuse_trap("write a whole number, such as 8")
            place.refuse_type(value, "a whole number, or {min: …, max: …}")
        return Window(1, WIDTH.read(value, place))


def _held(window: Window, widest: int | None, check: Check) -> Window:
    """The window, held to the widest that an earlier platform's settings allow, and that said."""
    if widest is None or window.max <= widest:
        return window
    message = f"the window is held to {widest}, which is the widest that `converter.yaml` allows"
    (check.root / "window").found("window-held", message, severity=Severity.NOTE)
    return Window(min(window.min, widest), widest)


def campaign_record(platform: Platform, root: Path) -> Record[dict[str, Any]]:
    """The whole file, under a platform."""
    return Record(
        {
            **FILE_NAME_KEYS,
            "pipeline": Key(Text(), required="name a pipeline: the stem of a file in pipelines/"),
            "volumes": Key(VolumeList(platform, root), required="list at least one volume"),
            "window": Key(WindowShape()),
            "priority": Key(LaneShape(platform)),
            "suspend": Key(Flag()),
            "pack": Key(Integer(1, MOST_PACKED)),
        },
        lambda values, _place: values,
    )


def read_campaign(
    check: Check, stem: str, path: Path, *, platform: Platform, root: Path
) -> tuple[Campaign | None, str | None]:
    """The campaign in a document, or nothing when there is an error about it; and the pipeline it names."""
    try:
        values, complete = campaign_record(platform, root).read_keys(check.document.value, check.root)
    except RefusedError:
        return None, None
    named = values.get("pipeline")
    if not complete or check.failed:
        return None, named
    campaign = Campaign(
        name=stem,
        pipeline=values["pipeline"],
        volumes=values["volumes"],
        window=_held(values.get("window", Window(1, platform.defaults.window)), platform.widest, check),
        priority=values.get("priority", platform.default_lane),
        suspend=values.get("suspend", False),
        pack=values.get("pack", 1),
        path=path,
        document=check.document,
    )
    return campaign, named
