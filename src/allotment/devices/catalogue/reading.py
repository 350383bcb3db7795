"""Reads the catalogue's own file, ``cards.json``, which lies beside this module.

The file is ours and right, so that a defect in it is an error of ours and no finding. Sources stand in it by
short names and come out in full.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from typing import Any, TypeVar

from allotment.devices.catalogue.card import (
    NVIDIA_DRIVER,
    Card,
    Figure,
    MigLayout,
    MigProfile,
    Placement,
)

T = TypeVar("T")

FILE = "cards.json"
_MEBIBYTE = 1 << 20
_ONE_PER_CARD = "+me"  # a card has its media engines once
_ENGINES = ("multiprocessors", "copy_engines", "decoders", "encoders", "jpeg_engines", "ofa_engines")
_UNTOLD: Mapping[str, Any] = {"sources": [], "verified": False}


def read_cards() -> tuple[Card, ...]:
    """Every card of the file, in its order: by generation, then by size."""
    text = resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    document = json.loads(text)
    reader = _Reader(document["sources"], document["layouts"])
    return tuple(reader.card(raw) for raw in document["cards"])


class _Reader:
    def __init__(self, sources: Mapping[str, str], layouts: Mapping[str, Any]) -> None:
        self._sources = sources
        self._layouts = layouts

    def card(self, raw: Mapping[str, Any]) -> Card:
        older = raw.get("older_mib") or {"value": [], **_UNTOLD}
        return Card(
            id=raw["id"],
            driver=NVIDIA_DRIVER,
            names=self._figure(raw["names"], tuple),
            form=raw["form"],
            brand=self._figure(raw["brand"], str),
            architecture=self._figure(raw["architecture"], str),
            compute_capability=self._figure(raw["compute_capability"], str),
            sold_gb=self._figure(raw["sold_gb"], int),
            reported=self._figure(raw["reported_mib"], _bytes),
            reported_before=self._figure(older, lambda sizes: tuple(size * _MEBIBYTE for size in sizes)),
            addressing_mode=raw.get("addressing_mode"),
            pci_devices=tuple(raw.get("pci_devices", ())),
            mig=self._mig(raw["mig"]) if "mig" in raw else None,
            notes=tuple(raw.get("notes", ())),
        )

    def _mig(self, raw: Mapping[str, Any]) -> MigLayout:
        layout = self._layouts[raw["layout"]]
        memory = raw.get("memory", _UNTOLD)
        return MigLayout(
            slots=layout["slots"],
            without_reset=raw["without_reset"],
            profiles=tuple(self._profile(each, layout["placements"], memory) for each in raw["profiles"]),
            placements=self._figure({"value": None, **raw["placements"]}, _nothing),
            names=self._figure({"value": None, **raw["names"]}, _nothing),
        )

    def _profile(
        self, raw: Mapping[str, Any], placements: Mapping[str, Any], memory: Mapping[str, Any]
    ) -> MigProfile:
        at = placements[raw["at"]]
        size = raw.get("memory_mib")
        return MigProfile(
            name=raw["name"],
            id=raw["id"],
            placements=tuple(Placement(start, at["size"]) for start in at["starts"]),
            most=1 if _ONE_PER_CARD in raw["name"] else len(at["starts"]),
            memory=self._figure({"value": size, **(_UNTOLD if size is None else memory)}, _bytes),
            **{engine: raw.get(engine) for engine in _ENGINES},
        )

    def _figure(self, raw: Mapping[str, Any], read: Callable[[Any], T]) -> Figure[T]:
        sources: Sequence[str] = raw["sources"]
        return Figure(read(raw["value"]), tuple(self._sources[name] for name in sources), raw["verified"])


def _bytes(mebibytes: int | None) -> int | None:
    return None if mebibytes is None else mebibytes * _MEBIBYTE


def _nothing(_: object) -> None:
    return None
