"""Variables for a team's programs: plain values, and secrets by name, never a secret's value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from allotment.documents.checking import Place, shown
from allotment.documents.shapes import Key, Record, TableOf, Text
from allotment.errors import Severity
from allotment.platform.names import look_label, look_printable, looks_secret
from allotment.repository.model import EnvironmentVariable
from allotment.repository.reserved_variables import why_ours, why_reserved

VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _look_variable(text: str, place: Place) -> None:
    if len(text) > 253 or not VARIABLE.fullmatch(text):
        hint = "use letters, digits and `_`, and no digit in front"
        place.refuse("bad-name", f"`{shown(text)}` cannot be a variable's name", hint, key=True)


def _look_program_variable(text: str, place: Place) -> None:
    _look_variable(text, place)
    _look_reserved(text, place, why_ours(text), "take another name")


def _look_pipeline_variable(text: str, place: Place) -> None:
    _look_variable(text, place)
    hint = "take another name; a step `command` can set it for its own program, as `env` of its settings"
    _look_reserved(text, place, why_reserved(text), hint)


def _look_reserved(text: str, place: Place, why: str | None, hint: str) -> None:
    if why is not None:
        place.refuse("reserved-variable", f"`{shown(text)}` may not be set here: {why}", hint, key=True)


SECRET: Final = Record(
    {
        "secret": Key(Text(look_label), required="name the secret"),
        "key": Key(Text(look_printable, longest=253), required="name the key within the secret"),
    },
    lambda values, place: EnvironmentVariable(str(place.loc[-1]), secret=values["secret"], key=values["key"]),
)


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable's value: a text, or the name of a secret and a key of it."""

    def read(self, value: object, place: Place) -> EnvironmentVariable:
        """The variable, under the name that its key gives it."""
        if isinstance(value, dict):
            return SECRET.read(value, place)
        name = str(place.loc[-1])
        if looks_secret(name):
            message = f"`{shown(name)}` looks like a secret, and a repository is no place for one"
            hint = "write {secret: NAME, key: KEY}"
            place.found("secret-in-file", message, hint, key=True, severity=Severity.WARNING)
        return EnvironmentVariable(name, value=Text(longest=32_768, empty=True).read(value, place))


PROGRAM_ENVIRONMENT: Final[TableOf[EnvironmentVariable]] = TableOf(Variable(), _look_program_variable)
"""Variables of a fleet or a gang."""
PIPELINE_ENVIRONMENT: Final[TableOf[EnvironmentVariable]] = TableOf(Variable(), _look_pipeline_variable)
"""Variables of a pipeline, whose runner they reach too."""
