"""The types and values in the tests of CEL's specification, from the JSON form of their Protocol Buffers."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel import values as v
from allotment.devices.cel.declarations import Library, Overload
from allotment.devices.cel.library.messages import MESSAGES
from allotment.devices.cel.numbers64 import UInt
from allotment.devices.cel.times import Duration, Timestamp

_PRIMITIVES: Final = {
    "BOOL": t.BOOL,
    "BYTES": t.BYTES,
    "DOUBLE": t.DOUBLE,
    "INT64": t.INT,
    "STRING": t.STRING,
    "UINT64": t.UINT,
}
_WELL_KNOWN: Final = {"ANY": t.ANY, "DURATION": t.DURATION, "TIMESTAMP": t.TIMESTAMP}
_TYPES: Final[Mapping[str, Callable[[Any], t.CelType]]] = {
    "abstractType": lambda raw: t.CelType(
        "opaque", raw["name"], tuple(map(read_type, raw.get("parameterTypes", ())))
    ),
    "dyn": lambda _raw: t.DYN,
    "listType": lambda raw: t.list_of(read_type(raw["elemType"])),
    "mapType": lambda raw: t.map_of(read_type(raw["keyType"]), read_type(raw["valueType"])),
    "messageType": lambda name: MESSAGES[name].type if name in MESSAGES else t.struct(name),
    "null": lambda _raw: t.NULL,
    "primitive": _PRIMITIVES.__getitem__,
    "type": lambda raw: t.type_of(read_type(raw)) if raw else t.TYPE,
    "typeParam": t.parameter,
    "wellKnown": _WELL_KNOWN.__getitem__,
    "wrapper": lambda raw: t.wrapper_of(_PRIMITIVES[raw]),
}


class NamedType(str):
    """A type as a value, by its name."""

    __slots__ = ()


def read_type(raw: Mapping[str, Any]) -> t.CelType:
    """A type."""
    ((kind, what),) = raw.items()
    return _TYPES[kind](what)


def read_value(raw: Mapping[str, Any]) -> v.Value:
    """A value."""
    ((kind, what),) = raw.items()
    return _VALUES[kind](what)


def read_declarations(raw: list[Mapping[str, Any]]) -> tuple[dict[str, t.CelType], list[Library]]:
    """Variables, and functions as a library of their own; the functions are only declared."""
    variables = {each["name"]: read_type(each["ident"]["type"]) for each in raw if "ident" in each}
    functions = {
        each["name"]: tuple(map(_overload, each["function"]["overloads"]))
        for each in raw
        if "function" in each
    }
    return variables, [Library(functions)]


def alike(found: v.Value, wanted: v.Value) -> bool:
    """Whether two values are of one type and equal; NaN is as good as NaN here."""
    if isinstance(wanted, NamedType):
        return isinstance(found, t.CelType) and found.name == wanted
    if isinstance(wanted, list):
        return v.is_list(found) and len(found) == len(wanted) and all(map(alike, found, wanted))
    if isinstance(wanted, dict):
        return (
            v.is_map(found)
            and found.keys() == wanted.keys()
            and all(alike(found[key], wanted[key]) for key in wanted)
        )
    if isinstance(wanted, float) and math.isnan(wanted):
        return isinstance(found, float) and math.isnan(found)
    return type(found) is type(wanted) and bool(found == wanted)


def _overload(raw: Mapping[str, Any]) -> Overload:
    arguments = tuple(map(read_type, raw.get("params", ())))
    return Overload(raw["overloadId"], arguments, read_type(raw["resultType"]))


def _message(raw: Mapping[str, Any]) -> v.Value:
    name = raw["@type"].rpartition("/")[2]
    return _MESSAGES[name](raw["value"])


def _numbers_as_doubles(raw: Any) -> v.Value:
    if isinstance(raw, list):
        return list(map(_numbers_as_doubles, raw))
    if isinstance(raw, dict):
        return {key: _numbers_as_doubles(each) for key, each in raw.items()}
    return float(raw) if type(raw) is int else raw


_VALUES: Final[Mapping[str, Callable[[Any], v.Value]]] = {
    "boolValue": bool,
    "bytesValue": base64.b64decode,
    "doubleValue": float,
    "int64Value": int,
    "listValue": lambda raw: list(map(read_value, raw.get("values", ()))),
    "mapValue": lambda raw: {
        v.map_key(read_value(entry["key"])): read_value(entry["value"]) for entry in raw.get("entries", ())
    },
    "nullValue": lambda _raw: None,
    "objectValue": _message,
    "stringValue": str,
    "typeValue": NamedType,
    "uint64Value": lambda raw: UInt(int(raw)),
}
_MESSAGES: Final[Mapping[str, Callable[[Any], v.Value]]] = {
    "google.protobuf.BoolValue": bool,
    "google.protobuf.BytesValue": base64.b64decode,
    "google.protobuf.DoubleValue": float,
    "google.protobuf.Duration": Duration.parse,
    "google.protobuf.FloatValue": float,
    "google.protobuf.Int32Value": int,
    "google.protobuf.Int64Value": int,
    "google.protobuf.ListValue": _numbers_as_doubles,
    "google.protobuf.StringValue": str,
    "google.protobuf.Struct": _numbers_as_doubles,
    "google.protobuf.Timestamp": Timestamp.parse,
    "google.protobuf.UInt32Value": lambda raw: UInt(int(raw)),
    "google.protobuf.UInt64Value": lambda raw: UInt(int(raw)),
    "google.protobuf.Value": _numbers_as_doubles,
}
