"""What a selector is made of, for whoever explains it: its conditions, what it reads, what it compares with.

A selector that joins conditions with ``&&`` refuses a device for one of them; a person wants to know which.
Where it can be taken apart is told by the parser: within parentheses, texts and macros nothing is cut. A
selector that does not compile is one condition that reads nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from allotment.devices.cel.environment import Environment
from allotment.devices.cel.lexer import tokenize
from allotment.devices.cel.parser import parse
from allotment.devices.cel.source import CompileError
from allotment.devices.cel.syntax import Call, Expr, Ident, Literal, Select, children, literal_text

_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")
_AND: Final = "_&&_"
_INDEX: Final = "_[_]"
_OPTIONAL: Final = "_?._"
_OTHERWISE: Final = "orValue"
_MAPS: Final = ("attributes", "capacity")


@dataclass(frozen=True, slots=True)
class Read:
    """A place of the device: ``attributes`` or ``capacity`` with domain and key, or a field of its own."""

    map: str
    domain: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant that is compared with, and where its text stands."""

    value: str | int
    start: int
    end: int

    def replaced(self, expression: str, value: str | int) -> str:
        """The expression with another constant in this place."""
        text = str(value) if isinstance(value, int) else f"'{_escaped(value)}'"
        return expression[: self.start] + text + expression[self.end :]


@lru_cache(maxsize=1024)
def conditions(expression: str) -> tuple[str, ...]:
    """The conditions that must all hold, in their order; the text of each as it was written."""
    return tuple(_conditions(expression.strip()))


@lru_cache(maxsize=1024)
def reads(expression: str) -> tuple[Read, ...]:
    """What the expression reads of a device, each once, in the order of the text."""
    tree = _tree(expression)
    return () if tree is None else tuple(dict.fromkeys(_reads(tree)))


@lru_cache(maxsize=1024)
def constants(expression: str) -> tuple[Constant, ...]:
    """The texts and whole numbers in it that are no names of places, and no values for what is missing."""
    tree = _tree(expression)
    if tree is None:
        return ()
    tokens = {token.offset: token for token in tokenize(expression)[0]}
    found = []
    for literal in _literals(tree):
        token = tokens.get(literal.offset)
        value = literal.value
        if token is not None and token.kind in {"STRING", "NUM_INT"} and isinstance(value, str | int):
            found.append(Constant(value, token.offset, token.offset + len(token.text)))
    return tuple(found)


def _tree(expression: str) -> Expr | None:
    names = Environment().names
    try:
        return parse(expression, names.macros, names.syntax)
    except CompileError:
        return None


def _conditions(text: str) -> Iterator[str]:
    tree = _tree(text)
    if not (isinstance(tree, Call) and tree.function == _AND):
        yield text
        return
    depth, start, cuts = 0, 0, []
    for token in tokenize(text)[0]:
        depth += (token.kind in _OPENING) - (token.kind in _CLOSING)
        if token.kind == "&&" and not depth:
            cuts.append(token.offset)
    if not cuts:  # all of it stands in parentheses
        yield from _conditions(text[1:-1].strip()) if _is_enclosed(text) else (text,)
        return
    for cut in (*cuts, len(text)):
        yield from _conditions(text[start:cut].strip())
        start = cut + len("&&")


def _is_enclosed(text: str) -> bool:
    return text.startswith("(") and text.endswith(")")


def _reads(node: Expr) -> Iterator[Read]:
    found = _read(node)
    if found is not None:
        yield found
        return
    for child in children(node):
        yield from _reads(child)


def _read(node: Expr) -> Read | None:
    """The place that this very node is."""
    match node:
        case Select(operand=Ident(name="device"), field=field) if field not in _MAPS:
            return Read(field)
        case Select(operand=operand, field=field):
            return _keyed(operand, field)
        case Call(function=function, arguments=(operand, key)) if function in {_INDEX, _OPTIONAL}:
            return _keyed(operand, literal_text(key))
        case _:
            return None


def _keyed(node: Expr, key: str | None) -> Read | None:
    match node:
        case Call(
            function=function, arguments=(Select(operand=Ident(name="device"), field=field), domain)
        ) if function == _INDEX and field in _MAPS:
            text = literal_text(domain)
            return None if key is None or text is None else Read(field, text, key)
        case _:
            return None


def _literals(node: Expr) -> Iterator[Literal]:
    if isinstance(node, Literal):
        if not isinstance(node.value, bool):
            yield node
        return
    if _read(node) is not None:
        return
    if isinstance(node, Call) and node.function == _OTHERWISE and node.target is not None:
        yield from _literals(node.target)
        return
    for child in children(node):
        yield from _literals(child)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
