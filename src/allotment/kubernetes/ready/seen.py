"""What has been seen of a cluster, as one value: the checks look at this and ask nobody.

Beside the objects of a snapshot there are answers that only a live server gives: which API versions it
serves, what this identity may do, which fields of a claim it keeps, what time it is there. A file holds none
of them, and then a check says that it cannot be told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from allotment.devices.server import Gate
from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.follow.fields import items
from allotment.kubernetes.kinds import Kind
from allotment.platform.model import Platform, Team

NOT_SERVED = "not served"
MOST_SHOWN = 5
KUEUE_NAMESPACE = "kueue-system"
KAI_NAMESPACE = "kai-scheduler"


@dataclass(frozen=True, slots=True, order=True)
class Right:
    """That somebody may do something with a resource (``pods/log``), in a namespace or in the cluster."""

    group: str
    resource: str
    verb: str
    namespace: str = ""

    def __str__(self) -> str:
        what = f"{self.resource}.{self.group}" if self.group else self.resource
        return f"{self.verb} {what}" + (f" in {self.namespace}" if self.namespace else "")


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret as far as it was looked at: the names of its keys, or why it could not be; never a value."""

    keys: frozenset[str] = frozenset()
    is_there: bool = True
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Webhook:
    """Whom the server asked when a Job was tried, and whether it had an answer."""

    name: str = ""
    answers: bool = True


@dataclass(frozen=True)
class Seen:
    """A cluster and the platform's file that it is held against.

    ``looked`` are the kinds that were asked for (None: all of them), ``served`` the API versions,
    ``rights`` what was asked of them and answered, ``kept`` whether the server kept a field of each gate,
    ``secrets`` those of the teams by team, ``skew`` the server's clock less ours in seconds, ``webhook`` what
    became of a Job that was tried. What is None was not asked, or its answer does not tell.
    """

    platform: Platform
    teams: tuple[Team, ...]
    snapshot: Snapshot
    looked: Collection[Kind] | None = None
    served: Collection[str] | None = None
    identity: str = ""
    rights: Mapping[Right, bool] | None = None
    kept: Mapping[Gate, bool] = field(default_factory=dict)
    secrets: Mapping[str, Secret] | None = None
    skew: float | None = None
    webhook: Webhook | None = None

    @property
    def minor(self) -> int | None:
        """The cluster's minor version, where it is known."""
        _, _, rest = self.snapshot.version.removeprefix("v").partition(".")
        digits = rest.partition(".")[0].rstrip("+")
        return int(digits) if digits.isdigit() else None

    @property
    def with_kueue(self) -> bool:
        """Whether the platform's file has Kueue admit."""
        return self.platform.scheduler in {"kueue", "both"}

    @property
    def with_kai(self) -> bool:
        """Whether the platform's file has KAI place."""
        return self.platform.scheduler in {"kai", "both"}

    def can_tell(self, kind: Kind) -> bool:
        """Whether objects of a kind would be here if there were any."""
        return self.snapshot.lacks(kind) is None and (self.looked is None or kind in self.looked)

    def serves(self, kind: Kind) -> bool:
        """Whether the cluster has the kind, as far as can be told."""
        return not (self.snapshot.lacks(kind) or "").startswith(NOT_SERVED)


def listed(names: Sequence[str], most: int = MOST_SHOWN) -> str:
    """Names one after the other; of many the first, and how many more."""
    shown = ", ".join(names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def conditions(value: Mapping[str, object]) -> Iterator[Mapping[str, str]]:
    """The conditions of an object's status."""
    yield from items(value, "status", "conditions")
