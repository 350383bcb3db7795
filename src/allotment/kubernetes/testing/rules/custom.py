"""What a server holds objects of custom kinds to, and fills in: the structural schema of their definition.

Expressions (``x-kubernetes-validations``) are not looked at: what they would refuse is taken here.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.kubernetes.testing.answers import Cause, doubled, required, unsupported, wrong
from allotment.kubernetes.testing.names import quoted

Raw = Mapping[str, Any]
_UNCHECKED: Final = Cause(
    "<nil>",
    "FieldValueInvalid",
    "Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation",
)
_SORTS: Final = {
    "integer": int,
    "number": (int, float),
    "string": str,
    "boolean": bool,
    "object": dict,
    "array": list,
}


def with_custom_defaults(value: Any, schema: Raw) -> Any:
    """The object with the defaults of its schema."""
    if isinstance(value, dict):
        filled = dict(value)
        for name, inner in (schema.get("properties") or {}).items():
            if filled.get(name) is None and "default" in inner:
                filled[name] = copy.deepcopy(inner["default"])
            if name in filled:
                filled[name] = with_custom_defaults(filled[name], inner)
        below = schema.get("additionalProperties")
        if isinstance(below, Mapping):
            return {name: with_custom_defaults(inner, below) for name, inner in filled.items()}
        return filled
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        return [with_custom_defaults(item, schema["items"]) for item in value]
    return value


def of_custom(value: Raw, schema: Raw) -> Iterator[Cause]:
    """What is wrong with an object by its schema."""
    rest = {name: each for name, each in value.items() if name not in {"metadata", "kind", "apiVersion"}}
    found = list(_look(rest, schema, ""))
    yield from (cause for cause, _ in found)
    if any(is_grave for _, is_grave in found):
        yield _UNCHECKED


def _look(value: Any, schema: Raw, place: str) -> Iterator[tuple[Cause, bool]]:
    """Every cause, and whether it keeps the server from going on."""
    sort = schema.get("type")
    if sort in _SORTS and not _is_of(value, sort, schema):
        shown = quoted(_sort_of(value))
        text = f"Invalid value: {shown}: {place} in body must be of type {sort}: {shown}"
        yield Cause(place, "FieldValueTypeInvalid", text), True
        return
    known = schema.get("enum")
    if known and value not in known:
        yield unsupported(place, quoted(value), [str(each) for each in known]), True
    if isinstance(value, dict):
        yield from _look_in_map(value, schema, place)
    elif isinstance(value, list):
        yield from _look_in_list(value, schema, place)
    elif isinstance(value, str):
        yield from _look_at_text(value, schema, place)
    elif isinstance(value, int | float):
        yield from _look_at_number(value, schema, place)


def _look_at_number(value: float, schema: Raw, place: str) -> Iterator[tuple[Cause, bool]]:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and value < least:
        yield wrong(place, str(value), f"{place} in body should be greater than or equal to {least}"), False
    if most is not None and value > most:
        yield wrong(place, str(value), f"{place} in body should be less than or equal to {most}"), False


def _look_in_map(value: Raw, schema: Raw, place: str) -> Iterator[tuple[Cause, bool]]:
    for name in schema.get("required") or ():
        if name not in value:
            yield required(f"{place}.{name}".lstrip(".")), True
    most = schema.get("maxProperties")
    if most is not None and len(value) > most:
        yield (
            Cause(place, "FieldValueTooMany", f"Too many: {len(value)}: must have at most {most} items"),
            True,
        )
    fields, free = schema.get("properties") or {}, schema.get("additionalProperties")
    for name, inner in value.items():
        below = fields.get(name, free)
        if isinstance(below, Mapping):
            yield from _look(inner, below, f"{place}.{name}".lstrip("."))


def _look_in_list(value: list[Any], schema: Raw, place: str) -> Iterator[tuple[Cause, bool]]:
    least, most = schema.get("minItems"), schema.get("maxItems")
    if most is not None and len(value) > most:
        yield (
            Cause(place, "FieldValueTooMany", f"Too many: {len(value)}: must have at most {most} items"),
            True,
        )
    if least is not None and len(value) < least:
        yield wrong(place, str(len(value)), f"{place} in body should have at least {least} items"), True
    if isinstance(schema.get("items"), Mapping):
        for number, item in enumerate(value):
            yield from _look(item, schema["items"], f"{place}[{number}]")
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    if schema.get("x-kubernetes-list-type") not in {"map", "set"}:
        return
    seen: list[Any] = []
    for number, item in enumerate(value):
        named = {key: item.get(key) for key in keys} if keys and isinstance(item, dict) else item
        if named in seen:
            yield doubled(f"{place}[{number}]", quoted(named)), False
        seen.append(named)


def _look_at_text(value: str, schema: Raw, place: str) -> Iterator[tuple[Cause, bool]]:
    most, least, pattern = schema.get("maxLength"), schema.get("minLength"), schema.get("pattern")
    if most is not None and len(value) > most:
        yield Cause(place, "FieldValueTooLong", f"Too long: may not be more than {most} bytes"), True
        return
    if least is not None and len(value) < least:
        yield wrong(place, quoted(value), f"{place} in body should be at least {least} chars long"), True
    if pattern and not re.search(pattern, value):
        yield wrong(place, quoted(value), f"{place} in body should match '{pattern}'"), False


def _is_of(value: Any, sort: str, schema: Raw) -> bool:
    if value is None:
        return bool(schema.get("nullable"))
    if isinstance(value, bool):
        return sort == "boolean"
    return isinstance(value, _SORTS[sort])  # type: ignore[arg-type]  # one type, or several


def _sort_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    sorts = {str: "string", int: "integer", float: "number", dict: "object", list: "array"}
    return sorts.get(type(value), "null")
