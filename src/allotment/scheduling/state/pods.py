"""Pods as the default scheduler meets them: one by one, with claims, and perhaps as part of a gang."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from allotment.devices.claims import Allocation, ClaimSpec
from allotment.devices.nodes import NodeSelector
from allotment.scheduling.state.nodes import Toleration


@dataclass(frozen=True, slots=True)
class PodClaim:
    """A claim of a pod: its own, or (``shared``) one that has a name and that other pods may use too."""

    name: str
    spec: ClaimSpec
    shared: str | None = None


@dataclass(frozen=True, slots=True)
class Gang:
    """Pods that start together: at least ``minimum`` of them, or none."""

    name: str
    minimum: int


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod. One that has a node holds what it asks for, and ``allocations`` for its claims, in order.

    It holds them ``leaving`` too, after it was told to go. ``started`` is when it got its node.
    """

    namespace: str
    name: str
    requests: Mapping[str, int] = field(default_factory=dict, hash=False)
    priority: int = 0
    created: float = 0.0
    node_selector: Mapping[str, str] = field(default_factory=dict, hash=False)
    affinity: NodeSelector | None = None
    tolerations: tuple[Toleration, ...] = ()
    claims: tuple[PodClaim, ...] = ()
    gang: str | None = None
    node: str | None = None
    allocations: tuple[Allocation, ...] = ()
    started: float = 0.0
    leaving: bool = False

    @property
    def key(self) -> str:
        """Namespace and name."""
        return f"{self.namespace}/{self.name}"

    @property
    def likeness(self) -> tuple[object, ...]:
        """Equal for pods that no filter can tell apart."""
        asked, selected = sorted(self.requests.items()), sorted(self.node_selector.items())
        claims = tuple((claim.spec, claim.shared) for claim in self.claims)
        return tuple(asked), tuple(selected), self.affinity, self.tolerations, claims
