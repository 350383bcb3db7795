"""A shape into the JSON Schema of what it reads, for every shape there is.

Shapes that read in a way of their own are in a table by their names; a shape that nobody has entered is an
error, which a test finds before a user does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from allotment.documents import shapes
from allotment.platform.need_shapes import CONFIG, FALLBACK, NEED
from allotment.repository.campaign_file import MIN_MAX as WINDOW
from allotment.repository.environment import SECRET
from allotment.repository.platform_words import TOPOLOGY
from allotment.repository.schemas.patterns import VOLUME_ID, pattern_of
from allotment.repository.schemas.words import COMMON
from allotment.repository.standing_files import MIN_MAX as REPLICAS
from allotment.repository.volume_entry import ENTRY

Path = tuple[str, ...]
Schema = dict[str, Any]

AMOUNT: Final = r"[0-9]*\.?[0-9]*(?:[eE][+-]?[0-9]+|[numkKMGTPE]i?)?"
AMOUNTS: Final[Schema] = {"type": "string", "pattern": rf"^\s*{AMOUNT}\s*$"}
DURATION: Final[Schema] = {
    "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "[0-9]"}]
}
SECONDS: Final[Schema] = {
    "anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string", "pattern": "[0-9]"}]
}
ONE_OF_THEM: Final[Schema] = {"minProperties": 1, "maxProperties": 1}
CORES_ALONE: Final[Schema] = {
    "if": {"required": ["cpu"]},
    "then": {"propertyNames": {"enum": ["cpu", "fallback"]}},
    "dependentRequired": {"share": ["sharing"]},
}
BESIDE: Final[tuple[tuple[object, Schema], ...]] = (
    (NEED, CORES_ALONE),
    (FALLBACK, CORES_ALONE),
    (CONFIG, ONE_OF_THEM),
    (TOPOLOGY, ONE_OF_THEM),
    (ENTRY, {"oneOf": [{"required": [source]} for source in ("folder", "manifest", "images")]}),
)


@dataclass(frozen=True, slots=True)
class Building:
    """Makes schemas with what keys mean (``words``) and what they are when left out, by their paths."""

    words: Mapping[str, str]
    defaults: Mapping[str, Any]

    def of(self, shape: object, path: Path) -> Schema:
        """The schema of a shape at a path of names; an item of a list or table adds ``*``."""
        make = SHAPES[type(shape).__name__]
        return make(self, shape, path)

    def described(self, shape: object, path: Path, *, nullable: bool = False) -> Schema:
        """The schema of a key's value, with its meaning and default."""
        schema = self.of(shape, path)
        if nullable:
            schema = {"anyOf": [schema, {"type": "null"}]}
        name = ".".join(path)
        words = self.words.get(name) or COMMON.get(path[-1], "")
        description = {"description": words} if words else {}
        default = {"default": self.defaults[name]} if name in self.defaults else {}
        return {**description, **schema, **default}


def _text(_building: Building, shape: Any, _path: Path) -> Schema:
    schema: Schema = {"type": "string", "maxLength": shape.longest}
    if not shape.empty:
        schema["minLength"] = 1
    pattern = pattern_of(shape.look) if shape.look is not None else None
    if pattern is not None:
        schema["pattern"] = pattern if not shape.empty else f"^$|{pattern}"
    return schema


def _number(kind: str) -> Callable[[Building, Any, Path], Schema]:
    def make(_building: Building, shape: Any, _path: Path) -> Schema:
        schema: Schema = {"type": kind, "minimum": shape.least}
        return {**schema, "maximum": shape.most} if shape.most != float("inf") else schema

    return make


def _list(building: Building, shape: Any, path: Path) -> Schema:
    item = building.of(shape.item, (*path, "*"))
    schema: Schema = {"type": "array", "items": item}
    if not shape.empty:
        schema["minItems"] = 1
    return {"anyOf": [item, schema]} if shape.single else schema


def _table(building: Building, shape: Any, path: Path) -> Schema:
    schema: Schema = {"type": "object", "additionalProperties": building.of(shape.item, (*path, "*"))}
    pattern = pattern_of(shape.name) if shape.name is not None else None
    if pattern is not None:
        schema["propertyNames"] = {"pattern": pattern}
    return schema if shape.empty else {**schema, "minProperties": 1}


def _record(building: Building, shape: Any, path: Path) -> Schema:
    required = [name for name, key in shape.keys.items() if key.required]
    schema: Schema = {
        "type": "object",
        "properties": {
            name: building.described(key.shape, (*path, name), nullable=key.nullable)
            for name, key in shape.keys.items()
        },
        "additionalProperties": False,
    }
    beside = next((extra for record, extra in BESIDE if record is shape), {})
    return {**schema, **({"required": required} if required else {}), **beside}


def _whole_or(record: Any) -> Callable[[Building, Any, Path], Schema]:
    """A whole number, or a record of the least and the most."""

    def make(building: Building, _shape: Any, path: Path) -> Schema:
        number = building.of(record.keys["max"].shape, path)
        return {"anyOf": [number, building.of(record, path)]}

    return make


def _variable(building: Building, _shape: Any, path: Path) -> Schema:
    return {"anyOf": [{"type": "string", "maxLength": 32_768}, building.of(SECRET, path)]}


def _volumes(building: Building, _shape: Any, path: Path) -> Schema:
    reference: Schema = {
        "type": "string",
        "pattern": f"^(?:{VOLUME_ID})$",
        "description": "A reference: the platform's template says where its pages are.",
    }
    entry = {"anyOf": [reference, building.of(ENTRY, (*path, "*"))]}
    return {"type": "array", "minItems": 1, "items": entry}


def _as_is(schema: Schema) -> Callable[[Building, Any, Path], Schema]:
    return lambda _building, _shape, _path: dict(schema)


SHAPES: Final[Mapping[str, Callable[[Building, Any, Path], Schema]]] = {
    shapes.Text.__name__: _text,
    shapes.Integer.__name__: _number("integer"),
    shapes.Number.__name__: _number("number"),
    shapes.Flag.__name__: _as_is({"type": "boolean"}),
    shapes.Choice.__name__: lambda _building, shape, _path: {"enum": list(shape.words)},
    shapes.ListOf.__name__: _list,
    shapes.TableOf.__name__: _table,
    shapes.Free.__name__: _as_is({}),
    shapes.FreeTable.__name__: _as_is({"type": "object"}),
    shapes.Record.__name__: _record,
    "Amount": _as_is(AMOUNTS),
    "Command": _as_is(
        {
            "type": "array",
            "minItems": 1,
            "prefixItems": [{"type": "string", "minLength": 1}],
            "items": {"type": "string"},
        }
    ),
    "Cores": _as_is({"anyOf": [{"type": "number", "exclusiveMinimum": 0, "maximum": 4096}, AMOUNTS]}),
    "Duration": _as_is(DURATION),
    "Format": _as_is({"const": 1}),
    "LaneShape": _as_is({"type": "string", "maxLength": 1000}),
    "Memory": _as_is(
        {"type": "string", "pattern": rf"^\s*(?:>\s*{AMOUNT}|{AMOUNT}(?:\s*\.\.\s*{AMOUNT})?)\s*$"}
    ),
    "NameInside": _as_is({"type": "string", "deprecated": True}),
    "ReplicasShape": _whole_or(REPLICAS),
    "Seconds": _as_is(SECONDS),
    "Share": _as_is({"anyOf": [{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, AMOUNTS]}),
    "Variable": _variable,
    "VolumeList": _volumes,
    "WindowShape": _whole_or(WINDOW),
}
