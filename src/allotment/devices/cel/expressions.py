"""CEL by itself: expressions over any variables, with all of cel-go's extensions.

Selectors are compiled by ``program``, for a device and with what a version of Kubernetes has. This is the
same language without Kubernetes, which can be held against the tests of its specification.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from allotment.devices.cel.blocks import BLOCKS
from allotment.devices.cel.cel_types import CelType
from allotment.devices.cel.checked import Checked
from allotment.devices.cel.checker import check
from allotment.devices.cel.closures import Closures
from allotment.devices.cel.declarations import Library
from allotment.devices.cel.library.encoders import ENCODERS
from allotment.devices.cel.library.lists import LISTS, RANGES
from allotment.devices.cel.library.mathematics import MATHEMATICS
from allotment.devices.cel.library.optionals import OPTIONAL_ELEMENTS, OPTIONALS
from allotment.devices.cel.library.sets import SETS
from allotment.devices.cel.library.standard import standard_library
from allotment.devices.cel.library.strings import STRINGS_NEWEST
from allotment.devices.cel.library.walks import BINDINGS, TWO_VARIABLES
from allotment.devices.cel.naming import Names, names_of
from allotment.devices.cel.parser import parse
from allotment.devices.cel.source import Source
from allotment.devices.cel.values import Value

EXTENSIONS: Final = (
    standard_library(crossed=True),
    OPTIONALS,
    OPTIONAL_ELEMENTS,
    STRINGS_NEWEST,
    MATHEMATICS,
    ENCODERS,
    SETS,
    LISTS,
    RANGES,
    TWO_VARIABLES,
    BINDINGS,
    Library({}, BLOCKS),
)


def language(
    variables: Mapping[str, CelType], *, container: str = "", libraries: Iterable[Library] = ()
) -> Names:
    """What an expression may name: all extensions, ``variables``, and the functions of ``libraries``."""
    return names_of([*EXTENSIONS, *libraries], variables, container=container)


class Expression:
    """A compiled expression."""

    __slots__ = ("_compute", "_slots", "checked")

    def __init__(self, checked: Checked, names: Names) -> None:
        closures = Closures(checked, names, strict=True)
        self.checked = checked
        self._compute: Any = closures.compute(checked.tree)
        self._slots = closures.slots

    @property
    def type(self) -> CelType:
        """The type of the result, as far as it is known before variables are."""
        return self.checked.result

    def evaluate(self, variables: Mapping[str, Value] | None = None) -> Value:
        """The value; EvaluationError where there is none."""
        return self._compute(variables or {}, [None] * self._slots)


def compile_expression(text: str, names: Names, *, forgiving: bool = False) -> Expression:
    """An expression made ready; CompileError with everything that is wrong with it.

    ``forgiving``: types are not checked, and what does not fit is an error of the evaluation.
    """
    tree = parse(text, names.macros, names.syntax)
    return Expression(check(tree, Source(text), names, forgiving=forgiving), names)
