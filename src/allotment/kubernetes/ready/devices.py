"""Whether cards can be claimed: every node with cards publishes them, once, and rightly.

A node has cards if it says so by label, gives them through a device plugin, or publishes slices of a known
driver. A card that both a device plugin and a DRA driver give away is given twice. What slices say wrongly
is what the lint of slices finds in them. Facts: labels of NVIDIA's GPU feature discovery and of node feature
discovery (PCI vendor 10de); KEP-5004 for extended names.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.answers import Answer, fine, note, problem
from allotment.devices.known_classes import AMD_DRIVER, INTEL_DRIVER, NVIDIA_DRIVER
from allotment.devices.lint import lint_documents
from allotment.devices.server import Server
from allotment.documents.stream import scan_stream_bytes
from allotment.errors import Finding, Severity
from allotment.kubernetes import kinds
from allotment.kubernetes.follow.fields import is_true, items, mapping, name, text
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.ready.seen import Seen, listed, many
from allotment.kubernetes.render.names import ROOT

CHECK: Final = "driver"
SLICES: Final = "slices"
TAINTS: Final = "taints"
NAMES: Final = "extended names"

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
IN_THE_WAY: Final = frozenset(
    {"counted-twice", "pool-invalid", "listed-twice", "duplicate-uuid", "counters-dropped"}
)
"""Rules of which a device is given twice, or never."""

BLOCKING: Final = frozenset({"NoSchedule", "NoExecute"})
PASSING: Final = "node.kubernetes.io/"


def driver(seen: Seen) -> Iterator[Answer]:
    """Which nodes have cards, and whether a DRA driver publishes those of each."""
    if not seen.can_tell(kinds.SLICE):
        yield note(CHECK, "which devices are published cannot be told: ResourceSlices could not be read")
        return
    publishing = _publishing(seen)
    if not seen.can_tell(kinds.NODE):
        yield note(CHECK, "which nodes have cards and publish none cannot be told: nodes could not be read")
    for maker, nodes in _with_cards(seen).items():
        there = publishing.get(maker, set())
        silent = sorted(nodes - there)
        if silent:
            words = (
                f"{many(len(silent), 'node')} with cards of which {maker} publishes none: {listed(silent)}"
            )
            look = f"kubectl get pods -A -o wide --field-selector spec.nodeName={silent[0]}"
            yield problem(CHECK, words, f"see whether the driver's pods run there: {look}")
    for maker, there in sorted(publishing.items()):
        count = sum(_devices(each, maker) for each in seen.snapshot.of(kinds.SLICE))
        yield fine(CHECK, f"{maker} publishes {many(count, 'device')} of {many(len(there), 'node')}")
    if not publishing:
        remedy = "install the DRA driver of the cards' maker: claims are matched against what it publishes"
        yield problem(CHECK, "no driver of cards publishes anything here", remedy)


def slices(seen: Seen) -> Iterator[Answer]:
    """What is wrong with what is published, each rule once with how often it was found."""
    if not seen.can_tell(kinds.SLICE) or not seen.snapshot.of(kinds.SLICE):
        return
    by_rule: dict[str, list[Finding]] = defaultdict(list)
    for finding in _findings(seen):
        by_rule[finding.rule].append(finding)
    for rule, found in by_rule.items():
        say = problem if rule in IN_THE_WAY or found[0].severity is Severity.ERROR else note
        if found[0].severity is Severity.NOTE:
            continue
        more = f" (and {len(found) - 1} more of `{rule}`)" if len(found) > 1 else ""
        yield say(SLICES, f"{found[0].message}{more}", found[0].hint)
    if not any(each.severity is not Severity.NOTE for found in by_rule.values() for each in found):
        number = many(len(seen.snapshot.of(kinds.SLICE)), "slice")
        yield fine(SLICES, f"{number}, and nothing is wrong with what is published")


def taints(seen: Seen) -> Iterator[Answer]:
    """Whether pods may go to the nodes with cards: what is rendered tolerates nothing by itself."""
    if not seen.can_tell(kinds.NODE):
        return
    tolerated = _tolerations(seen)
    with_cards = set().union(*_with_cards(seen).values(), *_publishing(seen).values())
    closed: dict[str, list[str]] = defaultdict(list)
    cordoned: list[str] = []
    for node in seen.snapshot.of(kinds.NODE):
        if name(node) not in with_cards:
            continue
        if is_true(node, "spec", "unschedulable"):
            cordoned.append(name(node))
        for taint in items(node, "spec", "taints"):
            if _blocks(taint) and not any(_covers(each, taint) for each in tolerated):
                closed[_words(taint)].append(name(node))
    if cordoned:
        yield note(TAINTS, f"{many(len(cordoned), 'node')} with cards cordoned: {listed(sorted(cordoned))}")
    for taint_words, names in sorted(closed.items()):
        number = f"{len(set(names))} of {many(len(with_cards), 'node')} with cards"
        words = f"{number} bear the taint {taint_words}, which"
        remedy = "take the taint away (kubectl taint nodes NAME KEY-)"
        if seen.with_kueue:
            remedy += f", or write a toleration into the ResourceFlavor {ROOT}, which puts it into pods"
        say = problem if set(names) == with_cards else note
        yield say(TAINTS, f"{words} no pod of ours tolerates: {listed(sorted(set(names)))}", remedy)
    if with_cards and not closed:
        yield fine(TAINTS, f"pods may go to every node with cards ({len(with_cards)})")


def extended_names(seen: Seen) -> Iterator[Answer]:
    """Whether each name by which pods count cards means one thing."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for each in seen.snapshot.of(kinds.DEVICE_CLASS):
        if extended := text(each, "spec", "extendedResourceName"):
            by_name[extended].append(name(each))
    for extended, classes in sorted(by_name.items()):
        if len(classes) > 1:
            words = f"{many(len(classes), 'class')} have the name {extended}: {listed(sorted(classes))}"
            yield problem(NAMES, f"{words}; the newest of them is meant", "leave it to one of them")
        counting = sorted(name(node) for node in seen.snapshot.of(kinds.NODE) if _amount(node, extended) > 0)
        if counting:
            words = f"{extended} is class {classes[0]}, and a device plugin's on {listed(counting)} as well"
            yield problem(NAMES, f"{words}: a pod that counts gets either", "let one of the two serve a node")


def _with_cards(seen: Seen) -> Mapping[str, set[str]]:
    """The nodes that have cards by label or by a device plugin, by the driver of their maker."""
    found: dict[str, set[str]] = defaultdict(set)
    for node in seen.snapshot.of(kinds.NODE):
        labels = mapping(node, "metadata", "labels")
        for maker, prefix in DRIVERS.items():
            said = any(labels.get(label) == "true" for label in LABELS[maker])
            if said or any(each.startswith(prefix) and _amount(node, each) > 0 for each in _amounts(node)):
                found[maker].add(name(node))
    return found


def _publishing(seen: Seen) -> dict[str, set[str]]:
    """The nodes of which a known driver publishes devices."""
    found: dict[str, set[str]] = defaultdict(set)
    for each in seen.snapshot.of(kinds.SLICE):
        maker = text(each, "spec", "driver")
        if maker in DRIVERS and items(each, "spec", "devices"):
            found[maker].add(text(each, "spec", "nodeName") or text(each, "spec", "pool", "name"))
    return dict(found)


def _devices(value: Object, maker: str) -> int:
    return len(items(value, "spec", "devices")) if text(value, "spec", "driver") == maker else 0


def _findings(seen: Seen) -> tuple[Finding, ...]:
    looked = (kinds.SLICE, kinds.DEVICE_CLASS, kinds.NODE)
    objects = [each for kind in looked for each in seen.snapshot.of(kind)]
    written = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    documents, found = scan_stream_bytes(written.encode(), name=seen.snapshot.name)
    if seen.minor is None:
        return lint_documents(documents, found).findings
    return lint_documents(documents, found, server=Server.of(f"1.{seen.minor}")).findings


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


def _amount(node: Object, resource: str) -> int:
    amount = str(_amounts(node).get(resource, "0"))
    return int(amount) if amount.isdigit() else 0
