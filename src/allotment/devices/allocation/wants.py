"""Claims made ready for the search on one node: each alternative with its devices, its count and its rules.

What is wrong with a claim whatever is free is told here, in upstream's order and words: features that are
off, selectors of a kind that nobody knows, classes that are not there, more than 32 devices, empty
constraints (``Allocate`` and ``validateDeviceRequest`` of k8s.io/dynamic-resource-allocation). A request for
every device is met by all that would do, so that it also needs all pools to be whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from allotment.devices.allocation import rules
from allotment.devices.allocation.amounts import Demand
from allotment.devices.allocation.behaviours import Behaviour
from allotment.devices.allocation.errors import AllocationError, of_claim, of_request
from allotment.devices.allocation.features import Variant
from allotment.devices.allocation.ground import Ground
from allotment.devices.allocation.rules import Rule, Value
from allotment.devices.allocation.sites import PoolState, Site
from allotment.devices.allocation.suiting import Suited
from allotment.devices.allocation.taken import Taken
from allotment.devices.claims import MOST_DEVICES, AllocationMode, ClaimSpec, ExactRequest, Request

_NO_CLASS: Final = 'could not retrieve device class {0}: deviceclass.resource.k8s.io "{0}" not found'
_POOL_WORDS: Final = {PoolState.INCOMPLETE: "being updated", PoolState.INVALID: "invalid"}


class NamedClaim(NamedTuple):
    """A claim under the name that messages call it by: ``namespace/name``."""

    name: str
    spec: ClaimSpec


@dataclass(slots=True, eq=False)
class Want:
    """One alternative of one request on one node.

    ``name`` is what results call it, ``own`` what messages do; ``every`` are the devices of one for all.
    """

    request: str
    own: str
    name: str
    exact: ExactRequest
    count: int
    suited: Suited
    every: tuple[int, ...] | None
    tainted: frozenset[int]
    demand: Callable[[int], Demand | None]
    rules: tuple[int, ...] = ()

    @property
    def is_admin(self) -> bool:
        """Whether devices are asked for that others may hold."""
        return bool(self.exact.admin_access)


@dataclass(frozen=True, slots=True)
class ReadyClaim:
    """A claim on one node: its requests, each with its alternatives, and the values for its constraints.

    Nothing in it changes, so that it serves again while what its requests for every device found is so.
    """

    name: str
    spec: ClaimSpec
    site: Site
    requests: Sequence[Sequence[Want]]
    values: Sequence[Sequence[Value | None]]

    def rules(self, behaviour: Behaviour, *, lists: bool) -> list[Rule]:
        """The constraints, with no device under them."""
        return [
            rules.rule_of(constraint, values, behaviour, lists=lists)
            for constraint, values in zip(self.spec.constraints, self.values, strict=True)
        ]


def make_ready(claims: Sequence[NamedClaim], site: Site, ground: Ground, taken: Taken) -> list[ReadyClaim]:
    """The claims on a node; AllocationError where one of them can never be right."""
    return [_Making(claim, site, ground, taken).made() for claim in claims]


class _Making:
    """One claim being made ready."""

    def __init__(self, claim: NamedClaim, site: Site, ground: Ground, taken: Taken) -> None:
        self._claim = claim
        self._site = site
        self._ground = ground
        self._taken = taken

    def made(self) -> ReadyClaim:
        requests = []
        least = 0
        for request in self._claim.spec.requests:
            self._refuse_what_is_off(request)
            wants = [self._want(request, sub.name, sub.exactly) for sub in request.alternatives]
            least += min(want.count for want in wants)
            requests.append(wants)
        if least > MOST_DEVICES:
            words = f"number of requested devices {least} exceeds the claim limit of {MOST_DEVICES}"
            raise AllocationError(f"{of_claim(self._claim.name, ': ')}{words}")
        values = self._give_rules(requests)
        return ReadyClaim(self._claim.name, self._claim.spec, self._site, requests, values)

    def _refuse_what_is_off(self, request: Request) -> None:
        features = self._ground.features
        if request.first_available and not features.prioritized_list:
            raise self._error(request.name, "has subrequests, but the DRAPrioritizedList feature is disabled")
        if features.consumable_capacity or self._ground.variant is Variant.STABLE:
            return
        words = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
        for sub in request.alternatives:
            if sub.exactly.capacity and request.first_available:
                owner = of_claim(self._claim.name, ", ")
                raise AllocationError(f"{owner}subrequest {sub.name}: {words}")
            if sub.exactly.capacity:
                raise self._error(request.name, words)

    def _want(self, request: Request, own: str, exact: ExactRequest) -> Want:
        for place, expression in enumerate(exact.selectors):
            if not expression:
                where = f"{of_claim(self._claim.name, ', ')}request {own}, selector #{place}"
                raise AllocationError(f"{where}: CEL expression empty (unsupported selector type?)")
        for wrong, words in (
            (
                bool(exact.derived_attributes),
                "cannot handle request with derived attributes, the feature is disabled",
            ),
            (
                exact.admin_access is not None and not self._ground.features.admin_access,
                "admin access is requested, but the feature is disabled",
            ),
            (not exact.device_class, "missing device class name (unsupported request type?)"),
            (
                exact.device_class not in self._ground.classes,
                _NO_CLASS.format(exact.device_class),
            ),
            (exact.mode not in _MODES, f"unsupported count mode {exact.mode}"),
        ):
            if wrong:
                raise self._error(own, words)
        demand = self._ground.demands(exact, self._site)
        every = None
        if exact.mode == AllocationMode.ALL:
            every = self._every(own, exact, demand)
        return Want(
            request=request.name,
            own=own,
            name=f"{request.name}/{own}" if request.first_available else own,
            exact=exact,
            count=exact.count if every is None else len(every),
            suited=self._ground.suiting.suited(exact, self._site),
            every=every,
            tainted=self._ground.tainted(exact.tolerations, self._site),
            demand=demand,
        )

    def _every(
        self, own: str, exact: ExactRequest, demand: Callable[[int], Demand | None]
    ) -> tuple[int, ...]:
        """All devices that would do, in the order of the pools; every pool has to be whole."""
        suited = self._ground.suiting.suited(exact, self._site)
        found: list[int] = []
        at = 0
        for pool in self._site.pools:
            if pool.state in _POOL_WORDS:
                words = (
                    f"asks for all devices, but resource pool {pool} is currently {_POOL_WORDS[pool.state]}"
                )
                raise self._error(own, words)
            while at < len(suited.candidates) and self._site.pool_of[suited.candidates[at]] is pool:
                number = suited.candidates[at]
                at += 1
                if number in suited.faults:
                    raise suited.faults[number].error(self._claim.name, self._site.ids[number])
                if self._has_capacity(number, demand):
                    found.append(number)
        return tuple(found)

    def _has_capacity(self, number: int, demand: Callable[[int], Demand | None]) -> bool:
        if not self._ground.features.consumable_capacity:
            return True
        wanted = demand(number)
        return wanted is not None and wanted.fits(self._taken.capacity_of(self._site.ids[number]), {})

    def _give_rules(self, requests: Sequence[Sequence[Want]]) -> list[Sequence[Value | None]]:
        """Tell the wants which constraints hold for them; the values of the devices, by constraint."""
        spec, ground = self._claim.spec, self._ground
        for words in rules.faults(spec, distinct=ground.variant is not Variant.STABLE):
            raise AllocationError(f"{of_claim(self._claim.name, ', ')}{words}")
        for place, constraint in enumerate(spec.constraints):
            for want in (want for wants in requests for want in wants):
                if rules.concerns(constraint, want.request, want.name):
                    want.rules = (*want.rules, place)
        return [ground.values(rules.attribute_of(each) or "", self._site) for each in spec.constraints]

    def _error(self, own: str, words: str) -> AllocationError:
        return of_request(self._claim.name, own, words)


_MODES: Final = frozenset(AllocationMode)
