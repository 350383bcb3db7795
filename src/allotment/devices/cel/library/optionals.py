"""Values that may not be there: ``optional.of``, ``.?field``, ``orValue`` and their kin.

``or`` and ``orValue`` leave their argument alone when they do not need it, so the evaluator does them itself.
"""

from __future__ import annotations

from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel import values as v
from allotment.devices.cel.declarations import Library, Overload, member
from allotment.devices.cel.library.messages import EMPTY
from allotment.devices.cel.macros import OPTIONALS as MACROS
from allotment.devices.cel.numbers64 import UInt
from allotment.devices.cel.times import Duration
from allotment.devices.cel.values import NOTHING, OptionalValue

_K: Final = t.parameter("K")
_V: Final = t.parameter("V")
_OPTIONAL: Final = t.optional_of(_V)
_LIST: Final = t.list_of(_V)
_MAP: Final = t.map_of(_K, _V)
_ZEROS: Final = {bool: False, int: 0, UInt: 0, float: 0.0, str: "", bytes: b"", Duration: Duration(0)}


def _of(value: v.Value) -> OptionalValue:
    return OptionalValue(value)


def _of_non_zero(value: v.Value) -> OptionalValue:
    kind = type(value)
    if value is None or (kind in _ZEROS and value == _ZEROS[kind]):
        return NOTHING
    if kind is v.Opaque and value == EMPTY:
        return NOTHING
    if (v.is_list(value) or v.is_map(value)) and not value:
        return NOTHING
    return OptionalValue(value)


def _none() -> OptionalValue:
    return NOTHING


def _has_value(optional: OptionalValue) -> bool:
    return optional.present


def _first(values: list[v.Value]) -> OptionalValue:
    return OptionalValue(values[0]) if values else NOTHING


def _last(values: list[v.Value]) -> OptionalValue:
    return OptionalValue(values[-1]) if values else NOTHING


def _unwrap(values: list[OptionalValue]) -> list[v.Value]:
    return [optional.value for optional in values if optional.present]


OPTIONALS: Final = Library(
    {
        "optional.of": (Overload("optional_of", (_V,), _OPTIONAL, _of),),
        "optional.ofNonZeroValue": (Overload("optional_ofNonZeroValue", (_V,), _OPTIONAL, _of_non_zero),),
        "optional.none": (Overload("optional_none", (), _OPTIONAL, _none),),
        "value": (member("optional_value", (_OPTIONAL,), _V, OptionalValue.get),),
        "hasValue": (member("optional_hasValue", (_OPTIONAL,), t.BOOL, _has_value),),
        "or": (member("optional_or_optional", (_OPTIONAL, _OPTIONAL), _OPTIONAL, None),),
        "orValue": (member("optional_orValue_value", (_OPTIONAL, _V), _V, None),),
        "_?._": (Overload("select_optional_field", (t.DYN, t.STRING), _OPTIONAL),),
        "_[?_]": (
            Overload("list_optindex_optional_int", (_LIST, t.INT), _OPTIONAL),
            Overload("optional_list_optindex_optional_int", (t.optional_of(_LIST), t.INT), _OPTIONAL),
            Overload("map_optindex_optional_value", (_MAP, _K), _OPTIONAL),
            Overload("optional_map_optindex_optional_value", (t.optional_of(_MAP), _K), _OPTIONAL),
        ),
        "_[_]": (
            Overload("optional_list_index_int", (t.optional_of(_LIST), t.INT), _OPTIONAL),
            Overload("optional_map_index_value", (t.optional_of(_MAP), _K), _OPTIONAL),
        ),
    },
    MACROS,
    {"optional_type": t.optional_of(t.DYN)},
)
OPTIONAL_ELEMENTS: Final = Library(
    {
        "first": (member("list_first", (_LIST,), _OPTIONAL, _first),),
        "last": (member("list_last", (_LIST,), _OPTIONAL, _last),),
        "optional.unwrap": (Overload("optional_unwrap", (t.list_of(_OPTIONAL),), _LIST, _unwrap),),
        "unwrapOpt": (member("optional_unwrapOpt", (t.list_of(_OPTIONAL),), _LIST, _unwrap),),
    }
)
"""Version 2 of the extension, which came with cel-go 0.23."""
