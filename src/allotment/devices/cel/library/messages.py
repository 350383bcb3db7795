"""Protocol Buffers' well-known messages: ``google.protobuf.Int32Value{value: 5}`` is 5, and so on.

Few people write them, but cel-go knows them everywhere, so Kubernetes takes them. Wrappers become what they
wrap, ``Struct``, ``Value`` and ``ListValue`` become maps, values and lists as JSON has them, in which every
number is a double. After cel-go's ``common/types/pb``.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from allotment.devices.cel import cel_types as t
from allotment.devices.cel import values as v
from allotment.devices.cel.declarations import Library
from allotment.devices.cel.numbers64 import UInt
from allotment.devices.cel.problems import EvaluationError
from allotment.devices.cel.times import SECOND, Duration, Timestamp
from allotment.devices.cel.values import Opaque, Value

Fields = Mapping[str, Value]
_LARGEST_EXACT: Final = 2**53 - 1


@dataclass(frozen=True, slots=True)
class Message:
    """A kind of message: its name, the type of its values, its fields, and how a value is made."""

    name: str
    type: t.CelType
    fields: Mapping[str, t.CelType]
    make: Callable[[Fields], Value]


def _unfit(name: str, field: str, reason: str) -> EvaluationError:
    return EvaluationError(f"field type conversion error for {name}.{field} value type: {reason}")


_REFUSALS: Final = {
    "null_type": "type conversion error from 'null_type' to '{0}'",
    "string": "unsupported native conversion from string to '{0}'",
    "double": "type conversion error from Double to '{0}'",
    "bytes": "type conversion error from Bytes to '{0}'",
    "list": "type conversion error from list to '{0}'",
    "map": "type conversion error from map to '{0}'",
}


class _Field(NamedTuple):
    """A field of a message: what it is called, and what it is where it is not given."""

    message: str
    name: str
    go_type: str
    zero: Value

    def read(self, fields: Fields) -> Value:
        """The field's value, which must be of its kind."""
        value = fields.get(self.name, self.zero)
        if type(value) is type(self.zero):
            return value
        found = v.type_name(value)
        refusal = _REFUSALS.get(found, f"unsupported type conversion from '{found}' to {{0}}")
        raise _unfit(self.message, self.name, refusal.format(self.go_type))


def _single(value: float) -> float:
    """A number as 32 bits hold it."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _within(name: str, value: int, bits: int, *, signed: bool) -> int:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if signed else (0, 2**bits)
    if low <= value < high:
        return value
    raise _unfit(name, "value", "integer overflow" if signed else "unsigned integer overflow")


def _as_it_is(_name: str, value: Value) -> Value:
    return value


def _wrapper(
    kind: str,
    inner: t.CelType,
    zero: Value,
    go_type: str,
    finish: Callable[[str, Value], Value] = _as_it_is,
) -> Message:
    name = f"google.protobuf.{kind}Value"
    field = _Field(name, "value", go_type, zero)

    def make(fields: Fields) -> Value:
        return finish(name, field.read(fields))

    return Message(name, t.wrapper_of(inner), {"value": inner}, make)


def _json(value: Value) -> Value:
    """A value as JSON has it."""
    kind = type(value)
    if kind in (int, UInt):
        return float(value) if abs(value) <= _LARGEST_EXACT else v.show(value)
    if kind is bytes:
        return base64.b64encode(value).decode()
    if kind in (Duration, Timestamp):
        return str(value)
    if v.is_list(value):
        return [_json(item) for item in value]
    if v.is_map(value):
        return {v.show(v.key_value(key)): _json(item) for key, item in value.items()}
    if value is None or kind in (str, bool, float):
        return value
    raise EvaluationError(f"type conversion error from '{v.type_name(value)}' to 'google.protobuf.Value'")


def _value(fields: Fields) -> Value:
    """``Value``: one of its fields, the last that is given."""
    name, value = next(reversed([*fields.items()]), ("null_value", None))
    return None if name == "null_value" else _json(value)


def _in_time(make: Callable[[int], Value], name: str) -> Callable[[Fields], Value]:
    seconds, nanos = _Field(name, "seconds", "int64", 0), _Field(name, "nanos", "int32", 0)
    return lambda fields: make(seconds.read(fields) * SECOND + nanos.read(fields))


def _any(fields: Fields) -> Value:
    written = {"type_url": f'"{fields.get("type_url", "")}"'}
    written["value"] = f'"{bytes(fields.get("value", b"")).decode(errors="backslashreplace")}"'
    shown = " ".join(f"{name}:{written[name]}" for name in written if fields.get(name))
    raise EvaluationError(f"unsupported conversion to ref.Val: (*dynamicpb.Message){shown}")


EMPTY: Final = Opaque((), t.struct("google.protobuf.Empty"))
_JSON_MAP: Final = t.map_of(t.STRING, t.DYN)
_JSON_LIST: Final = t.list_of(t.DYN)
_TIME: Final = {"seconds": t.INT, "nanos": t.INT}
_MESSAGES: Final = (
    _wrapper("Bool", t.BOOL, zero=False, go_type="bool"),
    _wrapper("Bytes", t.BYTES, b"", "[]uint8"),
    _wrapper("Double", t.DOUBLE, 0.0, "float64"),
    _wrapper("Float", t.DOUBLE, 0.0, "float32", lambda _name, value: _single(value)),
    _wrapper("Int32", t.INT, 0, "int32", lambda name, value: _within(name, value, 32, signed=True)),
    _wrapper("Int64", t.INT, 0, "int64"),
    _wrapper("String", t.STRING, "", "string"),
    _wrapper("UInt32", t.UINT, UInt(0), "uint32", lambda name, value: _within(name, value, 32, signed=False)),
    _wrapper("UInt64", t.UINT, UInt(0), "uint64"),
    Message("google.protobuf.Duration", t.DURATION, _TIME, _in_time(Duration, "google.protobuf.Duration")),
    Message(
        "google.protobuf.Timestamp", t.TIMESTAMP, _TIME, _in_time(Timestamp, "google.protobuf.Timestamp")
    ),
    Message(
        "google.protobuf.Struct",
        _JSON_MAP,
        {"fields": _JSON_MAP},
        lambda fields: _json(fields.get("fields", {})),
    ),
    Message(
        "google.protobuf.ListValue",
        _JSON_LIST,
        {"values": _JSON_LIST},
        lambda fields: _json(fields.get("values", [])),
    ),
    Message(
        "google.protobuf.Value",
        t.DYN,
        {
            "null_value": t.INT,
            "number_value": t.DOUBLE,
            "string_value": t.STRING,
            "bool_value": t.BOOL,
            "struct_value": _JSON_MAP,
            "list_value": _JSON_LIST,
        },
        _value,
    ),
    Message("google.protobuf.Any", t.ANY, {"type_url": t.STRING, "value": t.BYTES}, _any),
    Message("google.protobuf.Empty", t.struct("google.protobuf.Empty"), {}, lambda _fields: EMPTY),
)
MESSAGES: Final[Mapping[str, Message]] = {message.name: message for message in _MESSAGES}
_ALIASES: Final = {"duration": t.DURATION, "timestamp": t.TIMESTAMP}
WELL_KNOWN: Final = Library(
    {},
    names={**{message.name: message.type for message in _MESSAGES}, **_ALIASES},
    constants={"google.protobuf.NullValue.NULL_VALUE": 0},
)
FIELDS: Final[Mapping[str, Mapping[str, t.CelType]]] = {
    **{message.name: message.fields for message in _MESSAGES},
    **dict.fromkeys(_ALIASES, _TIME),
}
UNDEFINED: Final = frozenset(_ALIASES) | MESSAGES.keys() - {
    f"google.protobuf.{name}" for name in ("Duration", "Empty", "Timestamp")
}
"""Names that the checker takes for types, but that name no type when an expression is evaluated."""
