"""A card as values: every figure with where it comes from, and whether anybody has seen it on a card.

Memory comes in two: what the card is sold as, in the decimal gigabytes of its data sheet, and what its driver
reports and a slice publishes, in bytes. They differ by up to a tenth, and a need is held against the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

NVIDIA_DRIVER = "gpu.nvidia.com"


@dataclass(frozen=True, slots=True)
class Figure(Generic[T]):
    """A value with its sources; ``verified`` is False for what is taken from a rule or from hearsay."""

    value: T
    sources: tuple[str, ...]
    verified: bool


@dataclass(frozen=True, slots=True, order=True)
class Placement:
    """Where on a card a partition may lie: ``size`` memory slots from ``start`` on."""

    start: int
    size: int


@dataclass(frozen=True, slots=True)
class MigProfile:
    """One way to cut a partition from a card.

    ``memory`` is in bytes, as the driver reports it. Engines and memory are None where nobody has told.
    ``most`` is how many of it one card can hold.
    """

    name: str
    id: int
    placements: tuple[Placement, ...]
    most: int
    memory: Figure[int | None]
    multiprocessors: int | None = None
    copy_engines: int | None = None
    decoders: int | None = None
    encoders: int | None = None
    jpeg_engines: int | None = None
    ofa_engines: int | None = None

    @property
    def compute_slices(self) -> int:
        """The ``g`` of its name: parts of the card's computing."""
        return int(self.name.partition("g")[0])

    @property
    def memory_slices(self) -> int:
        """How many of the card's memory slots it covers."""
        return self.placements[0].size


@dataclass(frozen=True, slots=True)
class MigLayout:
    """How a card is cut: its memory slots, and the profiles that fit on them.

    ``placements`` and ``names`` say where those of all profiles come from. ``without_reset`` tells whether
    MIG can be switched on without resetting the card.
    """

    slots: int
    without_reset: bool
    profiles: tuple[MigProfile, ...]
    placements: Figure[None]
    names: Figure[None]

    def is_whole_card(self, profile: MigProfile) -> bool:
        """Whether a partition of this profile covers every slot: the whole card under another name."""
        return profile.memory_slices == self.slots

    def profile(self, name: str) -> MigProfile | None:
        """The profile of this name, as NVIDIA writes it: ``1g.10gb+me``."""
        return next((profile for profile in self.profiles if profile.name == name.lower()), None)


@dataclass(frozen=True, slots=True)
class Card:
    """A kind of card.

    ``names`` are the product names that the driver may report, the most common first; ``reported`` is the
    memory in bytes that a current driver reports (None: it does not tell, or nobody has seen it),
    ``reported_before`` what older drivers said. ``mig`` is None for a card that cannot be cut.
    """

    id: str
    driver: str
    names: Figure[tuple[str, ...]]
    form: str
    brand: Figure[str]
    architecture: Figure[str]
    compute_capability: Figure[str]
    sold_gb: Figure[int]
    reported: Figure[int | None]
    reported_before: Figure[tuple[int, ...]]
    addressing_mode: str | None = None
    pci_devices: tuple[str, ...] = ()
    mig: MigLayout | None = None
    notes: tuple[str, ...] = ()

    @property
    def product_name(self) -> str:
        """The name that such a card most often reports."""
        return self.names.value[0]

    @property
    def memory(self) -> int | None:
        """Bytes that a current driver reports; None when it does not tell."""
        return self.reported.value
