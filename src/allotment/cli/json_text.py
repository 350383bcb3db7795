"""JSON as a terminal may show it: what could steer one, or turn its text about, is written as its code.

JSON escapes the control characters of ASCII alone. Others, and the marks that change the direction of text,
stand in names and messages of a cluster as they are; a program reads the same value either way.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from allotment.cli.shared import is_shown

_BEYOND: Final = re.compile(r"[^\n\x20-\x7e]")


def json_text(value: Any, *, indent: int | None = 2) -> str:
    """The value as a text of JSON."""
    return _BEYOND.sub(_char, json.dumps(value, ensure_ascii=False, indent=indent))


def _char(match: re.Match[str]) -> str:
    char = match[0]
    return char if is_shown(char) else json.dumps(char)[1:-1]
