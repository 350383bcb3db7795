"""Which nodes have cards, and whether pods that want cards may and can go there.

A node has cards if it says so by label, gives them through a device plugin, or publishes slices of a known
driver. Facts: labels of NVIDIA's GPU feature discovery and of node feature discovery (PCI vendor 10de); KAI
0.17 gives parts of cards only where a device plugin counts them and ``nvidia.com/gpu.memory`` is said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.answers import Answer, fine, note, problem
from allotment.devices.known_classes import AMD_DRIVER, INTEL_DRIVER, NVIDIA_DRIVER
from allotment.kubernetes import kinds
from allotment.kubernetes.follow.fields import is_true, items, mapping, name, text
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.ready.seen import Seen, listed
from allotment.kubernetes.render.names import ROOT
from allotment.needs.ways.node_labels import MEMORY
from allotment.pictures.counts import counted

TAINTS: Final = "taints"
LAYOUT: Final = "layout"
FRACTIONS: Final = "fractions"
COUNTED: Final = "nvidia.com/gpu"

DRIVERS: Final[Mapping[str, str]] = {
    NVIDIA_DRIVER: "nvidia.com/",
    AMD_DRIVER: "amd.com/",
    INTEL_DRIVER: "gpu.intel.com/",
}
"""Drivers, and the names below which device plugins of the same maker count."""

LABELS: Final[Mapping[str, tuple[str, ...]]] = {
    NVIDIA_DRIVER: ("nvidia.com/gpu.present", "feature.node.kubernetes.io/pci-10de.present"),
    AMD_DRIVER: ("amd.com/gpu.present", "feature.node.kubernetes.io/amd-gpu"),
    INTEL_DRIVER: ("intel.feature.node.kubernetes.io/gpu",),
}
BLOCKING: Final = frozenset({"NoSchedule", "NoExecute"})
PASSING: Final = "node.kubernetes.io/"


def with_cards(seen: Seen) -> Mapping[str, set[str]]:
    """The nodes that have cards by label or by a device plugin, by the driver of their maker."""
    found: dict[str, set[str]] = defaultdict(set)
    for node in seen.snapshot.of(kinds.NODE):
        labels = mapping(node, "metadata", "labels")
        for maker, prefix in DRIVERS.items():
            said = any(labels.get(label) == "true" for label in LABELS[maker])
            if said or any(each.startswith(prefix) and amount(node, each) > 0 for each in _amounts(node)):
                found[maker].add(name(node))
    return found


def publishing(seen: Seen) -> dict[str, set[str]]:
    """The nodes of which a known driver publishes devices."""
    found: dict[str, set[str]] = defaultdict(set)
    for each in seen.snapshot.of(kinds.SLICE):
        maker = text(each, "spec", "driver")
        if maker in DRIVERS and items(each, "spec", "devices"):
            found[maker].add(text(each, "spec", "nodeName") or text(each, "spec", "pool", "name"))
    return dict(found)


def all_with_cards(seen: Seen) -> frozenset[str]:
    """Every node that has cards, by any sign."""
    return frozenset().union(*with_cards(seen).values(), *publishing(seen).values())


def taints(seen: Seen) -> Iterator[Answer]:
    """Whether pods may go to the nodes with cards: what is rendered tolerates nothing by itself."""
    if not seen.can_tell(kinds.NODE):
        return
    tolerated = _tolerations(seen)
    nodes = all_with_cards(seen)
    closed: dict[str, list[str]] = defaultdict(list)
    cordoned: list[str] = []
    for node in seen.snapshot.of(kinds.NODE):
        if name(node) not in nodes:
            continue
        if is_true(node, "spec", "unschedulable"):
            cordoned.append(name(node))
        for taint in items(node, "spec", "taints"):
            if _blocks(taint) and not any(_covers(each, taint) for each in tolerated):
                closed[_words(taint)].append(name(node))
    if cordoned:
        number = counted(len(cordoned), "node")
        yield note(TAINTS, f"{number} with cards cordoned: {listed(sorted(cordoned))}")
    for taint_words, names in sorted(closed.items()):
        number = f"{len(set(names))} of {counted(len(nodes), 'node')} with cards"
        words = f"{number} bear the taint {taint_words}, which"
        remedy = "take the taint away (kubectl taint nodes NAME KEY-)"
        if seen.with_kueue:
            remedy += f", or write a toleration into the ResourceFlavor {ROOT}, which puts it into pods"
        say = problem if set(names) == nodes else note
        yield say(TAINTS, f"{words} no pod of ours tolerates: {listed(sorted(set(names)))}", remedy)
    if nodes and not closed:
        yield fine(TAINTS, f"pods may go to every node with cards ({len(nodes)})")


def layout(seen: Seen) -> Iterator[Answer]:
    """Whether every node with cards says where it stands, as the platform's layout has it."""
    if not seen.can_tell(kinds.NODE) or not seen.platform.topology:
        return
    nodes = [node for node in seen.snapshot.of(kinds.NODE) if name(node) in all_with_cards(seen)]
    faults = 0
    for level in seen.platform.topology:
        silent = sorted(name(node) for node in nodes if not text(node, "metadata", "labels", level.label))
        if silent:
            faults += 1
            number = counted(len(silent), "node")
            words = f"{number} with cards without the label {level.label}: {listed(silent)}"
            becomes = f"nothing that asks for `topology` by {level.name} goes there"
            yield note(LAYOUT, f"{words}; {becomes}", f"kubectl label node NAME {level.label}=VALUE")
    if nodes and not faults:
        levels = ", ".join(level.name for level in seen.platform.topology)
        yield fine(LAYOUT, f"every node with cards says its place: {levels}")


def may_share(seen: Seen) -> bool:
    """Whether KAI is to give parts of cards."""
    return seen.with_kai and "fraction" in seen.platform.sharing


def fractions(seen: Seen) -> Iterator[Answer]:
    """Whether KAI can give parts of cards: it counts them by a device plugin, and knows their memory."""
    if not may_share(seen) or not seen.can_tell(kinds.NODE):
        return
    countable = [node for node in seen.snapshot.of(kinds.NODE) if amount(node, COUNTED) > 0]
    if not countable:
        words = f"no node has {COUNTED} of a device plugin, and KAI gives parts of no other cards"
        remedy = "run the device plugin on some nodes in the place of the DRA driver, or share otherwise"
        yield problem(FRACTIONS, words, remedy)
        return
    silent = sorted(name(node) for node in countable if not text(node, "metadata", "labels", MEMORY))
    if silent:
        number = counted(len(silent), "node")
        words = f"{number} without the label {MEMORY}, where shares by memory fail: {listed(silent)}"
        yield note(FRACTIONS, words, "run NVIDIA's GPU feature discovery there")
    yield fine(FRACTIONS, f"{counted(len(countable), 'node')} with cards that KAI can give in parts")


def _tolerations(seen: Seen) -> list[Mapping[str, Any]]:
    """What Kueue's flavor puts into the pods that it admits."""
    flavor = seen.snapshot.named(kinds.FLAVOR, ROOT) if seen.with_kueue else None
    return list(items(flavor, "spec", "tolerations"))


def _blocks(taint: Mapping[str, Any]) -> bool:
    """Whether it keeps pods away, and is not the cluster's own sign of a condition that passes."""
    return text(taint, "effect") in BLOCKING and not text(taint, "key").startswith(PASSING)


def _words(taint: Mapping[str, Any]) -> str:
    value = f"={text(taint, 'value')}" if text(taint, "value") else ""
    return f"{text(taint, 'key')}{value}:{text(taint, 'effect')}"


def _covers(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("effect") not in {None, "", taint.get("effect")}:
        return False
    key = toleration.get("key")
    if toleration.get("operator") == "Exists":
        return not key or key == taint.get("key")
    return bool(key == taint.get("key") and (toleration.get("value") or "") == (taint.get("value") or ""))


def _amounts(node: Object) -> Mapping[str, str]:
    return {**mapping(node, "status", "capacity"), **mapping(node, "status", "allocatable")}


def amount(node: Object, resource: str) -> int:
    """How many of a resource a node has."""
    said = str(_amounts(node).get(resource, "0"))
    return int(said) if said.isdigit() else 0
