"""Macros: calls that are rewritten before anything is checked.

``has(a.b)`` asks for a field, ``list.exists(x, p)`` and its kin walk over lists and maps, ``cel.bind`` names
a value. What each means as a comprehension is given by cel-go (``parser/macro.go``,
``ext/comprehensions.go``, ``ext/bindings.go``, ``ext/lists.go``, ``cel/library.go``) and shows in costs, so
it is followed exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from allotment.devices.cel.building import MacroBuilder, MacroError
from allotment.devices.cel.syntax import ACCUMULATOR, UNUSED, Expr, Ident, Literal, Select

Macro = Callable[[MacroBuilder, Expr, tuple[Expr, ...]], Expr | None]
"""``(make, target, arguments)`` to the expansion, or None where the call is an ordinary one.

A macro that is not called on a value is given its first argument as target.
"""

MacroKey = tuple[str, int, bool]
"""A macro's name, the number of its arguments, and whether it is called on a value."""

ANY_NUMBER: Final = -1
"""In place of the number of arguments, where a macro takes any."""

_NO_NAME: Final = "argument must be a simple name"
_NO_IDENTIFIER: Final = "argument is not an identifier"
"""What ``map`` and ``filter`` say instead."""
_RESERVED_NAMES: Final = frozenset({ACCUMULATOR, "__result__"})


def _has(make: MacroBuilder, target: Expr, _arguments: tuple[Expr, ...]) -> Expr:
    if isinstance(target, Select) and not target.test_only:
        return make.present(target.operand, target.field)
    raise MacroError(target.offset, "invalid argument to has() macro")


def _variables(arguments: tuple[Expr, ...], count: int, fault: str = _NO_NAME) -> tuple[str, ...]:
    """The names that a walk gives to what it meets."""
    names: list[str] = []
    for argument in arguments[:count]:
        if not isinstance(argument, Ident):
            raise MacroError(argument.offset, fault)
        if argument.name in names:
            raise MacroError(argument.offset, f"duplicate variable name: {argument.name}")
        names.append(argument.name)
    for argument, name in zip(arguments, names, strict=False):
        if name in _RESERVED_NAMES:
            raise MacroError(argument.offset, "iteration variable overwrites accumulator variable")
    return tuple(names)


def _all(count: int) -> Macro:
    def expand(make: MacroBuilder, target: Expr, arguments: tuple[Expr, ...]) -> Expr:
        return make.fold(
            target,
            _variables(arguments, count),
            initial=make.literal(True),  # noqa: FBT003 - a constant of the language
            condition=make.call("@not_strictly_false", make.result()),
            step=make.call("_&&_", make.result(), arguments[count]),
            result=make.result(),
        )

    return expand


def _exists(count: int) -> Macro:
    def expand(make: MacroBuilder, target: Expr, arguments: tuple[Expr, ...]) -> Expr:
        return make.fold(
            target,
            _variables(arguments, count),
            initial=make.literal(False),  # noqa: FBT003 - a constant of the language
            condition=make.call("@not_strictly_false", make.call("!_", make.result())),
            step=make.call("_||_", make.result(), arguments[count]),
            result=make.result(),
        )

    return expand


def _exists_one(count: int) -> Macro:
    def expand(make: MacroBuilder, target: Expr, arguments: tuple[Expr, ...]) -> Expr:
        one_more = make.call("_+_", make.result(), make.literal(1))
        return make.fold(
            target,
            _variables(arguments, count),
            initial=make.literal(0),
            condition=make.literal(True),  # noqa: FBT003 - a constant of the language
            step=make.call("_?_:_", arguments[count], one_more, make.result()),
            result=make.call("_==_", make.result(), make.literal(1)),
        )

    return expand


def _gather(make: MacroBuilder, target: Expr, names: tuple[str, ...], step: Expr, *, into_map: bool) -> Expr:
    """A walk that fills a new list or map."""
    return make.fold(
        target,
        names,
        initial=make.map() if into_map else make.list(),
        condition=make.literal(True),  # noqa: FBT003 - a constant of the language
        step=step,
        result=make.result(),
    )


def _to_list(count: int, *, filtered: bool) -> Macro:
    def expand(make: MacroBuilder, target: Expr, arguments: tuple[Expr, ...]) -> Expr:
        step: Expr = make.call("_+_", make.result(), make.list(arguments[-1]))
        if filtered:
            step = make.call("_?_:_", arguments[count], step, make.result())
        fault = _NO_IDENTIFIER if count == 1 else _NO_NAME
        return _gather(make, target, _variables(arguments, count, fault), step, into_map=False)

    return expand


def _filter(make: MacroBuilder, target: Expr, arguments: tuple[Expr, ...]) -> Expr:
    names = _variables(arguments, 1, _NO_IDENTIFIER)
    kept = make.call("_+_", make.result(), make.list(arguments[0]))
    step = make.call("_?_:_", arguments[1], kept, make.result())
    return _gather(make, target, names, step, into_map=False)


def _to_map(*, entries: bool, filtered: bool) -> Macro:
    def expand(make: MacroBuilder, target: Expr, arguments: tuple[Expr, ...]) -> Expr:
        names = _variables(arguments, 2)
        key = () if entries else (make.ident(names[0]),)
        step: Expr = make.call("cel.@mapInsert", make.result(), *key, arguments[-1])
        if filtered:
            step = make.call("_?_:_", arguments[2], step, make.result())
        return _gather(make, target, names, step, into_map=True)

    return expand


def named(make: MacroBuilder, name: str, value: Expr, result: Expr) -> Expr:
    """``result``, in which ``name`` stands for ``value``: a walk over nothing."""
    return make.fold(
        make.list(),
        (UNUSED,),
        accumulator=name,
        initial=value,
        condition=make.literal(False),  # noqa: FBT003 - a constant of the language
        step=make.ident(name),
        result=result,
    )


def _bind(make: MacroBuilder, target: Expr, arguments: tuple[Expr, ...]) -> Expr | None:
    if not isinstance(target, Ident) or target.name != "cel":
        return None
    name, value, result = arguments
    if not isinstance(name, Ident):
        raise MacroError(name.offset, "cel.bind() variable names must be simple identifiers")
    return named(make, name.name, value, result)


def _optional_map(function: str, *, flat: bool) -> Macro:
    def expand(make: MacroBuilder, target: Expr, arguments: tuple[Expr, ...]) -> Expr:
        name, body = arguments
        if not isinstance(name, Ident):
            raise MacroError(name.offset, f"{function}() variable name must be a simple identifier")
        value = named(make, name.name, make.member(make.copy(target), "value"), body)
        present = value if flat else make.call("optional.of", value)
        return make.call("_?_:_", make.member(target, "hasValue"), present, make.call("optional.none"))

    return expand


def _sort_by(make: MacroBuilder, target: Expr, arguments: tuple[Expr, ...]) -> Expr:
    if isinstance(target, Literal):
        message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        raise MacroError(target.offset, message)
    name = "@__sortBy_input__"
    key = make.call("_+_", make.result(), make.list(arguments[1]))
    keys = _gather(make, make.ident(name), _variables(arguments, 1, _NO_IDENTIFIER), key, into_map=False)
    return named(make, name, target, make.member(make.ident(name), "@sortByAssociatedKeys", keys))


STANDARD: Final[Mapping[MacroKey, Macro]] = {
    ("has", 1, False): _has,
    ("all", 2, True): _all(1),
    ("exists", 2, True): _exists(1),
    ("exists_one", 2, True): _exists_one(1),
    ("map", 2, True): _to_list(1, filtered=False),
    ("map", 3, True): _to_list(1, filtered=True),
    ("filter", 2, True): _filter,
}
OPTIONALS: Final[Mapping[MacroKey, Macro]] = {
    ("optMap", 2, True): _optional_map("optMap", flat=False),
    ("optFlatMap", 2, True): _optional_map("optFlatMap", flat=True),
}
TWO_VARIABLES: Final[Mapping[MacroKey, Macro]] = {
    ("all", 3, True): _all(2),
    ("exists", 3, True): _exists(2),
    ("existsOne", 3, True): _exists_one(2),
    ("exists_one", 3, True): _exists_one(2),
    ("transformList", 3, True): _to_list(2, filtered=False),
    ("transformList", 4, True): _to_list(2, filtered=True),
    ("transformMap", 3, True): _to_map(entries=False, filtered=False),
    ("transformMap", 4, True): _to_map(entries=False, filtered=True),
    ("transformMapEntry", 3, True): _to_map(entries=True, filtered=False),
    ("transformMapEntry", 4, True): _to_map(entries=True, filtered=True),
}
BINDINGS: Final[Mapping[MacroKey, Macro]] = {("bind", 3, True): _bind}
SORT_BY: Final[Mapping[MacroKey, Macro]] = {("sortBy", 2, True): _sort_by}


def expand(
    macros: Mapping[MacroKey, Macro],
    make: MacroBuilder,
    function: str,
    target: Expr | None,
    arguments: tuple[Expr, ...],
) -> Expr | None:
    """The expansion of a call, or None where it is no macro."""
    is_member = target is not None
    macro = macros.get((function, len(arguments), is_member)) or macros.get((function, ANY_NUMBER, is_member))
    return None if macro is None else macro(make, arguments[0] if target is None else target, arguments)
