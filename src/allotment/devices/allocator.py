"""The allocator: which devices a claim gets on a node, or why it gets none.

The answer is that of the upstream allocator (``allocation``); what is added is what upstream does not say:
how many devices there are and where they fell out, and whether waiting helps. Classes that are not there and
counts of nothing are refused before anything is looked at, in the words of the scheduler's plugin and of the
API server.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from allotment.devices.allocation import (
    AllocationError,
    Attempt,
    Ground,
    NamedClaim,
    PoolIndex,
    PoolState,
    Taken,
    behaviour_of,
    features_of,
)
from allotment.devices.allocation import rules as constraints
from allotment.devices.allocation.allocating import search_for
from allotment.devices.allocation.plain import Plain, plain_of
from allotment.devices.allocation.trial import Trial
from allotment.devices.allocation.wants import ReadyClaim, Want, make_ready
from allotment.devices.claims import Allocation, AllocationMode, ClaimSpec, ExactRequest
from allotment.devices.funnel import Funnel, NoFit
from allotment.devices.selectors import Matcher, evaluate, selectors_of
from allotment.devices.server import Gate
from allotment.devices.slices import DeviceId
from allotment.devices.taint_rules import tainted
from allotment.devices.world import World

_NOBODY: frozenset[DeviceId] = frozenset()
_TIMES_OUT = "the Kubernetes scheduler would search until its limit of 10 s on a node"
_POOL_WORDS = {PoolState.INCOMPLETE: "being updated", PoolState.INVALID: "invalid"}


def allocate(
    claim: ClaimSpec,
    world: World,
    node: str,
    taken: Set[DeviceId] | Taken = _NOBODY,
    matches: Matcher = evaluate,
) -> Allocation | NoFit:
    """What the claim gets on the node while ``taken`` is in use. For many claims keep one ``Allocator``."""
    return Allocator(world, node, matches).allocate(claim, taken)


def ground_of(world: World, matches: Matcher = evaluate) -> Ground:
    """What the Kubernetes of a world does; ``matches`` takes the place of its selectors."""
    server, features = world.server, features_of(world.server)
    if matches is evaluate:
        matches = selectors_of(
            server.name,
            consumable_capacity=server.has(Gate.CONSUMABLE_CAPACITY),
            list_type_attributes=server.has(Gate.LIST_ATTRIBUTES),
        )
    return Ground(world.classes, features, behaviour=behaviour_of(server), matches=matches)


def pools_of(world: World, ground: Ground) -> PoolIndex:
    """The index of a world's pools, with the taints that its rules put on, as the ground's version has it."""
    slices = tainted(world.slices, world.taint_rules)
    return PoolIndex(slices, ground.features, ground.variant, ground.behaviour)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A claim on the node, and the shorter way to its answer where there is one."""

    ready: ReadyClaim
    plain: Plain | None


class Allocator:
    """One node of one world. Claims are made ready once for each different one."""

    def __init__(
        self,
        world: World,
        node: str,
        matches: Matcher = evaluate,
        pools: PoolIndex | None = None,
        ground: Ground | None = None,
    ) -> None:
        """``pools`` and ``ground`` are the world's, for whoever asks for many nodes of it."""
        self._ground = ground_of(world, matches) if ground is None else ground
        index = pools_of(world, self._ground) if pools is None else pools
        self._site = index.site(world.node_named(node))
        self._prepared: dict[ClaimSpec, _Prepared] = {}
        self._last: tuple[ClaimSpec, _Prepared] | None = None

    def allocate(self, claim: ClaimSpec, taken: Set[DeviceId] | Taken = _NOBODY) -> Allocation | NoFit:
        """The first complete solution, or the reasons why there is none."""
        fault = self.fault_of(claim)
        if fault is not None:
            return NoFit(error=fault)
        held = taken if isinstance(taken, Taken) else Taken(taken)
        try:
            attempt = self.attempt(claim, held)
            if attempt.error is not None:
                raise attempt.error
            if attempt.allocations is not None:
                return attempt.allocations[0]
            waiting = self._is_unfinished or self.find(claim, Taken()) is not None
            return self._refusal(claim, held, attempt, waiting=waiting)
        except AllocationError as error:
            return NoFit(error=error.text)

    def find(self, claim: ClaimSpec, taken: Taken) -> Allocation | None:
        """The first complete solution, or None without the reasons; AllocationError when one is met."""
        plain = self._prepare(claim, taken).plain
        if plain is not None:
            return plain.find(taken)
        attempt = self.attempt(claim, taken)
        if attempt.error is not None:
            raise attempt.error
        return None if attempt.allocations is None else attempt.allocations[0]

    def attempt(self, claim: ClaimSpec, taken: Taken) -> Attempt:
        """The search itself; an error that keeps other nodes from nothing is no solution here.

        AllocationError where the claim can never be right.
        """
        prepared = self._prepare(claim, taken)
        if prepared.plain is not None:
            found = prepared.plain.find(taken)
            return Attempt(None if found is None else (found,))
        attempt = search_for([prepared.ready], self._site, taken, self._ground, counting=False)
        if attempt.error is not None and attempt.error.only_this_node:
            attempt.error = None
        return attempt

    def fault_of(self, claim: ClaimSpec) -> str | None:
        """What is wrong with the claim on any node, before any device is looked at."""
        for request in claim.requests:
            for sub in request.alternatives:
                wrong = self._fault_of_request(sub.exactly)
                if wrong is not None:
                    name = f"{request.name}/{sub.name}" if request.first_available else request.name
                    return f"request {name}: {wrong}"
        return None

    def _fault_of_request(self, exact: ExactRequest) -> str | None:
        if exact.device_class not in self._ground.classes:
            return f"device class {exact.device_class} does not exist"
        if exact.mode == AllocationMode.EXACT_COUNT and exact.count < 1:
            return "count must be greater than zero"
        return None

    def _prepare(self, claim: ClaimSpec, taken: Taken) -> _Prepared:
        if self._last is not None and self._last[0] is claim:
            return self._last[1]
        known = self._prepared.get(claim)
        if known is not None:
            self._last = claim, known
            return known
        (ready,) = make_ready([NamedClaim("", claim)], self._site, self._ground, taken)
        prepared = _Prepared(ready, plain_of(ready, self._ground))
        if not wants_all(claim):  # what is all there is depends on what is taken
            self._prepared[claim] = prepared
        return prepared

    @property
    def _is_unfinished(self) -> bool:
        return any(pool.state is PoolState.INCOMPLETE for pool in self._site.pools)

    def _refusal(self, claim: ClaimSpec, taken: Taken, attempt: Attempt, *, waiting: bool) -> NoFit:
        ready = self._prepare(claim, taken).ready
        trial = Trial([ready], self._site, self._ground, taken)
        funnels = [self._funnel(want, taken, trial) for wants in ready.requests for want in wants]
        notes = [constraints.words(constraint) for constraint in claim.constraints]
        for pool in self._site.pools:
            if pool.state in _POOL_WORDS:
                why = f": {pool.why}" if pool.why else ""
                notes.append(f"pool {pool} is {_POOL_WORDS[pool.state]}{why}")
        if attempt.times_out:
            notes.append(_TIMES_OUT)
        return NoFit(tuple(funnels), waiting=waiting, notes=tuple(notes))

    def _funnel(self, want: Want, taken: Taken, trial: Trial) -> Funnel:
        """Each device under the first thing that puts it aside."""
        of_class = self._ground.suiting.suited(ExactRequest(want.exact.device_class), self._site)
        seen, suited = len(self._site.ids), want.suited.candidates
        large = [number for number in suited if self._could_ever_hold(want, number)]
        allowed = [number for number in large if number not in want.tainted]
        held = [] if want.is_admin else [each for each in allowed if self._site.ids[each] in taken.devices]
        lacking = [each for each in allowed if each not in held and not trial.could_give(want, each)]
        return Funnel(
            request=want.name,
            device_class=want.exact.device_class,
            needed=want.count,
            seen=seen,
            other_class=seen - len(of_class.candidates),
            refused=len(of_class.candidates) - len(suited),
            small=len(suited) - len(large),
            tainted=len(large) - len(allowed),
            taken=len(held),
            lacking=len(lacking),
        )

    def _could_ever_hold(self, want: Want, number: int) -> bool:
        if not self._ground.features.consumable_capacity:
            return True
        demand = want.demand(number)
        return demand is not None and demand.fits({}, {})


def wants_all(claim: ClaimSpec) -> bool:
    """Whether a request is for every device."""
    return any(
        sub.exactly.mode == AllocationMode.ALL for request in claim.requests for sub in request.alternatives
    )
