"""Devices and memory of this machine while they are given out, one after the other.

Devices only become fewer while a decision is taken, so that a claim that did not fit is not tried again; only
a gang that did not come together gives back what it had.

Cards are given whole or in parts of their memory. The two are looked at side by side: in one view a card of
which anything is given is gone, in the other it has so much less.

Parts are packed: a part of a card, by its memory or by MIG, comes from a card of which something is in use
already, if one has it, so that whole cards stay free for who needs them whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from allotment.devices.card_shares import MEMORY, cut_cards, memory_of_cards, shareable, unshared
from allotment.devices.claims import Allocation, ClaimSpec
from allotment.devices.fleet import Fleet, Placed
from allotment.devices.funnel import NoFit
from allotment.devices.slices import DeviceId
from allotment.devices.world import World
from allotment.quantities import format_gi
from allotment.scheduling.local_state import CampaignQueue, LocalState, Queue, WaitReason


class Desk:
    """What is left to give."""

    def __init__(self, state: LocalState) -> None:
        self._world = state.world
        self._shares = state.shares
        self._whole = unshared(state.world)
        self._native = _held_by_several(self._whole) if state.shares else frozenset()
        self._fleet = self._fleet_with(state.taken)
        self._parts = self._parts_with(state) if _asks_for_parts(state) else None
        self._total_memory = None if state.free_memory is None else state.world.memory_bytes
        self._free_memory = state.free_memory
        self._refused: dict[ClaimSpec, NoFit] = {}
        self._cut_cards = cut_cards(state.world)
        self._cards_in_parts = [(device,) for device in memory_of_cards(state.world)] if self._parts else []

    def _fleet_with(self, taken: Collection[DeviceId]) -> Fleet:
        """Devices as they are published, cards whole, with what is held in shares out of reach."""
        fleet = Fleet(self._whole, taken=taken)
        for device, amount in self._shares:
            if device in self._native:
                fleet.take_share(device, {MEMORY: amount})
            else:
                fleet.take((device,))
        return fleet

    def _parts_with(self, state: LocalState) -> Fleet:
        """Cards as they can be shared, with what is left of each."""
        fleet = Fleet(shareable(state.world), taken=state.taken)
        for device, amount in self._shares:
            fleet.take_share(device, {MEMORY: amount})
        return fleet

    def after(self, freed: Collection[DeviceId]) -> Fleet:
        """Whole devices once these are free that are taken now."""
        return self._fleet_with(self.taken - frozenset(freed))

    @property
    def taken(self) -> frozenset[DeviceId]:
        """The devices that are not free any more."""
        return frozenset(self._fleet.taken)

    @property
    def free_memory(self) -> int | None:
        """Bytes that nobody has set aside; None when memory is not looked at."""
        return self._free_memory

    def give(self, queue: Queue) -> Allocation | None:
        """Devices and memory for one more of it, or nothing when either is missing."""
        if self._memory_missing(queue.memory_bytes):
            return None
        answer = self._place(queue)
        if isinstance(answer, NoFit):
            return None
        self._set_aside(queue.memory_bytes)
        return answer

    def give_together(self, queue: Queue, least: int, most: int) -> tuple[Allocation, ...]:
        """Devices and memory for at least so many of it and at most so many, all at once, or nothing."""
        given: list[Allocation] = []
        while len(given) < most and not self._memory_missing(queue.memory_bytes):
            answer = self._fleet.place(queue.claim)
            if isinstance(answer, NoFit):
                break
            given.append(answer.allocation)
            self._mirror(answer.allocation, self._parts)
            self._set_aside(queue.memory_bytes)
        if len(given) >= least:
            return tuple(given)
        for allocation in given:
            self._fleet.release(allocation)
            if self._parts is not None:
                self._parts.give_back(allocation.ids)
            self._set_aside(-queue.memory_bytes)
        return ()

    def hold(self, queue: Queue, allocation: Allocation) -> None:
        """Let it have what was given to it at another desk."""
        view = self._view(queue)
        view.hold(allocation)
        self._mirror(allocation, self._parts if view is self._fleet else self._fleet)
        self._set_aside(queue.memory_bytes)

    def free(self, ids: Collection[DeviceId], memory: int) -> None:
        """Have these devices again, that somebody held whole, and so much memory."""
        self._fleet.give_back(ids)
        if self._parts is not None:
            self._parts.give_back(ids)
        self._set_aside(-memory)
        self._refused.clear()

    def keep(self, ids: Iterable[DeviceId], memory: int) -> None:
        """Give these free devices, and so much memory, to nobody who comes later."""
        kept = tuple(ids)
        self._fleet.take(kept)
        if self._parts is not None:
            self._parts.take(kept)
        self._set_aside(memory)

    def why_not(self, queue: Queue, together: int = 1) -> tuple[WaitReason, str]:
        """What keeps so many of it from starting at once, and in words."""
        fits, answer = self._how_many(self._view(queue), queue.claim, together)
        if answer is not None and not answer.waiting:
            return WaitReason.NEVER, str(answer)
        if answer is not None and together > 1:
            room, never = self._how_many(Fleet(self._whole), queue.claim, together)
            if never is not None:
                return (
                    WaitReason.NEVER,
                    f"{together} are to start together, and the machine has room for {room}",
                )
        memory = queue.memory_bytes * together
        if self._total_memory is not None and memory > self._total_memory:
            total = format_gi(self._total_memory)
            return WaitReason.NEVER, f"{format_gi(memory)} of memory needed, the machine has {total}"
        if answer is not None:
            rest = f" for {together - fits} of {together} that start together" if together > 1 else ""
            return WaitReason.DEVICES, f"{answer}{rest}"
        free = format_gi(max(0, self._free_memory or 0))
        return WaitReason.MEMORY, f"{format_gi(memory)} of memory needed, {free} free"

    def _how_many(self, fleet: Fleet, claim: ClaimSpec, wanted: int) -> tuple[int, NoFit | None]:
        """How many of the claim would fit, up to so many, and what the next one lacks."""
        if wanted == 1 and claim in self._refused:
            return 0, self._refused[claim]
        placed: list[Allocation] = []
        missing: NoFit | None = None
        while len(placed) < wanted and missing is None:
            answer = fleet.place(claim)
            if isinstance(answer, NoFit):
                missing = answer
            else:
                placed.append(answer.allocation)
        for allocation in placed:
            fleet.release(allocation)
        return len(placed), missing

    def _view(self, queue: Queue) -> Fleet:
        """The devices as this one may have them."""
        shared = isinstance(queue, CampaignQueue) and queue.shared
        return self._parts if shared and self._parts is not None else self._fleet

    def _place(self, queue: Queue) -> Allocation | NoFit:
        claim, view = queue.claim, self._view(queue)
        known = self._refused.get(claim)
        if known is not None:
            return known
        answer = self._packed(view, claim)
        if isinstance(answer, NoFit):
            answer = view.place(claim)
        if isinstance(answer, NoFit):
            self._refused[claim] = answer
            return answer
        self._mirror(answer.allocation, self._parts if view is self._fleet else self._fleet)
        return answer.allocation

    def _packed(self, view: Fleet, claim: ClaimSpec) -> Placed | NoFit:
        """The claim on cards of which something is in use already."""
        groups = self._cards_in_parts if view is self._parts else self._cut_cards
        used = {*view.taken, *view.in_parts}
        begun = [group for group in groups if not used.isdisjoint(group)]
        if not begun:
            return NoFit()
        fresh = [device for group in groups if used.isdisjoint(group) for device in group]
        view.take(fresh)
        answer = view.place(claim)
        view.give_back(fresh)
        return answer

    def _mirror(self, allocation: Allocation, other: Fleet | None) -> None:
        """What was given in one view is not there in the other."""
        if other is not None:
            other.take(result.id for result in allocation.results if not result.admin_access)

    def _memory_missing(self, memory: int) -> bool:
        return self._free_memory is not None and memory > max(0, self._free_memory)

    def _set_aside(self, memory: int) -> None:
        if self._free_memory is not None:
            self._free_memory -= memory


def _asks_for_parts(state: LocalState) -> bool:
    """Whether a part of a card may be given to somebody."""
    others = () if state.sharing is None else state.sharing.others
    queues: list[Queue] = [*state.campaigns, *(ask.queue for ask in others)]
    return any(isinstance(each, CampaignQueue) and each.shared for each in queues)


def fallback_words(claim: ClaimSpec, allocation: Allocation) -> str:
    """In words, which alternative of the claim was taken when it is not the first."""
    later = {
        f"{request.name}/{sub.name}" for request in claim.requests for sub in request.first_available[1:]
    }
    instead = sorted({result.request for result in allocation.results} & later)
    return f", with the fallback {', '.join(instead)}" if instead else ""


def _held_by_several(world: World) -> frozenset[DeviceId]:
    """The devices that are published so that several may hold them."""
    return frozenset(id_ for id_, device in world.devices() if device.allow_multiple_allocations)
