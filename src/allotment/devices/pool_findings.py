"""What slices say about each other: pools that are not whole, and cards that are published twice.

Each slice may be right alone. A pool's newest generation counts once all of its slices are there, and names
are unique in a pool (``pools``). A card that is published whole and in parts without counters, or once for
containers and once for virtual machines, looks like two: NVIDIA's driver did the first up to 25.8 with static
MIG, and does the second with passthrough.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from allotment.devices.nodes import Node
from allotment.devices.slices import Device, ResourceSlice
from allotment.documents.checking import Place
from allotment.errors import Severity, did_you_mean

_BUS_IDS: Final = ("resource.kubernetes.io/pciBusID", "pciBusID", "pcieBusID")
_PARENT: Final = "parentUUID"
_PLUGIN: Final = {"gpu.nvidia.com": "nvidia.com/gpu", "gpu.amd.com": "amd.com/gpu"}


class PlacedSlice(NamedTuple):
    """A slice, and its object's place in a file."""

    slice: ResourceSlice
    place: Place

    @property
    def pool_place(self) -> Place:
        """Where it says which pool it is part of."""
        return self.place / "spec" / "pool"

    @property
    def pool_words(self) -> str:
        """The pool as messages name it."""
        return f"{self.slice.driver}/{self.slice.pool.name}"

    def device_place(self, number: int) -> Place:
        """The place of one of its devices."""
        return self.place / "spec" / "devices" / number


def find_in_pools(slices: Sequence[PlacedSlice], unread_pools: Iterable[tuple[str, str]] = ()) -> None:
    """Tell what is wrong with pools; ``unread_pools`` are those of slices that could not be read."""
    unread = set(unread_pools)
    pools: dict[tuple[str, str], list[PlacedSlice]] = defaultdict(list)
    for each in slices:
        pools[each.slice.driver, each.slice.pool.name].append(each)
    for key, pool in pools.items():
        newest = max(each.slice.pool.generation for each in pool)
        current = [each for each in pool if each.slice.pool.generation == newest]
        for each in pool:
            if each not in current:
                _tell_obsolete(each, newest)
        if key in unread:
            continue
        if _tell_incomplete(current):
            _tell_unknown_counters(current)
        if not _tell_double_names(current):
            _tell_double_cards(current)


def find_counted_twice(
    slices: Iterable[PlacedSlice], nodes: Mapping[str, Node], extended: Iterable[str | None]
) -> None:
    """Tell of nodes whose cards a device plugin counts as well; ``extended`` names are the classes' own."""
    ours, told = set(extended), set()
    for each in slices:
        resource = _PLUGIN.get(each.slice.driver, "")
        node = nodes.get(each.slice.node_name or "")
        if node is None or node.name in told or resource in ours:
            continue
        count = node.allocatable.get(resource, "0")
        if count != "0":
            told.add(node.name)
            words = (
                f"node `{node.name}` publishes its cards in slices, and as {resource}: {count} "
                "from a device plugin; each would be given twice"
            )
            (each.place / "spec").found(
                "counted-twice",
                words,
                "let one of the two serve the node",
                severity=Severity.WARNING,
            )


def _tell_obsolete(each: PlacedSlice, newest: int) -> None:
    generation = each.slice.pool.generation
    words = (
        f"slice `{each.slice.name}` is of generation {generation} of pool {each.pool_words}, and generation "
        f"{newest} is there: it is obsolete, and its devices are not there"
    )
    (each.pool_place / "generation").found("pool-obsolete", words, severity=Severity.NOTE)


def _tell_incomplete(current: Sequence[PlacedSlice]) -> bool:
    """Whether all slices are there."""
    first = current[0]
    expected, seen = first.slice.pool.resource_slice_count, len(current)
    if expected == seen:
        return True
    name, generation = first.pool_words, first.slice.pool.generation
    if seen < expected:
        words = f"pool {name} is incomplete: {seen} of {expected} slices of generation {generation} are there"
        hint = "no device of it is given until the driver has published the rest; or the file has not all"
    else:
        words = f"pool {name} has {seen} slices of generation {generation}, and says {expected}"
        hint = "no device of it is given until the driver has removed what is old"
    (first.pool_place / "resourceSliceCount").found("pool-incomplete", words, hint, severity=Severity.WARNING)
    return False


def _tell_double_names(current: Sequence[PlacedSlice]) -> bool:
    """Whether two devices have one name."""
    seen: set[str] = set()
    for each in current:
        for number, device in enumerate(each.slice.devices):
            if device.name in seen:
                words = f"pool {each.pool_words} is invalid: it has two devices named `{device.name}`"
                hint = "no device of it is given; the driver's log says how it came to that"
                place = each.device_place(number) / "name"
                place.found("pool-invalid", words, hint, severity=Severity.WARNING)
                return True
            seen.add(device.name)
    return False


def _tell_unknown_counters(current: Sequence[PlacedSlice]) -> None:
    known = {shared.name: shared for each in current for shared in each.slice.shared_counters}
    for each in current:
        for number, device in enumerate(each.slice.devices):
            for at, consumption in enumerate(device.consumes_counters):
                name, pool = consumption.counter_set, each.pool_words
                place = each.device_place(number) / "consumesCounters" / at
                if name not in known:
                    words = (
                        f"device `{device.name}` takes from `{name}`, and pool {pool} has no such counter set"
                    )
                    place /= "counterSet"
                    hint = did_you_mean(name, known)
                    place.found("unknown-counter-set", words, hint, severity=Severity.WARNING)
                    continue
                for counter in sorted(consumption.counters.keys() - known[name].counters.keys()):
                    words = (
                        f"device `{device.name}` takes `{counter}`, and the set `{name}` has no such counter"
                    )
                    hint = did_you_mean(counter, known[name].counters)
                    place.found("unknown-counter-set", words, hint, severity=Severity.WARNING)


def _tell_double_cards(current: Sequence[PlacedSlice]) -> None:
    """Devices without counters that are one card: by their place on the bus, or by the parent's id."""
    by_card: dict[str, list[tuple[PlacedSlice, int, Device]]] = defaultdict(list)
    for each in current:
        for number, device in enumerate(each.slice.devices):
            if device.consumes_counters or device.allow_multiple_allocations:
                continue
            for card in _cards_of(device):
                by_card[card].append((each, number, device))
    told: set[str] = set()
    for members in by_card.values():
        whole = [member for member in members if _PARENT not in member[2].attributes]
        parts = len(members) - len(whole)
        if not whole or len(members) == 1 or whole[0][2].name in told:
            continue
        told.update(device.name for _, _, device in members)
        each, number, device = whole[-1] if len(whole) > 1 else whole[0]
        names = " and ".join(f"`{member[2].name}`" for member in whole)
        others = f"{names} and {parts} of its parts" if parts else names
        words = f"{others} in pool {each.pool_words} are one card: a scheduler may give it twice"
        hint = (
            "the driver publishes the card beside its parts (NVIDIA's did up to 25.8): update it"
            if parts
            else "ask for one type only in the class or the selector"
        )
        each.device_place(number).found("listed-twice", words, hint, severity=Severity.WARNING)


def _cards_of(device: Device) -> Iterator[str]:
    for key in _BUS_IDS:
        if isinstance(found := device.attributes.get(key), str) and found:
            yield found
            break
    own = device.attributes.get(_PARENT) or device.attributes.get("uuid")
    if isinstance(own, str) and own:
        yield own
