"""What of a world a claim can have, and why not the rest: a value, for ``claim``, ``check`` and ``run``.

For each alternative a funnel: how many devices there are, and how many are left after each clause. Where none
is left, the nearest device, what it is short of, and the value that would fit, found by trying it: memory is
rounded down to what fits and never up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Final

from allotment.devices.allocation.rules import attribute_of, concerns, value_of
from allotment.devices.claims import Allocation, ClaimSpec, Constraint, ExactRequest, Request, SubRequest
from allotment.devices.classes import CPU_CLASS
from allotment.devices.fleet import Fleet, Placed
from allotment.devices.inventory import inventory
from allotment.devices.known_classes import CPU_DRIVER
from allotment.devices.read_allocations import allocation_of
from allotment.devices.selectors import Matcher, SelectorError, evaluate
from allotment.devices.slices import DeviceId
from allotment.devices.taint_rules import tainted
from allotment.devices.validation.claims import ADMIN_LABEL
from allotment.devices.world import World
from allotment.needs.clauses import Candidate, Clause, Kind, clauses_of, failed_words
from allotment.needs.nearest import Nearest, nearest_of
from allotment.needs.oddities import oddities
from allotment.needs.same import same_words
from allotment.needs.words import describe, request_words

MOST_PODS: Final = 10_000  # counted one by one: who has room for more need not know for how many
_NOBODY: Final[Set[DeviceId]] = frozenset()


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a funnel: a clause in words, and how many devices are left after it."""

    words: str
    left: int


@dataclass(frozen=True, slots=True)
class Alike:
    """Devices that would do and are alike: so many of this card with this memory, on these nodes."""

    card: str
    kind: str
    memory: int | None
    count: int
    free: int
    where: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AlternativeFit:
    """One way to meet the claim. ``left`` devices would do together, ``free`` of them now.

    ``nearest`` is set where nothing would do, ``fault`` where a selector cannot be evaluated or the class is
    not there.
    """

    name: str
    words: str
    count: int
    steps: tuple[Step, ...]
    alike: tuple[Alike, ...]
    free: int
    nearest: Nearest | None = None
    fault: str | None = None

    @property
    def left(self) -> int:
        """How many devices would do, taken or not."""
        return self.steps[-1].left if self.steps else 0


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer. ``pods`` fit at once into what is free, ``pods_ever`` into an empty world.

    ``without_end``: such a claim takes nothing from anybody, so that any number of them fit.
    """

    claim: str
    alternatives: tuple[AlternativeFit, ...]
    pods: int
    pods_ever: int
    notes: tuple[str, ...] = ()
    without_end: bool = False

    @property
    def fits_now(self) -> bool:
        """Whether one pod can be placed now."""
        return self.pods > 0

    @property
    def fits_ever(self) -> bool:
        """Whether one pod could be placed if nothing were taken."""
        return self.pods_ever > 0


def explain(
    claim: ClaimSpec, world: World, taken: Set[DeviceId] = _NOBODY, matches: Matcher = evaluate
) -> Explanation:
    """What of the world the claim can have while ``taken`` is in use, and why not the rest."""
    held = frozenset(taken) | world.held().keys()
    given = [each for each in (allocation_of(claim.status) for claim in world.claims) if each is not None]
    look = _Look(claim, world, held, matches)
    pods = _pods(claim, world, held, given, matches)
    return Explanation(
        claim=describe(claim),
        alternatives=tuple(
            look.alternative(request, sub) for request in claim.requests for sub in request.alternatives
        ),
        pods=pods,
        pods_ever=_pods(claim, world, _NOBODY, (), matches) if held or given else pods,
        notes=(*admin_notes(claim), *oddities(world, look.candidates)),
        without_end=only_admin(claim),
    )


def only_admin(claim: ClaimSpec) -> bool:
    """Whether a claim asks for nothing but to look at devices that others have."""
    subs = [sub for request in claim.requests for sub in request.alternatives]
    return bool(subs) and all(sub.exactly.admin_access for sub in subs)


def admin_notes(claim: ClaimSpec) -> Iterator[str]:
    """What has to be known of a claim with the access of administrators."""
    if any(sub.exactly.admin_access for request in claim.requests for sub in request.alternatives):
        yield (
            "access of administrators takes devices from nobody, and the API server allows it only in a "
            f'namespace with the label {ADMIN_LABEL}: "true"'
        )


class _Look:
    """One look at a world with a claim in hand."""

    def __init__(self, claim: ClaimSpec, world: World, held: Set[DeviceId], matches: Matcher) -> None:
        self._claim = claim
        self._world = world
        self._held = held
        self._matches = matches
        devices = {
            published.device_id(device): device
            for published in tainted(world.slices, world.taint_rules)
            for device in published.devices
        }
        listed = inventory(world, dict.fromkeys(held, "taken"))
        self.candidates = [Candidate(each.id.driver, devices[each.id], each) for each in listed]

    def alternative(self, request: Request, sub: SubRequest) -> AlternativeFit:
        """What there is for one alternative."""
        exact = sub.exactly
        processors = exact.device_class == CPU_CLASS
        devices = [each for each in self.candidates if (each.driver == CPU_DRIVER) is processors]
        noun = "processor" if processors else "device"
        steps = [Step(noun if len(devices) == 1 else f"{noun}s", len(devices))]
        words = request_words(exact)
        if exact.device_class not in self._world.classes:
            fault = f"there is no device class `{exact.device_class}`"
            return AlternativeFit(sub.name, words, exact.count, tuple(steps), (), 0, fault=fault)
        clauses, left = clauses_of(exact, self._world), devices
        try:
            for clause in clauses:
                remaining = [each for each in left if _holds(clause, each, self._matches)]
                if left and (clause.kind in _ALWAYS_SAID or len(remaining) < len(left)):
                    steps.append(Step(clause.words, len(remaining)))
                left = remaining
        except SelectorError as error:
            return AlternativeFit(sub.name, words, exact.count, tuple(steps), (), 0, fault=str(error))
        name = f"{request.name}/{sub.name}"
        common = [each for each in self._claim.constraints if concerns(each, request.name, name)]
        together = _together(left, exact, common)
        if exact.count > 1 and left:
            shared = "".join(f", {same_words(each)}" for each in common)
            steps.append(Step(f"are {exact.count} or more on one node{shared}", len(together)))
        return AlternativeFit(
            name=sub.name,
            words=words,
            count=exact.count,
            steps=tuple(steps),
            alike=tuple(_alike(together, self._held)),
            free=sum(each.listed.id not in self._held for each in together),
            nearest=None if together else nearest_of(exact, clauses, devices, left, self._matches),
        )


def _holds(clause: Clause, candidate: Candidate, matches: Matcher) -> bool:
    try:
        return clause.holds(candidate, matches)
    except SelectorError as error:
        listed = candidate.listed
        said = failed_words(clause, candidate, error, matches)
        raise SelectorError(f"{said} (on {listed.id.device} of {listed.where})") from error


_ALWAYS_SAID: Final = frozenset({Kind.CLASS, Kind.MEMORY, Kind.CARD, Kind.SELECT})


def _together(
    left: Sequence[Candidate], exact: ExactRequest, common: Sequence[Constraint]
) -> list[Candidate]:
    """Those of the devices that are enough on one node, and have in common what they must."""
    if exact.count <= 1:
        return list(left)
    kept: list[Candidate] = []
    for here in _by_node(left):
        groups = [here]
        for constraint in common:
            groups = [part for group in groups for part in _parts(group, constraint)]
        kept += [each for group in groups if len(group) >= exact.count for each in group]
    return kept


def _by_node(left: Iterable[Candidate]) -> Iterator[list[Candidate]]:
    nodes: dict[str, list[Candidate]] = {}
    for each in left:
        nodes.setdefault(each.listed.where, []).append(each)
    yield from nodes.values()


def _parts(group: list[Candidate], constraint: Constraint) -> list[list[Candidate]]:
    """The devices of a group by the value that they must share; those that must differ stay together."""
    if constraint.match_attribute is None:
        return [group]
    attribute = attribute_of(constraint) or ""
    parts: dict[object, list[Candidate]] = {}
    for each in group:
        value = value_of(attribute, each.listed.id, each.device, lists=False)
        if value is not None:
            parts.setdefault(value, []).append(each)
    return list(parts.values())


def _alike(devices: Sequence[Candidate], held: Set[DeviceId]) -> Iterator[Alike]:
    """The devices by what they are, the most first."""
    groups: dict[tuple[str, str, str, int], list[Candidate]] = {}
    for each in devices:
        groups.setdefault(each.listed.likeness, []).append(each)
    for group in sorted(groups.values(), key=len, reverse=True):
        first = group[0].listed
        free = sum(each.listed.id not in held for each in group)
        where = tuple(dict.fromkeys(each.listed.where for each in group))
        yield Alike(first.card, first.kind, first.memory, len(group), free, where)


def _pods(
    claim: ClaimSpec, world: World, held: Set[DeviceId], given: Iterable[Allocation], matches: Matcher
) -> int:
    """How many such claims fit at once; at most as many as are worth counting."""
    fleet = Fleet(world, taken=held, matches=matches)
    for allocation in given:
        fleet.hold(allocation)
    count = 0
    most = 1 if only_admin(claim) else MOST_PODS
    while count < most and isinstance(fleet.place(claim), Placed):
        count += 1
    return count
