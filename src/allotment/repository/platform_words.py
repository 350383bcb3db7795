"""What a team's file names and the platform decides: images, lanes, ways of sharing, the layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from allotment.documents.checking import Place, shown
from allotment.documents.shapes import Key, Record, Text
from allotment.errors import did_you_mean
from allotment.platform.images import may_come, repository_of
from allotment.platform.model import Platform
from allotment.platform.names import look_label
from allotment.platform.need import Need
from allotment.repository.model import Topology


def _topology(values: dict[str, Any], place: Place) -> Topology:
    if len(values) != 1:
        message = f"`{place.name}` takes exactly one of `require` and `prefer`"
        place.refuse("one-of", message, "keep one of them")
    if "require" in values:
        return Topology("require", values["require"])
    return Topology("prefer", values["prefer"])


LEVEL: Final[Key[str]] = Key(Text(look_label))
TOPOLOGY: Final[Record[Topology]] = Record({"require": LEVEL, "prefer": LEVEL}, _topology)


@dataclass(frozen=True, slots=True)
class LaneShape:
    """A lane of the platform; an empty text is the default one."""

    platform: Platform

    def read(self, value: object, place: Place) -> str:
        """The lane's name."""
        name = Text(empty=True).read(value, place)
        if not name:
            return self.platform.default_lane
        if name not in self.platform.lanes and "lanes" not in self.platform.unread:
            hint = did_you_mean(name, self.platform.lanes)
            place.refuse("unknown-lane", f"the platform has no lane `{shown(name)}`", hint)
        return name


def look_at_image(values: Mapping[str, Any], platform: Platform, place: Place) -> None:
    """An image of a repository of images that the platform does not name."""
    image = values.get("image")
    if image is None or not platform.images:
        return
    if not may_come(image, platform.images):
        repository = repository_of(image)
        message = f"the platform does not let images come from `{shown(repository)}`"
        (place / "image").found("image-not-allowed", message, did_you_mean(repository, platform.images))


def look_at_sharing(need: Need | None, platform: Platform, place: Place) -> None:
    """Ways of sharing a card that the platform does not let pipelines use, in a need and its fallbacks."""
    if need is None or "sharing" in platform.unread:
        return
    written = place.check.document.value
    for step in place.loc:
        written = written[step]
    if "sharing" in written:
        for way in need.sharing:
            if way not in platform.sharing:
                allowed = ", ".join(f"`{word}`" for word in platform.sharing)
                message = f"the platform does not let pipelines share a card by `{way}`"
                (place / "sharing").found("sharing-not-allowed", message, f"it allows {allowed}")
    for index, fallback in enumerate(need.fallback):
        look_at_sharing(fallback, platform, place / "fallback" / index)


def look_at_topology(topology: Topology | None, platform: Platform, place: Place) -> None:
    """A level of the layout that the platform does not name."""
    levels = {level.name for level in platform.topology}
    if topology is None or topology.level in levels or "topology" in platform.unread:
        return
    hint = did_you_mean(topology.level, levels) or "the platform names no levels: take the key out"
    message = f"the platform has no level `{shown(topology.level)}`"
    (place / "topology" / topology.rule).found("unknown-topology", message, hint)
