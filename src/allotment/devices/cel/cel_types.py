"""The types of CEL and how they unify, as the checker of cel-go has them.

``format_type`` is how compile errors spell a type, ``str`` how the rest of Kubernetes does (``any`` against
``google.protobuf.Any``); both are part of messages that people search for. Assignability and the choice of
the more general type follow cel-go's ``checker/types.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_CONTAINERS: Final = frozenset({"opaque", "list", "map"})
_NULLABLE: Final = frozenset({"opaque", "struct", "any", "duration", "timestamp"})


@dataclass(frozen=True, slots=True)
class CelType:
    """A type: its kind, its name, and what it is made of."""

    kind: str
    name: str
    parameters: tuple[CelType, ...] = ()

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        return f"{self.name}({', '.join(map(str, self.parameters))})"


DYN: Final = CelType("dyn", "dyn")
ANY: Final = CelType("any", "google.protobuf.Any")
ERROR: Final = CelType("error", "error")
BOOL: Final = CelType("bool", "bool")
BYTES: Final = CelType("bytes", "bytes")
DOUBLE: Final = CelType("double", "double")
DURATION: Final = CelType("duration", "google.protobuf.Duration")
INT: Final = CelType("int", "int")
NULL: Final = CelType("null", "null_type")
STRING: Final = CelType("string", "string")
TIMESTAMP: Final = CelType("timestamp", "google.protobuf.Timestamp")
UINT: Final = CelType("uint", "uint")
TYPE: Final = CelType("type", "type")
QUANTITY: Final = CelType("struct", "kubernetes.Quantity")
SEMVER: Final = CelType("struct", "kubernetes.Semver")

_SHORT_NAMES: Final = {
    "any": "any",
    "duration": "duration",
    "error": "!error!",
    "null": "null",
    "timestamp": "timestamp",
}


def list_of(element: CelType) -> CelType:
    """``list(T)``."""
    return CelType("list", "list", (element,))


def map_of(key: CelType, value: CelType) -> CelType:
    """``map(K, V)``."""
    return CelType("map", "map", (key, value))


def optional_of(value: CelType) -> CelType:
    """``optional_type(T)``."""
    return CelType("opaque", "optional_type", (value,))


def type_of(inner: CelType) -> CelType:
    """``type(T)``: the type of a type."""
    return CelType("type", "type", (inner,))


def wrapper_of(inner: CelType) -> CelType:
    """A value of a simple type, or null: what Protocol Buffers' wrappers hold."""
    return CelType("wrapper", "wrapper", (inner,))


def unboxed(one: CelType) -> CelType:
    """The type with every wrapper replaced by what it wraps: which of the two it is seldom matters."""
    if one.kind == "wrapper":
        return one.parameters[0]
    if not one.parameters:
        return one
    return CelType(one.kind, one.name, tuple(map(unboxed, one.parameters)))


def parameter(name: str) -> CelType:
    """A type that is found out where it is used."""
    return CelType("parameter", name)


def struct(name: str) -> CelType:
    """An object with declared fields."""
    return CelType("struct", name)


def opaque(name: str) -> CelType:
    """A type of which nothing is known but its name."""
    return CelType("opaque", name)


def format_type(one: CelType) -> str:
    """How compile errors write a type."""
    short = _SHORT_NAMES.get(one.kind)
    if short is not None:
        return short
    if not one.parameters:
        return one.name
    return f"{one.name}({', '.join(map(format_type, one.parameters))})"


def format_signature(arguments: tuple[CelType, ...], *, is_member: bool) -> str:
    """How compile errors write the arguments of a call: ``(int, string)`` or ``int.(string)``."""
    names = [format_type(argument) for argument in arguments]
    if is_member:
        return f"{names[0]}.({', '.join(names[1:])})"
    return f"({', '.join(names)})"


def is_dyn(one: CelType) -> bool:
    """Whether anything may stand for it."""
    return one.kind in ("dyn", "any")


def is_optional(one: CelType) -> bool:
    """Whether it is ``optional_type(T)``."""
    return one.kind == "opaque" and one.name == "optional_type"


def unwrapped(one: CelType) -> tuple[CelType, bool]:
    """What an optional holds, and whether it was one."""
    return (one.parameters[0], True) if is_optional(one) else (one, False)


class Bindings:
    """What type parameters have been found to stand for; a failed attempt leaves no trace."""

    __slots__ = ("found",)

    def __init__(self, found: Mapping[CelType, CelType] | None = None) -> None:
        self.found = dict(found or {})

    def assignable(self, one: CelType, other: CelType) -> bool:
        """Whether ``one`` can be given where ``other`` is wanted; binds parameters if so."""
        return self.all_assignable((one,), (other,))

    def all_assignable(self, ones: tuple[CelType, ...], others: tuple[CelType, ...]) -> bool:
        """The same for arguments, all or none."""
        attempt = Bindings(self.found)
        if not attempt._assign_all(ones, others):
            return False
        self.found = attempt.found
        return True

    def resolve(self, one: CelType, *, free_is_dyn: bool = False) -> CelType:
        """The type with every bound parameter replaced, and free ones by ``dyn`` if wished."""
        bound = self.found.get(one)
        if bound is not None:
            return self.resolve(bound, free_is_dyn=free_is_dyn)
        if one.kind == "parameter":
            return DYN if free_is_dyn else one
        if not one.parameters:
            return one
        parts = tuple(self.resolve(part, free_is_dyn=free_is_dyn) for part in one.parameters)
        return CelType(one.kind, one.name, parts)

    def _assign_all(self, ones: tuple[CelType, ...], others: tuple[CelType, ...]) -> bool:
        if len(ones) != len(others):
            return False
        return all(self._assign(one, other) for one, other in zip(ones, others, strict=True))

    def _assign(self, one: CelType, other: CelType) -> bool:  # noqa: PLR0911 - the order of cel-go's questions
        if other.kind == "parameter":
            valid, had = self._bind(one, other)
            if valid:
                return True
            if had:
                return False
        if one.kind == "parameter":
            return self._bind(other, one)[0]
        if any(is_dyn(each) or each.kind == "error" for each in (one, other)):
            return True
        if one.kind == "null":
            return other.kind in _NULLABLE or other.kind in ("null", "wrapper")
        if other.kind == "null":
            return one.kind in _NULLABLE or one.kind == "wrapper"
        one, other = _bare(one), _bare(other)
        if one.kind == "type":
            return other.kind == "type"
        if one.kind in _CONTAINERS:
            alike = one.kind == other.kind and one.name == other.name
            return alike and self._assign_all(one.parameters, other.parameters)
        return one == other

    def _bind(self, one: CelType, free: CelType) -> tuple[bool, bool]:
        """Whether a parameter can stand for a type, and whether it stood for one already."""
        if one == free:
            return True, True
        bound = self.found.get(free)
        if bound is not None:
            if one == bound:
                return True, True
            if not self._assign(one, bound):
                return False, True
            wider = most_general(one, bound)
            if self._absent(free, wider):
                self.found[free] = wider
            return True, True
        if self._absent(free, one):
            self.found[free] = one
            return True, False
        return False, False

    def _absent(self, free: CelType, within: CelType) -> bool:
        """Whether a parameter does not occur in a type: it cannot stand for something that holds itself."""
        if free == within:
            return False
        if within.kind == "parameter":
            bound = self.found.get(within)
            return bound is None or self._absent(free, bound)
        return all(self._absent(free, part) for part in within.parameters)


def _bare(one: CelType) -> CelType:
    return one.parameters[0] if one.kind == "wrapper" else one


def most_general(one: CelType, other: CelType) -> CelType:
    """Of two types that unify, the one that says less."""
    return one if _says_no_more(one, other) else other


def _says_no_more(one: CelType, other: CelType) -> bool:
    if is_dyn(one) or one.kind == "parameter":
        return True
    one, other = _bare(one), _bare(other)
    if is_dyn(other) or other.kind == "parameter" or one.kind != other.kind:
        return False
    if one.kind in _CONTAINERS:
        if one.name != other.name or len(one.parameters) != len(other.parameters):
            return False
        return all(map(_says_no_more, one.parameters, other.parameters))
    return one.kind == "type" or one == other
