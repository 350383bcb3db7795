"""The claim of whatever states a need, as it would be made for this world, and the need in other ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from allotment.devices.claims import ClaimSpec
from allotment.devices.classes import DeviceClass
from allotment.devices.world import World
from allotment.errors import AllotmentError, FindingsError, Severity
from allotment.needs import claim_for, need_findings
from allotment.needs.cards import classes_for
from allotment.needs.cluster import for_cluster
from allotment.needs.limits import faults_of
from allotment.needs.ways import Scope, way_of
from allotment.needs.ways.choosing import able
from allotment.needs.ways.share import asked_bytes
from allotment.needs.ways.shares_here import BY_PART, ShareHere, shares_here
from allotment.planning.why.guess import ChangeKind, Other
from allotment.platform.model import Platform
from allotment.platform.need import WHOLE, MemoryRange, Need
from allotment.repository.model import HasNeed

_KUBERNETES = "kubernetes"
_TO_WHOLE = 0.1  # a pod gets all that it asks for, and more
_TO_ANOTHER = 0.6


@dataclass(frozen=True, slots=True)
class Asked:
    """What a file asks for. Without a ``claim`` it makes none, and ``given_up`` says why.

    ``classes`` are the platform's own; ``others`` the same need in other ways; ``shares`` are parts of cards,
    which this machine's engine gives out itself.
    """

    claim: ClaimSpec | None
    classes: Mapping[str, DeviceClass] = field(default_factory=dict)
    others: tuple[Other, ...] = ()
    given_up: tuple[str, ...] = ()
    shares: Mapping[str, ShareHere] = field(default_factory=dict)


def asked_of(file: HasNeed, platform: Platform, world: World | None = None, *, here: bool) -> Asked:
    """What the file asks for of this machine (``here``) or of a cluster; FindingsError where it is wrong.

    What is published in the ``world`` of a cluster decides on how a claim is written.
    """
    found = need_findings(file, platform.cards)
    if any(finding.severity is Severity.ERROR for finding in found):
        raise FindingsError(found)
    on_cluster = platform.engine == _KUBERNETES or not here
    need, given_up = for_cluster(file.gpu) if on_cluster else (file.gpu, ())
    if on_cluster and need is None:
        return Asked(None, given_up=given_up)
    by_class = platform.engine == _KUBERNETES
    who = able(platform, None if here else world)

    def claim_of(asked: Need | None) -> ClaimSpec:
        return claim_for(asked, file.resources, platform.cards, by_class=by_class, able=who)

    claim = claim_of(need)
    others = [] if need is None else list(_others(need, platform, claim, claim_of))
    if need is not None and not on_cluster and not any(each.cpu for each in (need, *need.fallback)):
        with suppress(AllotmentError):
            cores = replace(need, fallback=(*need.fallback, Need(cpu=1)))
            words = "add `fallback: [{cpu: 1}]`, for steps that can do without a card"
            others.append(Other(words, claim_of(cores), ChangeKind.FALLBACK))
    return Asked(
        claim,
        {each.name: each for each in classes_for(platform.cards, by_name=who.by_name)} if by_class else {},
        tuple(others),
        given_up,
        {} if on_cluster else shares_here(need, claim, None),
    )


def _others(
    need: Need, platform: Platform, claim: ClaimSpec, claim_of: Callable[[Need | None], ClaimSpec]
) -> Iterator[Other]:
    """The need with the other ways to share a card that the platform lets pipelines use."""
    if need.cpu is not None:
        return
    for word in platform.sharing:
        if word in need.sharing or way_of(word).scope is not Scope.POD:
            continue
        other, also = _without_share(replace(need, sharing=(word,), config=None))
        if any(faults_of(other, platform.cards)):
            continue
        try:
            changed = claim_of(other)
        except AllotmentError:
            continue
        if changed != claim:
            words = f"write `sharing: {word}`{also} (asked: {', '.join(need.sharing)})"
            yield Other(words, changed, size=_TO_WHOLE if word == WHOLE else _TO_ANOTHER)


def _without_share(need: Need) -> tuple[Need, str]:
    """A need whose way gives no parts: the amount that it has of a card is its memory then."""
    if need.share is None or need.sharing[0] in BY_PART:
        return need, ""
    amount, told = asked_bytes(need), need.memory
    if amount is None or (told is not None and max(told.at_least or 0, told.more_than or 0) >= amount):
        return replace(need, share=None), ", and take `share` out"
    memory = replace(told or MemoryRange(), at_least=amount, more_than=None)
    return replace(need, share=None, memory=memory), f" and `memory: {need.share}` instead of `share`"
