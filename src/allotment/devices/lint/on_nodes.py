"""A rule on slices and the nodes that they are of, where Node objects are in the files too.

Facts: the kubelet removes the slices of a driver that is gone from its node; of a node that is gone itself
the garbage collector does, by the owner that the slice names. Slices without an owner stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from allotment.devices.lint.seen import SeenSlice, evidence
from allotment.devices.nodes import Node
from allotment.errors import Severity


def without_node(slices: Sequence[SeenSlice], nodes: Mapping[str, Node]) -> None:
    """Tell once of each node that slices are of and that is not among the nodes; without any, nothing."""
    of_node: dict[str, list[SeenSlice]] = {}
    for each in slices:
        name = None if each.slice is None else each.slice.node_name
        if nodes and name is not None and name not in nodes:
            of_node.setdefault(name, []).append(each)
    for name, those in of_node.items():
        (those[0].spec / "nodeName").found(
            "no-node",
            f"there is no Node `{name}`: no pod ever starts there, so that nobody gets these devices",
            "remove the slices of a node that is gone, or take its Node into the file",
            severity=Severity.WARNING,
            evidence=evidence(
                [f"{each.slice.name}: {len(each.slice.devices)} devices" for each in those if each.slice]
            ),
        )
