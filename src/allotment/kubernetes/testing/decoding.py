"""From a body to an object: what is not in the schema is told, what has another type is refused.

An API server reads a body twice: loosely, where a field that it does not know is dropped, and strictly, where
that is told as a warning or refused (``fieldValidation``). The words are those of the server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from allotment.kubernetes.testing.schemas import Schema
from allotment.quantities.kubernetes import Quantity

_QUANTITY_WORDS = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_MAY_BE_EMPTY: Final = frozenset({"holderIdentity", "storageClassName", "volumeMode", "failedIndexes"})
_LAYOUTS: Final = {
    "Time": "2006-01-02T15:04:05Z07:00",
    "MicroTime": "2006-01-02T15:04:05.000000Z07:00",
}
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_NO_BASE64: Final = re.compile(r"[^A-Za-z0-9+/=\r\n]")
_SHOWN = {"integer": "int32", "number": "float64", "boolean": "bool", "string": "string"}


class DecodingError(Exception):
    """A body that is no object of its kind; the text is the server's."""


@dataclass
class Decoded:
    """The object, and what strict decoding tells about it."""

    value: dict[str, Any]
    told: list[str] = field(default_factory=list)


def parse(body: bytes, *, is_yaml: bool) -> tuple[Any, list[str]]:
    """The document in a body, and what of it is there twice."""
    twice: list[str] = []
    if not is_yaml:
        value = json.loads(body or b"null", object_pairs_hook=_Pairs)
        return _plain(value, "", twice), twice
    loader = _Loader(body)
    try:
        node = loader.get_single_node()
        if isinstance(node, yaml.MappingNode):
            twice.extend(_doubled_in_yaml(node))
        return (loader.construct_document(node) if node is not None else None), twice
    finally:
        loader.dispose()


def decode(raw: dict[str, Any], schema: Schema) -> Decoded:
    """The object that a server keeps, with what it drops."""
    told: list[str] = []
    value = _decode(raw, schema, "", "", told)
    return Decoded(value, told)


def canonical(value: Any, schema: Schema) -> Any:
    """The object with every amount in the one form in which it is kept."""
    if schema.is_quantity:
        return str(Quantity.parse(str(value)))
    if isinstance(value, dict):
        pairs = ((key, inner, schema.field(key)) for key, inner in value.items())
        return {key: inner if below is None else canonical(inner, below) for key, inner, below in pairs}
    if isinstance(value, list) and schema.is_list:
        return [canonical(item, schema.element) for item in value]
    return value


class _Loader(yaml.SafeLoader):
    """YAML as the server reads it: a time is a text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class _Pairs(list[Any]):
    """An object as its pairs, so that a key that is there twice is seen."""


def _plain(value: Any, path: str, twice: list[str]) -> Any:
    if isinstance(value, _Pairs):
        plain: dict[str, Any] = {}
        for key, inner in value:
            inside = f"{path}.{key}" if path else key
            if key in plain:
                twice.append(f'duplicate field "{inside}"')
            plain[key] = _plain(inner, inside, twice)
        return plain
    if isinstance(value, list):
        return [_plain(item, f"{path}[{place}]", twice) for place, item in enumerate(value)]
    return value


def _doubled_in_yaml(node: yaml.Node) -> Iterator[str]:
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, inner in node.value:
            if key.value in seen:
                line = key.start_mark.line + 1
                yield f'yaml: unmarshal errors:\n  line {line}: key "{key.value}" already set in map'
            seen.add(key.value)
            yield from _doubled_in_yaml(inner)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _doubled_in_yaml(item)


def _decode(value: Any, schema: Schema, path: str, owner: str, told: list[str]) -> Any:
    if schema.is_open or value is None or (schema.custom and not _has_shape(value, schema)):
        return value
    if schema.is_quantity:
        return _amount(value)
    if schema.is_map:
        if not isinstance(value, dict):
            raise DecodingError(_mismatch(value, schema, path, owner))
        return _decode_map(value, schema, path, owner, told)
    if schema.is_list:
        if not isinstance(value, list):
            raise DecodingError(_mismatch(value, schema, path, owner))
        items = enumerate(value)
        return [_decode(item, schema.element, f"{path}[{place}]", owner, told) for place, item in items]
    if not schema.is_either and not _fits(value, schema):
        raise DecodingError(_mismatch(value, schema, path, owner))
    if isinstance(value, str) and not schema.custom:
        _check_text(value, schema)
    return value


def _has_shape(value: Any, schema: Schema) -> bool:
    """Whether it is an object or a list where one is wanted; what is not is the rules' affair."""
    return isinstance(value, dict if schema.is_map else list) if schema.is_map or schema.is_list else False


def _check_text(value: str, schema: Schema) -> None:
    """Refuse a time or bytes that cannot be read."""
    if schema.short in _LAYOUTS and not _TIME.fullmatch(value):
        layout = _LAYOUTS[schema.short]
        raise DecodingError(f'parsing time "{value}" as "{layout}": cannot parse "{value}" as "2006"')
    if schema.raw.get("format") == "byte":
        bad = _NO_BASE64.search(value)
        if bad is not None or len(value) % 4:
            place = len(value) if bad is None else bad.start()
            raise DecodingError(f"illegal base64 data at input byte {place}")


def _decode_map(
    value: dict[str, Any], schema: Schema, path: str, owner: str, told: list[str]
) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, inner in value.items():
        inside = f"{path}.{key}" if path else key
        below = schema.field(key)
        if below is None:
            told.append(f'unknown field "{inside}"')
            continue
        if schema.has_free_keys:
            found = _decode(inner, below, path, owner, told)
            kept[key] = "" if found is None and "string" in below.types else found
            continue
        found = _decode(inner, below, inside, schema.short or owner, told)
        if not _is_left_out(found, key, below, schema):
            kept[key] = found
    return kept


def _is_left_out(found: Any, key: str, below: Schema, schema: Schema) -> bool:
    """Whether Go leaves a field out that is written: an empty list, map or text that says nothing."""
    if found is None or schema.custom:
        return found is None
    if found == "":
        return key not in (schema.raw.get("required") or ()) and key not in _MAY_BE_EMPTY
    return not found and (below.is_list or "additionalProperties" in below.raw)


def _fits(value: Any, schema: Schema) -> bool:
    if isinstance(value, bool):
        return "boolean" in schema.types
    if isinstance(value, str):
        return "string" in schema.types
    if isinstance(value, int):
        return bool({"integer", "number"} & schema.types)
    return isinstance(value, float) and ("number" in schema.types or value.is_integer())


def _amount(value: Any) -> str:
    text = str(value)
    try:
        Quantity.parse(text)
    except ValueError as error:
        raise DecodingError(_QUANTITY_WORDS) from error
    return text


def _mismatch(value: Any, schema: Schema, path: str, owner: str) -> str:
    is_fraction = isinstance(value, float) and "integer" in schema.types
    what = f"number {value}" if is_fraction else _sort(value)
    return f"json: cannot unmarshal {what} into Go struct field {owner}.{path} of type {_go(schema)}"


def _sort(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    sorts = {str: "string", int: "number", float: "number", dict: "object", list: "array"}
    return sorts[type(value)]


def _go(schema: Schema) -> str:
    if schema.is_list:
        return f"[]{_go(schema.element)}"
    if schema.name:
        return ".".join(schema.name.split(".")[-2:])
    if schema.is_map:
        return f"map[string]{_go(schema.element)}"
    sort = next(iter(schema.types), "string")
    return str(schema.raw.get("format", "int32")) if sort == "integer" else _SHOWN[sort]
