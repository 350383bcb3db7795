"""Schemas of objects: which fields there are, and how lists and maps are merged.

Built-in kinds have the schemas that Kubernetes publishes, as the package ``kubernetes-validate`` carries them
(for every version; only the test double needs it). Custom resources have those of their definition; where a
definition leaves something open, the schema is deduced from the value, as an API server does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import util
from pathlib import Path
from typing import Any, Final

from allotment.errors import AllotmentError

Raw = Mapping[str, Any]

META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_QUANTITY: Final = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_OPEN: Final = frozenset({"FieldsV1", "RawExtension", "JSON", "JSONSchemaProps"})
_KEY_DEFAULTS: Final = {"protocol": "TCP"}


class SchemasError(AllotmentError):
    """The published schemas are not to be had."""


@dataclass(frozen=True)
class Schemas:
    """The definitions that a schema's references lead to."""

    definitions: Mapping[str, Raw]

    def named(self, name: str) -> Schema:
        """The schema of a definition."""
        return Schema(self.definitions[name], self, name)

    def of_custom(self, raw: Raw) -> Schema:
        """The schema of a custom resource, with the metadata that every object has."""
        properties = {
            **(raw.get("properties") or {}),
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"$ref": f"#/$defs/{META}"},
        }
        return Schema({**raw, "type": "object", "properties": properties}, self, custom=True)


@dataclass(frozen=True)
class Schema:
    """One node of a schema. ``name`` is that of the definition, where it has one."""

    raw: Raw
    among: Schemas
    name: str = ""
    custom: bool = False

    @cached_property
    def short(self) -> str:
        """The name of the type: ``JobSpec``."""
        return self.name.rpartition(".")[2]

    @cached_property
    def types(self) -> frozenset[str]:
        """What a value may be, without null."""
        told = self.raw.get("type", ())
        return frozenset([told] if isinstance(told, str) else told) - {"null"}

    @cached_property
    def is_quantity(self) -> bool:
        """Whether it is an amount, which has one form in which it is kept."""
        return self.name == _QUANTITY

    @cached_property
    def is_open(self) -> bool:
        """Whether the value says what it is."""
        is_free = bool(self.raw.get("x-kubernetes-preserve-unknown-fields")) and not self.fields
        if self.short in _OPEN or is_free:
            return True
        return not self.types and not self.is_either

    @cached_property
    def is_either(self) -> bool:
        """Whether it is a number or a text."""
        return "oneOf" in self.raw or bool(self.raw.get("x-kubernetes-int-or-string"))

    @cached_property
    def fields(self) -> Mapping[str, Raw]:
        """The named fields."""
        found: Mapping[str, Raw] = self.raw.get("properties") or {}
        return found

    @cached_property
    def is_list(self) -> bool:
        """Whether it is a list."""
        return "array" in self.types

    @cached_property
    def is_map(self) -> bool:
        """Whether it is an object, with fields or with keys of the user's own."""
        return "object" in self.types

    @cached_property
    def has_free_keys(self) -> bool:
        """Whether it is an object with keys of the user's own."""
        return self.is_map and not self.fields

    @cached_property
    def is_atomic(self) -> bool:
        """Whether it has one owner as a whole."""
        if self.is_list:
            return bool(self.raw.get("x-kubernetes-list-type", "atomic") == "atomic")
        return bool(self.raw.get("x-kubernetes-map-type") == "atomic")

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The fields that tell the items of a list apart; none for a set."""
        return tuple(self.raw.get("x-kubernetes-list-map-keys") or ())

    def key_default(self, key: str) -> Any:
        """What stands for a key that an item leaves out, or None."""
        if self.custom:
            return self.element.fields.get(key, {}).get("default")
        return _KEY_DEFAULTS.get(key, "")

    def field(self, name: str) -> Schema | None:
        """The schema of a field or a key; None where the schema has none of that name."""
        if name in self.fields:
            return self._resolved(self.fields[name])
        if self.is_open or self.raw.get("x-kubernetes-preserve-unknown-fields"):
            return OPEN
        if self.has_free_keys:
            return self.element
        return None

    @cached_property
    def element(self) -> Schema:
        """The schema of the items, or of the values under free keys."""
        raw = self.raw.get("items" if self.is_list else "additionalProperties")
        return self._resolved(raw) if isinstance(raw, Mapping) else OPEN

    def _resolved(self, raw: Raw) -> Schema:
        reference = raw.get("$ref")
        if reference is None:
            return Schema(raw, self.among, custom=self.custom)
        name = reference.rpartition("/")[2]
        found = self.among.named(name)
        over = {key: value for key, value in raw.items() if key.startswith("x-kubernetes-")}
        return Schema({**found.raw, **over}, self.among, name) if over else found


OPEN: Final = Schema({"x-kubernetes-preserve-unknown-fields": True}, Schemas({}))


@cache
def published(version: str) -> Schemas:
    """The schemas that Kubernetes publishes for a version, as ``1.36``."""
    found = util.find_spec("kubernetes_validate")
    if found is None or found.origin is None:
        raise SchemasError(
            "the schemas of Kubernetes are not installed",
            remedy="install the package kubernetes-validate (it is among the dependencies for development)",
        )
    folder = Path(found.origin).parent / "kubernetes-json-schema" / f"v{version}.0-local"
    try:
        definitions = json.loads((folder / "_definitions.json").read_bytes())["$defs"]
    except OSError as error:
        raise SchemasError(
            f"there are no schemas of Kubernetes {version}: {error}",
            remedy="take a version that the installed kubernetes-validate has",
        ) from error
    return Schemas(definitions)
