"""The settings of an earlier platform's repository as a platform of ours.

Such a repository is read as it stands: its ``converter.yaml`` names a namespace, lanes, sizes and defaults.
Facts (that format): a campaign without a priority is in the lane of value 0; a pipeline without a size,
where none is the default, has one card, 4 cores, 16Gi of memory and 2Gi of work folder; an amount is
request and limit. What it says of the cluster (its queue, secrets, volumes, tolerations, flavors) is the
business of our platform's own file, and passed by here. Its ``window`` is how wide a campaign is that says
nothing, and the widest that any may be: one that asks for more is held to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from allotment.documents import Document
from allotment.errors import Position
from allotment.platform.model import HOSTS_UNSAID, Defaults, Lane, Platform, Size, Sources, Team
from allotment.platform.need import Need, Resources

NAMESPACE: Final = "htr-batch"
WINDOW: Final = 20
LANES: Final = ("htr-interactive", "htr-bulk", "htr-idle")
VALUES: Final = {"interactive": 50, "bulk": 0, "idle": -10}
PLAIN: Final = "normal"
GI: Final = 2**30
ONE_CARD: Final = "one card"
OURS: Final = {"priority_classes": "lanes", "sizes": "sizes", "source_template": "sources"}
SKELETON: Final = Size(Need(), Resources(cpu=4, memory=16 * GI, workdir=2 * GI))


@dataclass(frozen=True, slots=True)
class Converter:
    """What of the settings counts here; what is not said is None; ``unread`` is what is said and wrong."""

    namespace: str = NAMESPACE
    window: int | None = None
    max_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None
    lanes: tuple[str, ...] = LANES
    sizes: Mapping[str, Size] = field(default_factory=dict)
    default_size: str | None = None
    template: str | None = None
    secret: str | None = None
    unread: frozenset[str] = frozenset()
    document: Document | None = field(default=None, repr=False, compare=False)

    def position(self, *loc: str) -> Position:
        """Where the file says it; its beginning for what it does not say."""
        return self.document.position(loc) if self.document is not None else Position("converter.yaml")


def platform_of(converter: Converter) -> Platform:
    """The platform that such a repository means, where there is no other: its team alone, on this machine."""
    name = converter.namespace
    return Platform(
        teams={name: Team(name, namespace=name, secret=converter.secret)},
        lanes=_lanes(converter.lanes),
        defaults=_defaults(converter, Defaults(window=WINDOW)),
        widest=converter.window or WINDOW,
        sizes={ONE_CARD: SKELETON, **converter.sizes},
        default_size=converter.default_size or ONE_CARD,
        sources=Sources(converter.template),
        unread=frozenset({HOSTS_UNSAID, *(OURS[key] for key in converter.unread if key in OURS)}),
    )


def with_defaults(platform: Platform, converter: Converter) -> Platform:
    """Another platform, with those defaults of the repository that any of its files could say for itself,
    and the widest window that it says."""
    return replace(platform, defaults=_defaults(converter, platform.defaults), widest=converter.window)


def _defaults(converter: Converter, defaults: Defaults) -> Defaults:
    names = ("window", "max_seconds", "ttl_seconds_after_finished")
    said = {name: value for name in names if (value := getattr(converter, name)) is not None}
    return replace(defaults, **said)


def _lanes(names: tuple[str, ...]) -> Mapping[str, Lane]:
    """The lanes by the ends of their names; the one of value 0 is the first, for that is the default one."""
    lanes = {name: Lane(VALUES.get(name.rpartition("-")[2], 0)) for name in names}
    normal = next((name for name, lane in lanes.items() if lane.value == 0), PLAIN)
    return {normal: Lane(0), **lanes}
