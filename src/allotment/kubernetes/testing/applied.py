"""Whether what is applied fits the schema: an API server refuses the whole body where one field does not.

The texts are those of structured-merge-diff, which the server answers as an internal error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from allotment.kubernetes.testing.field_sets import Path, field, written
from allotment.kubernetes.testing.schemas import Schema
from allotment.kubernetes.testing.typed import step_of


def misfits(value: Any, schema: Schema, path: Path = ()) -> Iterator[str]:
    """What of an applied object does not fit, each with its place."""
    if value is None or schema.is_open:
        return
    if schema.is_map:
        yield from _in_map(value, schema, path)
    elif schema.is_list:
        yield from _in_list(value, schema, path)
    elif (wanted := _wanted(value, schema)) is not None:
        yield f"{written(path)}: expected {wanted}, got {_shown(value)}"


def message(found: list[str]) -> str:
    """Several in one text."""
    return found[0] if len(found) == 1 else "errors:\n" + "\n".join(f"  {each}" for each in found)


def _in_map(value: Any, schema: Schema, path: Path) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{written(path)}: expected map, got {_shown(value)}"
        return
    for name, inner in sorted(value.items()):
        below = schema.field(name)
        inside = (*path, field(name))
        if below is None:
            yield f"{written(inside)}: field not declared in schema"
        else:
            yield from misfits(inner, below, inside)


def _in_list(value: Any, schema: Schema, path: Path) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{written(path)}: expected list, got {_shown(value)}"
        return
    seen = set()
    for place, item in enumerate(value):
        step = f"i:{place}" if schema.is_atomic else step_of(item, schema)
        if step in seen:
            shown = written((step,))
            yield f"{written(path)}: duplicate entries for key {shown}"
            continue
        seen.add(step)
        if schema.custom and schema.keys and isinstance(item, dict):
            for key in schema.keys:
                if key not in item and schema.key_default(key) is None:
                    yield (
                        f"{written(path)}: element {place}: associative list with keys has an element that "
                        f'omits key field "{key}" (and doesn\'t have default value)'
                    )
        yield from misfits(item, schema.element, (*path, step))


def _wanted(value: Any, schema: Schema) -> str | None:
    if schema.is_either or schema.is_quantity:
        return None if isinstance(value, str | int | float) else "scalar"
    if isinstance(value, bool):
        sorts = {"boolean"}
    elif isinstance(value, str):
        sorts = {"string"}
    else:
        sorts = {"integer", "number"} if isinstance(value, int | float) else set()
    if sorts & schema.types:
        return None
    if {"integer", "number"} & schema.types:
        return "numeric (int or float)"
    return "boolean" if "boolean" in schema.types else "string"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict):
        return "map"
    if isinstance(value, list):
        return "list"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"&value.valueUnstructured{{Value:{text}}}"
