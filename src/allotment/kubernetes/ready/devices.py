"""Whether cards can be claimed: every node with cards publishes them, once, and rightly.

A card that both a device plugin and a DRA driver give away is given twice. What slices say wrongly is what
the lint of slices finds in them. Facts: KEP-5004 for extended names; KAI 0.17 gives parts only of cards that
a device plugin counts, so that nodes without a DRA driver may be meant to be so.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from allotment.answers import Answer, fine, note, problem
from allotment.devices.lint import lint_documents
from allotment.devices.server import Server
from allotment.documents.stream import scan_stream_bytes
from allotment.errors import Finding, Severity
from allotment.kubernetes import kinds
from allotment.kubernetes.follow.fields import items, name, text
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.ready.nodes import amount, may_share, publishing, with_cards
from allotment.kubernetes.ready.seen import Seen, listed
from allotment.pictures.counts import counted

CHECK: Final = "driver"
SLICES: Final = "slices"
NAMES: Final = "extended names"

IN_THE_WAY: Final = frozenset(
    {"counted-twice", "pool-invalid", "listed-twice", "duplicate-uuid", "counters-dropped"}
)
"""Rules of which a device is given twice, or never."""


def driver(seen: Seen) -> Iterator[Answer]:
    """Which nodes have cards, and whether a DRA driver publishes those of each."""
    if not seen.can_tell(kinds.SLICE):
        yield note(CHECK, "which devices are published cannot be told: ResourceSlices could not be read")
        return
    published = publishing(seen)
    say = note if may_share(seen) else problem
    if not seen.can_tell(kinds.NODE):
        yield note(CHECK, "which nodes have cards and publish none cannot be told: nodes could not be read")
    for maker, nodes in with_cards(seen).items():
        there = published.get(maker, set())
        silent = sorted(nodes - there)
        if silent:
            number = counted(len(silent), "node")
            words = f"{number} with cards of which {maker} publishes none: {listed(silent)}"
            look = f"kubectl get pods -A -o wide --field-selector spec.nodeName={silent[0]}"
            yield say(CHECK, words, f"see whether the driver's pods run there: {look}")
    for maker, there in sorted(published.items()):
        count = sum(_devices(each, maker) for each in seen.snapshot.of(kinds.SLICE))
        yield fine(CHECK, f"{maker} publishes {counted(count, 'device')} of {counted(len(there), 'node')}")
    if not published:
        remedy = "install the DRA driver of the cards' maker: claims are matched against what it publishes"
        yield say(CHECK, "no driver of cards publishes anything here", remedy)


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
        number = counted(len(seen.snapshot.of(kinds.SLICE)), "slice")
        yield fine(SLICES, f"{number}, and nothing is wrong with what is published")


def extended_names(seen: Seen) -> Iterator[Answer]:
    """Whether each name by which pods count cards means one thing."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for each in seen.snapshot.of(kinds.DEVICE_CLASS):
        if extended := text(each, "spec", "extendedResourceName"):
            by_name[extended].append(name(each))
    for extended, classes in sorted(by_name.items()):
        if len(classes) > 1:
            words = f"{counted(len(classes), 'class')} have the name {extended}: {listed(sorted(classes))}"
            yield problem(NAMES, f"{words}; the newest of them is meant", "leave it to one of them")
        counting = sorted(name(node) for node in seen.snapshot.of(kinds.NODE) if amount(node, extended) > 0)
        if counting:
            words = f"{extended} is class {classes[0]}, and a device plugin's on {listed(counting)} as well"
            yield problem(NAMES, f"{words}: a pod that counts gets either", "let one of the two serve a node")


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
