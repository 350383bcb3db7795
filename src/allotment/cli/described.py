"""A cluster that is only described, as if it were there: the platform's queues on a fleet in words.

Files of devices will do as well, and a cluster's that were asked for no queues. Nothing runs there, so that
whatever is told is what quotas and devices alone decide, and what of a cluster's work is in its file.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from allotment.cli.cluster import hold_cluster, snapshot_for
from allotment.cli.opened import Opened, open_repository
from allotment.cli.world import AskedWorld, ChosenWorld, world_in
from allotment.devices.catalogue import find
from allotment.errors import AllotmentError, FindingsError, UsageError
from allotment.kubernetes import kinds
from allotment.kubernetes.cluster.unasked import are_queues_unasked, surer
from allotment.pictures.counts import counted
from allotment.planning.scenes.asks import card_name
from allotment.planning.scenes.scene import scene_for
from allotment.planning.scenes.sent import Sent, sent_now
from allotment.planning.scenes.stage import as_cluster, staged
from allotment.planning.scenes.values import Place
from allotment.platform.find import find_platform
from allotment.scheduling.state.claimed_devices import is_gpu
from allotment.simulation.machines import PART, card_under
from allotment.simulation.setting import Scheduler

if TYPE_CHECKING:
    from allotment.kubernetes.cluster.snapshot import Snapshot
    from allotment.planning.queues import Share
    from allotment.platform.model import Platform

KUBERNETES: Final = "kubernetes"


@dataclass(frozen=True, slots=True)
class Described:
    """A made-up cluster: its objects, and the platform whose queues it has."""

    snapshot: Snapshot
    platform: Platform
    place: Place


def described(chosen: ChosenWorld, platform: Platform) -> Described:
    """The fleet with the platform's queues."""
    place = Place(chosen.without_errors(), chosen.name, chosen.snapshot, chosen.is_here)
    stage = staged(platform, place, Scheduler(platform.scheduler))
    cluster = as_cluster(stage, time.time())
    snapshot = replace(cluster, notes=(*_about(place, platform), *cluster.notes))
    return Described(snapshot, platform, place)


def _about(place: Place, platform: Platform) -> Iterator[str]:
    """What has to be known of a cluster that is none."""
    cards, parts = _cards_and_parts(place)
    told = ", ".join(
        f"{count:,} x {card}" + (f" in {counted(parts[card], 'part')}" if parts[card] else "")
        for card, count in sorted(cards.items())
    )
    runs = "nothing runs there" if place.snapshot is None else "of queues its file tells nothing"
    yield f"{place.name} has {told or 'no cards'}, and {runs}"
    kinds = {name: _known(kind.card) for name, kind in platform.cards.items()}
    if absent := [
        f"{name} ({card})" for name, card in kinds.items() if card is not None and card not in cards
    ]:
        yield f"of the platform's `cards` there is no {' and no '.join(absent)}"
    if platform.scheduler != "default":
        yield "its queues are those that the platform's file becomes" + _surer(place)


def _surer(place: Place) -> str:
    if place.snapshot is None:
        return ""
    return f": {surer(kinds.CLUSTER_QUEUE, kinds.LOCAL_QUEUE, kinds.KAI_QUEUE, kinds.CLAIM)}"


def _cards_and_parts(place: Place) -> tuple[Counter[str], Counter[str]]:
    """How many cards there are of each kind, and in how many parts those are that are cut already."""
    kinds: dict[str, str] = {}
    parts: Counter[str] = Counter()
    for published in place.world.slices:
        for device in published.devices if is_gpu(published.driver) else ():
            kinds[card_under(str(published.device_id(device)))] = card_name(device)
            if PART in device.name and not device.consumes_counters:
                parts[card_name(device)] += 1
    return Counter(kinds.values()), parts


def _known(card: str) -> str | None:
    """The card's id in the catalogue; None for a word that names none or several."""
    try:
        return find(card).id
    except UsageError:
        return None


def queues_asked(asked: AskedWorld, option: Path | None) -> Snapshot | None:
    """The cluster that `allot queues` is asked about; None where it is this machine.

    Of a file that was asked for no queues they are the platform's, where that is a cluster's.
    """
    if asked.devices or asked.describe is not None:
        return _described_queues(asked, option).snapshot
    found = snapshot_for(asked.cluster, asked.snapshot)
    if found is None or not are_queues_unasked(found):
        return found
    platform, _ = find_platform(Path(), option=option, environ=os.environ)
    if platform.engine != KUBERNETES:
        return found
    return described(world_in(found).decided_by(platform.versions.kubernetes), platform).snapshot


def _described_queues(asked: AskedWorld, option: Path | None) -> Described:
    """The made-up cluster; UsageError without a cluster's platform."""
    platform, origin = find_platform(Path(), option=option, environ=os.environ)
    hold_cluster(platform, origin, "a fleet in words has no queues by it")
    return described(asked.chosen().decided_by(platform.versions.kubernetes), platform)


@dataclass(frozen=True, slots=True)
class AskedAbout:
    """A campaign, fleet or gang of a repository, and the made-up cluster that it is sent to."""

    name: str
    opened: Opened
    cluster: Described

    def share(self) -> Share | None:
        """The share of cards of the team's queue."""
        from allotment.planning.queues_of_cluster import shares_of_cluster

        found = shares_of_cluster(self.cluster.snapshot).shares
        return next((each for each in found if each.queue == self.opened.team.name), None)

    def placed(self) -> Sent | None:
        """What the scheduler that places would do; None where that cannot be played."""
        try:
            scene = scene_for(
                self.opened.repository,
                self.cluster.platform,
                self.opened.team,
                self.cluster.place,
                names=[self.name],
            )
        except AllotmentError:
            return None
        return sent_now(scene, self.name)


def asked_about(
    name: str, root: Path, platform: Path | None, team: str | None, chosen: ChosenWorld
) -> AskedAbout | None:
    """What a name is on a described cluster; None where it is none of these, or has no cluster."""
    stem = Path(name).stem if name.endswith((".yaml", ".yml")) else name
    try:
        opened, _ = open_repository(root, platform=platform, team=team, campaigns=[name], programs=True)
    except (FindingsError, UsageError):
        return None
    repository = opened.repository
    if opened.platform.engine != KUBERNETES or not any(
        stem in each for each in (repository.campaigns, repository.fleets, repository.gangs)
    ):
        return None
    return AskedAbout(stem, opened, described(chosen, opened.platform))
