"""Macros that bring functions of their own: walks with two names, and ``cel.bind``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel import values as v
from allotment.devices.cel.declarations import Library, Overload
from allotment.devices.cel.macros import BINDINGS as BIND_MACRO
from allotment.devices.cel.macros import TWO_VARIABLES as MACROS
from allotment.devices.cel.problems import EvaluationError


def _insert(entries: Mapping[v.Value, v.Value], key: v.Value, value: v.Value) -> dict[v.Value, v.Value]:
    place = v.map_key(key)
    if place in entries:
        raise EvaluationError(f"insert failed: key {v.show(key)} already exists")
    return {**entries, place: value}


def _insert_all(
    entries: Mapping[v.Value, v.Value], others: Mapping[v.Value, v.Value]
) -> dict[v.Value, v.Value]:
    for place in others:
        if place in entries:
            raise EvaluationError(f"insert failed: key {v.show(v.key_value(place))} already exists")
    return {**entries, **others}


_K: Final = t.parameter("K")
_V: Final = t.parameter("V")
_MAP: Final = t.map_of(_K, _V)
TWO_VARIABLES: Final = Library(
    {
        "cel.@mapInsert": (
            Overload("@mapInsert_map_key_value", (_MAP, _K, _V), _MAP, _insert),
            Overload("@mapInsert_map_map", (_MAP, _MAP), _MAP, _insert_all),
        )
    },
    MACROS,
)
BINDINGS: Final = Library({}, BIND_MACRO)
