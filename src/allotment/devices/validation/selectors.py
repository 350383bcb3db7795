"""What the server holds CEL expressions to when they are new: length, types, estimated cost.

From the validation of ``CELDeviceSelector`` in ``resource.k8s.io``. A new expression may use what the version
before the server's has, so that a cluster can go back to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allotment.devices.cel import COST_LIMIT, CompileError, Environment, compile_selector
from allotment.devices.server import Gate, Server
from allotment.devices.validation import raw
from allotment.devices.validation.problems import (
    Loc,
    Problem,
    Reason,
    each,
    invalid,
    required,
    too_long,
)
from allotment.devices.validation.raw import Raw

MOST_SELECTORS: Final = 32
LONGEST_EXPRESSION: Final = 10 * 1024


def of_selectors(value: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    """The selectors of a request or a class."""
    yield from each(
        raw.tables(value, "selectors"),
        (*loc, "selectors"),
        lambda selector, where: _of_selector(selector, where, server),
        server=server,
        most=MOST_SELECTORS,
    )


def _of_selector(selector: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    cel = raw.part(selector, "cel")
    if cel is None:
        yield required((*loc, "cel"), "a selector is {cel: {expression: …}}")
        return
    yield from of_expression(raw.text(cel, "expression"), (*loc, "cel", "expression"), server)


def of_expression(expression: str, loc: Loc, server: Server) -> Iterator[Problem]:
    """A CEL expression that is to become true or false of a device."""
    if len(expression.encode()) > LONGEST_EXPRESSION:
        yield too_long(loc, LONGEST_EXPRESSION)
        return
    try:
        program = compile_selector(expression, _environment(server))
    except CompileError as error:
        yield invalid(loc, error.text)
        return
    if program.max_cost > COST_LIMIT:
        words = f"it may cost {program.max_cost:,}, and {COST_LIMIT:,} is allowed"
        yield Problem(loc, Reason.FORBIDDEN, f"too complex, exceeds cost limit: {words}")


def _environment(server: Server) -> Environment:
    return Environment(
        kubernetes_version=server.name,
        stored=server.lenient,
        consumable_capacity=server.has(Gate.CONSUMABLE_CAPACITY),
        list_type_attributes=server.has(Gate.LIST_ATTRIBUTES),
    )
