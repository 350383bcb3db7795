"""Where and under what work is done: the scheduler, the cluster as its state, the teams, and the paces.

The state holds nodes, devices and queues of every scheduler that is asked; what a snapshot shows running
stands in it as well. Whoever builds it renders the queues as they would be applied and reads them back, so
that a simulation decides on what a cluster would be given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from allotment.scheduling.default import Settings as DefaultSettings
from allotment.scheduling.kai import Settings as KaiSettings
from allotment.scheduling.kueue import Settings as KueueSettings
from allotment.scheduling.state.state import State

LOADING: Final = 30.0


class Scheduler(StrEnum):
    """Who decides. ``simple`` counts whole cards, first come first served, and knows no teams."""

    SIMPLE = "simple"
    DEFAULT = "default"
    KUEUE = "kueue"
    KAI = "kai"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class TeamShare:
    """A team's place in each scheduler, and its share in GPUs (None: as much as there is, no limit)."""

    name: str
    namespace: str
    local_queue: str = ""
    share_queue: str = ""
    quota: float | None = None
    weight: float = 1.0
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast things go that are neither decisions nor pages: seconds, or per second. Inputs, with sources.

    ``kueue_rate`` is Kueue's own performance harness (15,000 workloads in 351 s); ``kai_period`` its default
    schedule period; ``default_rate`` what kube-scheduler binds; the others are guesses that a plan states.
    ``coarse`` is the least time between two rounds of a scheduler (0: as its own pace has it), for long work.
    ``job_sync`` is how long after a pod's end its Job is seen to: the Job controller gathers what happens to
    pods of a Job for a second (``SyncJobBatchPeriod``). Until then what waits may take the card before the
    Job's next pod is there (0: at once). ``sending`` is how far apart one apply sends works.
    ``retry_wait`` is the Job controller's back-off after a failure, which doubles up to ``retry_longest``.
    ``kueue_release`` is how long after an eviction or a cut Kueue has the quota back, as was seen with a real
    one: it does not wait for pods that are stopping (None: it does). ``others_stay`` is how long a pod of
    others takes where nothing tells (0: it stays for ever); a scene goes by it, and not a simulation.
    ``model_load`` is how long every pod loads its models, whatever else is known of it (None: as is known,
    and ``loading`` where nothing is).
    """

    kueue_rate: float = 42.0
    kai_period: float = 1.0
    default_rate: float = 100.0
    pod_start: float = 2.0
    image_pull: float = 60.0
    model_load: float | None = None
    mig_cut: float = 10.0
    coarse: float = 0.0
    job_sync: float = 1.0
    sending: float = 0.1
    retry_wait: float = 10.0
    retry_longest: float = 600.0
    kueue_release: float | None = 1.1
    others_stay: float = 0.0

    @property
    def loading(self) -> float:
        """How long models are loaded of which nothing is known."""
        return LOADING if self.model_load is None else self.model_load


@dataclass(frozen=True, slots=True)
class WindowPace:
    """How the window controller goes about it (``allot operate``): seconds, with its own defaults.

    It looks every ``interval``, and ``listens`` after something happened; ``settle`` passes between two steps
    of a Job, a growth that is not granted within ``patience`` is taken back, and the next one is asked for
    after ``pause``, which doubles. A Job that was moved gives nothing to a peer for ``minimum_runtime``.
    Nothing is moved in a tree of queues within ``lag`` of what happened there, as their numbers lag so much.
    ``grows`` is false before Kueue 0.19.
    """

    interval: float = 10.0
    listens: float = 2.0
    lag: float = 3.0
    settle: float = 20.0
    patience: float = 10.0
    pause: float = 60.0
    longest_pause: float = 3600.0
    minimum_runtime: float = 600.0
    grows: bool = True


@dataclass(frozen=True, slots=True)
class Chances:
    """What goes wrong by chance: failures per started unit, node losses per hour, hours until one is back."""

    unit_fails: float = 0.0
    node_lost_per_hour: float = 0.0
    node_back_hours: float = 1.0


@dataclass(frozen=True, slots=True)
class Setting:
    """All of it. ``cards`` names the kind of card (catalogue id) of each device by ``driver/pool/name``.

    For nodes that only count their GPUs, ``card_of_node`` names the kind. ``window`` None: no window
    controller runs.
    """

    scheduler: Scheduler
    state: State = field(hash=False)
    teams: Mapping[str, TeamShare] = field(hash=False)
    cards: Mapping[str, str] = field(default_factory=dict, hash=False)
    card_of_node: Mapping[str, str] = field(default_factory=dict, hash=False)
    pace: Pace = Pace()
    chances: Chances = Chances()
    default: DefaultSettings = field(default_factory=DefaultSettings)
    kueue: KueueSettings = field(default_factory=KueueSettings)
    kai: KaiSettings = field(default_factory=KaiSettings)
    window: WindowPace | None = WindowPace()
