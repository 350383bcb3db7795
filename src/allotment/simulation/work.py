"""Work as a simulation sees it: campaigns, fleets and gangs with what their pods ask for, whoever wrote them.

A plan makes it from a repository, a trace from its rows, a snapshot from what runs. One unit of work is a
volume of pages; a job that cannot resume is a volume of one page. Units are looked up by their number, so
that a hundred thousand of them that wait cost no more than a count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from allotment.devices.nodes import NodeSelector
from allotment.scheduling.state.nodes import Toleration
from allotment.scheduling.state.pod_groups import PodRequest, Together
from allotment.scheduling.state.pods import PodClaim


class Kind(StrEnum):
    """What the work is: it ends volume by volume, never, or all at once."""

    CAMPAIGN = "campaign"
    FLEET = "fleet"
    GANG = "gang"


@dataclass(frozen=True, slots=True)
class Ask:
    """What one pod asks for.

    ``claims`` are of its own (or named ones that pods share); ``request`` is cpu (thousandths), memory
    (bytes) and GPUs that are counted or shared without a claim. ``charges`` is what quota is charged for a
    pod, by resource (Kueue's amounts), ``gpus`` how many cards it counts as in a team's share. ``fault`` is
    why Kueue puts a workload of such pods aside before it stands in line. ``near`` is the label of nodes that
    all pods of a work are to have the same value of (affinity between pods, which a scheduler may know).
    """

    claims: tuple[PodClaim, ...] = ()
    request: PodRequest = field(default_factory=PodRequest)
    charges: Mapping[str, int] = field(default_factory=dict, hash=False)
    gpus: float = 0.0
    node_selector: Mapping[str, str] = field(default_factory=dict, hash=False)
    affinity: NodeSelector | None = None
    tolerations: tuple[Toleration, ...] = ()
    fault: str = ""
    near: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """A volume, or whatever is done from start to end: its pages, of which so many are ``done`` already.

    No pages at all: nobody knows how many, and they are drawn (``unknowns``).
    ``seconds`` is how long all of its pages take where that is known (a trace tells); None is drawn from the
    run times of the work's recipe. ``fails``: it ends as a failure of its own, which a trace tells too.
    """

    name: str
    pages: int = 1
    done: int = 0
    seconds: float | None = None
    fails: bool = False


@dataclass(frozen=True, slots=True)
class Running:
    """A pod that runs already when the simulation begins: the one of this index (or replica).

    ``since`` is when it began, at most 0; ``devices`` are ``driver/pool/name`` (none where GPUs are counted).
    """

    number: int
    node: str
    devices: tuple[str, ...] = ()
    since: float = 0.0


@dataclass(frozen=True, slots=True)
class Work:
    """A campaign, a fleet or a gang. Its name is its own among all works, and has no slash.

    At most ``most`` pods run at once; ``least`` start together or not at all where the scheduler can hold it
    to that. A fleet has ``most`` replicas at most and ``least`` at least, and no units; a gang is one unit
    that all of its ``most`` pods work on. ``pack`` units are done by one pod, one after the other.
    ``recipe`` is the key of its run times, ``image`` what a node must pull first (empty: nothing).
    Times are seconds. What has an ``arrival`` below 0 was there before all this, the least first. ``planned``
    marks what a plan is about. ``running`` are pods of it that have a place already at the beginning, which
    the setting's state does not hold.
    """

    name: str
    team: str
    kind: Kind
    ask: Ask
    units: Sequence[Unit] = ()
    arrival: float = 0.0
    least: int = 1
    most: int = 1
    priority: int = 0
    preemptible: bool = True
    pack: int = 1
    together: Together | None = None
    recipe: str = ""
    image: str = ""
    retries: int = 3
    reclaims: int = 20
    grace: float = 120.0
    max_seconds: float = 21_600.0
    ends: float | None = None
    planned: bool = False
    running: tuple[Running, ...] = ()
