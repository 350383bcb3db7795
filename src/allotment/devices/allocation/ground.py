"""What stays the same while claims come and go: classes, rules of the version, and all that was decided once.

Devices are decided on once for each different request, their capacity and their attributes are read once;
nodes whose devices look alike share the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from allotment.devices.allocation.amounts import Demand, demand_of
from allotment.devices.allocation.behaviours import FIXED, Behaviour
from allotment.devices.allocation.counters import Amounts, Consumptions, PoolCounters
from allotment.devices.allocation.features import NEWEST, Features, Variant, variant_for
from allotment.devices.allocation.rules import Value, value_of
from allotment.devices.allocation.sites import Site, SitePool
from allotment.devices.allocation.suiting import Suiting
from allotment.devices.claims import ExactRequest, Toleration
from allotment.devices.classes import DeviceClass
from allotment.devices.selectors import Matcher, evaluate

_NONE: frozenset[int] = frozenset()


class Ground:
    """The classes of a world, the version's rules, and answers that do not change."""

    def __init__(
        self,
        classes: Mapping[str, DeviceClass],
        features: Features = NEWEST,
        variant: Variant | None = None,
        behaviour: Behaviour = FIXED,
        matches: Matcher = evaluate,
    ) -> None:
        self.classes = classes
        self.features = features
        self.variant = variant_for(features) if variant is None else variant
        self.behaviour = behaviour
        self.suiting = Suiting(classes, matches, features, behaviour)
        self._demands: dict[tuple[object, ...], Demand | None] = {}
        self._consumptions = Consumptions()
        self._uses: dict[int, tuple[Site, Sequence[Amounts]]] = {}
        self._counters: dict[int, tuple[SitePool, PoolCounters]] = {}
        self._values: dict[tuple[str, int], tuple[Site, Sequence[Value | None]]] = {}

    @property
    def combinations(self) -> bool:
        """Whether the search leaves out other orders of the same devices."""
        return self.variant is not Variant.STABLE

    def demands(self, exact: ExactRequest, site: Site) -> Callable[[int], Demand | None]:
        """What a request takes of each device of a node, by number."""
        asked = tuple(sorted(exact.capacity.items()))

        def demand(number: int) -> Demand | None:
            device = site.devices[number]
            key = (asked, id(device.capacity))
            if key not in self._demands:
                fractions = self.features.fractional_capacity_range
                self._demands[key] = demand_of(exact.capacity, device.capacity, fractions=fractions)
            return self._demands[key]

        return demand

    def tainted(self, tolerations: Sequence[Toleration], site: Site) -> frozenset[int]:
        """The devices with a taint that is not put up with."""
        if not self.features.device_taints or not site.blocked:
            return _NONE
        return frozenset(
            number
            for number, taints in site.blocked.items()
            if not all(any(toleration.covers(taint) for toleration in tolerations) for taint in taints)
        )

    def counters(self, pool: SitePool) -> PoolCounters:
        """The counters of a pool."""
        known = self._counters.get(id(pool))
        if known is None:
            known = self._counters[id(pool)] = pool, PoolCounters(pool, self._consumptions)
        return known[1]

    def uses(self, site: Site) -> Sequence[Amounts]:
        """What each device of a node takes of its pool's counters."""
        known = self._uses.get(id(site))
        if known is None or known[0] is not site:
            uses = [self._consumptions.of(device) for device in site.devices]
            known = self._uses[id(site)] = site, uses
        return known[1]

    def values(self, attribute: str, site: Site) -> Sequence[Value | None]:
        """The values of an attribute, by device."""
        key = (attribute, id(site))
        known = self._values.get(key)
        if known is None or known[0] is not site:
            lists = self.features.list_type_attributes
            values = [
                value_of(attribute, device_id, device, lists=lists)
                for device_id, device in zip(site.ids, site.devices, strict=True)
            ]
            known = self._values[key] = site, values
        return known[1]
