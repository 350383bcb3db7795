"""What an expression's value means for a device: it must be true or false, and what else it may be is an
error.
"""

from __future__ import annotations

from typing import Final

from allotment.devices.cel import values as v
from allotment.devices.cel.problems import EvaluationError
from allotment.devices.cel.values import Value

_REFUSALS: Final = {
    "string": "unsupported native conversion from string to 'bool'",
    "int": "unsupported type conversion from 'int' to bool",
    "uint": "unsupported type conversion from 'uint' to bool",
    "double": "type conversion error from Double to 'bool'",
    "bytes": "type conversion error from Bytes to 'bool'",
    "list": "type conversion error from list to 'bool'",
    "map": "type conversion error from map to 'bool'",
    "null_type": "type conversion error from 'null_type' to 'bool'",
    "type": "type conversion not supported for 'type'",
    "net.IP": "type conversion error from 'IP' to 'bool'",
    "net.CIDR": "type conversion error from 'CIDR' to 'bool'",
    "kubernetes.URL": "type conversion error from 'URL' to 'bool'",
    "kubernetes.NamedFormat": "type conversion error from 'Format' to 'bool'",
    "google.protobuf.Empty": "type conversion error from '*dynamicpb.Message' to 'bool'",
    "kubernetes.Quantity": "type conversion error from 'Quantity' to 'bool'",
    "kubernetes.Semver": "type conversion error from 'Semver' to 'bool'",
    "google.protobuf.Timestamp": "type conversion error from 'Timestamp' to 'bool'",
    "google.protobuf.Duration": "type conversion error from 'Duration' to 'bool'",
}


def as_bool(value: Value) -> bool:
    """The value, which must be a truth value; of an optional, what it holds."""
    if type(value) is bool:
        return value
    if type(value) is v.OptionalValue:
        try:
            return as_bool(value.get())
        except EvaluationError as error:
            reason = error.message.rpartition("bool: ")[2]
            raise EvaluationError(
                f"CEL result of type optional_type could not be converted to bool: {reason}"
            ) from error
    name = v.type_name(value)
    refusal = _REFUSALS.get(name, f"type conversion error from '{name}' to 'bool'")
    raise EvaluationError(f"CEL result of type {name} could not be converted to bool: {refusal}")
