"""Where builds of the upstream allocator differ in what they decide: one named switch for each defect.

``FIXED`` is the default, and what 1.37 does: the snapshot of July 2026 with upstream's later corrections.
``SNAPSHOT`` is that snapshot as it was (k8s.io/dynamic-resource-allocation at 3d036712, Kubernetes 1.37
alpha), ``KUBERNETES_1_36_3`` what that release does. A switch that is set reproduces the defect.

================================  ====================================================================
switch                            what upstream did, and where it is told
================================  ====================================================================
``distinct_by_request``           ``distinctAttribute`` remembered one value per request, so that three
                                  devices of one request could repeat one (kubernetes#140438, #140600)
``intersection_kept``             the values that listed ``matchAttribute`` values have in common were
                                  not given back when a device was (kubernetes#140300)
``refusals_keep_counters``        the counters of a device stayed charged when a taint or a constraint
                                  refused it afterwards (kubernetes#140436, #140431)
``refusals_keep_devices``         a device that lacked capacity at the last check stayed marked, and in
                                  its constraints (kubernetes#140431)
``shares_keep_counters``          the counters of a device that several claims may hold stayed charged
                                  when the search gave it back (kubernetes#140431)
``counters_by_pool_name``         counters of two drivers' pools of one name were taken for one another's
                                  (kubernetes#140434, #140435)
``shares_charged_again``          a device held only by a share without capacity was charged for its
                                  counters a second time (kubernetes#140433, corrected in 1.37.2)
``counters_reach_everywhere``     a pool's counters brought it before nodes that none of its devices is for,
                                  so that what was wrong with it stopped claims there (until 1.37)
``config_by_request``             a claim's configuration came once for each request that it is for, and
                                  named requests even where it was for all (kubernetes#139814)
``bare_selector_errors``          a failing selector did not say on which device (Kubernetes 1.36)
``lists_need_the_gate``           selectors failed on any device with a list while
                                  ``DRAListTypeAttributes`` was off (Kubernetes 1.36)
================================  ====================================================================

Two more are in every build known and are kept: administrative access takes counters (kubernetes#140729), and
of a driver that changes what an allocated device takes, only the new figure is known (kubernetes#140802).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from allotment.devices.server import Server


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The defects of one build, by their switches in the table above."""

    name: str
    distinct_by_request: bool = False
    intersection_kept: bool = False
    refusals_keep_counters: bool = False
    refusals_keep_devices: bool = False
    shares_keep_counters: bool = False
    counters_by_pool_name: bool = False
    shares_charged_again: bool = True
    counters_reach_everywhere: bool = False
    config_by_request: bool = False
    bare_selector_errors: bool = False
    lists_need_the_gate: bool = False

    def restores(self, *, distinct: bool, lists: bool, pools: Sequence[str]) -> bool:
        """Whether everything is as before once a device is given back, where a constraint is that devices
        differ, where lists are compared, and where pools are called so.
        """
        return not (
            (self.distinct_by_request and distinct)
            or (self.intersection_kept and lists)
            or (self.counters_by_pool_name and len(set(pools)) < len(pools))
            or self.refusals_keep_counters
            or self.refusals_keep_devices
            or self.shares_keep_counters
        )


FIXED: Final = Behaviour("fixed")
SNAPSHOT: Final = Behaviour(
    "snapshot",
    distinct_by_request=True,
    intersection_kept=True,
    refusals_keep_counters=True,
    refusals_keep_devices=True,
    shares_keep_counters=True,
    counters_by_pool_name=True,
)
KUBERNETES_1_36_3: Final = replace(
    SNAPSHOT,
    name="1.36.3",
    refusals_keep_counters=False,
    refusals_keep_devices=False,
    shares_keep_counters=False,
    counters_reach_everywhere=True,
    config_by_request=True,
    bare_selector_errors=True,
    lists_need_the_gate=True,
)
BEHAVIOURS: Final = {each.name: each for each in (FIXED, SNAPSHOT, KUBERNETES_1_36_3)}


def behaviour_of(server: Server) -> Behaviour:
    """What the scheduler of a version decides; before 1.36 it is taken for that of 1.36."""
    return FIXED if server.is_at_least(37) else KUBERNETES_1_36_3
