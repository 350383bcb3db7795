"""What names mean in an environment, and names with dots in them.

A name is looked for in its container first, then in what surrounds that, as cel-spec has it: within ``a.b``
the name ``x`` may be ``a.b.x``, ``a.x`` or ``x``; a leading dot asks for the last only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from allotment.devices.cel.cel_types import CelType
from allotment.devices.cel.declarations import Implementation, Library, Overload
from allotment.devices.cel.grammar import EVERYTHING, Syntax
from allotment.devices.cel.library.messages import FIELDS
from allotment.devices.cel.macros import Macro, MacroKey
from allotment.devices.cel.syntax import Expr, Ident, Select

NEWEST_CEL_GO: Final = (0, 29)
STRICT_OPTIONALS: Final = (0, 28)
"""Since then ``or`` and ``orValue`` are errors of what is no optional."""


@dataclass(frozen=True, slots=True)
class Names:
    """The functions, macros, types, variables and objects that an expression may name."""

    overloads: Mapping[str, tuple[Overload, ...]]
    macros: Mapping[MacroKey, Macro]
    types: Mapping[str, CelType]
    dispatchers: Mapping[str, Implementation]
    variables: Mapping[str, CelType]
    constants: Mapping[str, int]
    structs: Mapping[str, Mapping[str, CelType]] = field(default_factory=dict)
    container: str = ""
    checks_constants: bool = False
    syntax: Syntax = EVERYTHING
    cel_go: tuple[int, int] = NEWEST_CEL_GO

    def candidates(self, name: str) -> Iterator[str]:
        """What a name may stand for, from the innermost container outwards."""
        if not name.startswith("."):
            container = self.container
            while container:
                yield f"{container}.{name}"
                container = container.rpartition(".")[0]
        yield name.removeprefix(".")

    def functions(self, name: str) -> tuple[str, tuple[Overload, ...]] | None:
        """A function's full name and its forms."""
        for candidate in self.candidates(name):
            forms = self.overloads.get(candidate)
            if forms is not None:
                return candidate, forms
        return None

    def has_fields(self, struct: str) -> bool:
        """Whether the fields of an object are declared."""
        return struct in self.structs

    def field(self, struct: str, name: str) -> CelType | None:
        """The type of an object's field."""
        return self.structs.get(struct, {}).get(name)


def names_of(
    libraries: Iterable[Library],
    variables: Mapping[str, CelType],
    *,
    structs: Mapping[str, Mapping[str, CelType]] | None = None,
    container: str = "",
    checks_constants: bool = False,
    syntax: Syntax = EVERYTHING,
    cel_go: tuple[int, int] = NEWEST_CEL_GO,
) -> Names:
    """The names that libraries bring, and variables; forms of one function are put together."""
    found = list(libraries)
    overloads: dict[str, tuple[Overload, ...]] = {}
    for library in found:
        for name, forms in library.functions.items():
            overloads[name] = overloads.get(name, ()) + forms
    return Names(
        overloads,
        {key: macro for library in found for key, macro in library.macros.items()},
        {name: each for library in found for name, each in library.names.items()},
        {name: each for library in found for name, each in library.dispatchers.items()},
        variables,
        {name: each for library in found for name, each in library.constants.items()},
        {**FIELDS, **(structs or {})},
        container,
        checks_constants,
        syntax,
        cel_go,
    )


def dotted_name(node: Expr) -> str | None:
    """``a.b.c`` as one name, where a node is nothing but that."""
    parts: list[str] = []
    while isinstance(node, Select) and not node.test_only:
        parts.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    return ".".join([node.name, *reversed(parts)])


def parameters_of(one: CelType) -> list[CelType]:
    """The type parameters within a type."""
    if one.kind == "parameter":
        return [one]
    return [found for part in one.parameters for found in parameters_of(part)]
