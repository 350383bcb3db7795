"""``find`` and ``findAll``: Kubernetes' functions of regular expressions."""

from __future__ import annotations

from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.declarations import Library, member
from allotment.devices.cel.problems import EvaluationError
from allotment.devices.cel.regex import Regex, RegexError, compile_regex


def _compiled(pattern: str) -> Regex:
    try:
        return compile_regex(pattern)
    except RegexError as error:
        raise EvaluationError(f"Illegal regex: {error}") from error


def _find(text: str, pattern: str) -> str:
    span = _compiled(pattern).find(text)
    return text[span[0] : span[1]] if span else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    return _compiled(pattern).find_all(text, limit)


_S: Final = t.STRING
PATTERNS: Final = Library(
    {
        "find": (member("string_find_string", (_S, _S), _S, _find),),
        "findAll": (
            member("string_find_all_string", (_S, _S), t.list_of(_S), _find_all),
            member("string_find_all_string_int", (_S, _S, t.INT), t.list_of(_S), _find_all),
        ),
    }
)
