"""What the server holds derived attributes to: an attribute that a request computes, for constraints alone.

From the validation of ``DeviceDerivedAttribute`` (Kubernetes 1.37, alpha). Each must be used by a constraint
that its request is part of. What an expression may cost, and that all of a claim together stay within the
same limit, is looked at where the expressions are compiled.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from typing import Final

from allotment.devices.server import Server
from allotment.devices.validation import raw
from allotment.devices.validation.names import of_fully_qualified
from allotment.devices.validation.problems import (
    Loc,
    Problem,
    each,
    invalid,
    required,
    too_long,
    too_many,
)
from allotment.devices.validation.raw import Raw
from allotment.devices.validation.selectors import LONGEST_EXPRESSION

MOST_DERIVED: Final = 32
_UNUSED: Final = (
    "must be referenced by at least one matchAttribute or distinctAttribute constraint targeting this request"
)


class Derived:
    """The rules on derived attributes, for a claim with these constraints."""

    def __init__(self, constraints: Sequence[Raw], server: Server) -> None:
        self._server = server
        self._used: dict[str, set[str]] = defaultdict(set)  # attributes by request; "": for every request
        for constraint in constraints:
            match = raw.said(constraint, "matchAttribute")
            name = raw.said(constraint, "distinctAttribute") if match is None else match
            if name is not None:
                for request in raw.texts(constraint, "requests") or ("",):
                    self._used[request].add(name)

    def of_request(self, request: Raw, loc: Loc, name: str) -> Iterator[Problem]:
        """The derived attributes of a request, or of an alternative (``request/alternative``)."""
        derived = raw.tables(request, "derivedAttributes")
        if not derived:
            return
        used = self._used[""] | self._used[name] | self._used[name.partition("/")[0]]
        here, fits = (*loc, "derivedAttributes"), len(derived) <= MOST_DERIVED
        if not fits:
            yield too_many(here, len(derived), MOST_DERIVED)
        yield from each(
            derived,
            here,
            lambda one, where: self._of_one(one, where, used, fits=fits),
            server=self._server,
            key=lambda one: raw.text(one, "name"),
        )

    def _of_one(self, derived: Raw, loc: Loc, used: Set[str], *, fits: bool) -> Iterator[Problem]:
        name, expression = raw.text(derived, "name"), raw.text(derived, "expression")
        if name and name not in used:
            yield invalid((*loc, "name"), f"`{name}` {_UNUSED}")
        if len(expression.encode()) > LONGEST_EXPRESSION:
            yield too_long((*loc, "expression"), LONGEST_EXPRESSION)
        if not fits:
            return
        if name:
            yield from of_fully_qualified(name, (*loc, "name"), self._server)
        else:
            yield required((*loc, "name"))
        if not expression:
            yield required((*loc, "expression"))
