"""Numbers, strings and bytes as they are written in an expression."""

from __future__ import annotations

import re
from typing import Final

from allotment.devices.cel.numbers64 import INT_MAX, INT_MIN, UINT_MAX, UInt

_ESCAPE: Final = re.compile(
    r"\\(?:(?P<simple>[abfnrtv\"'\\?`])|(?P<octal>[0-3][0-7][0-7])|[xX](?P<byte>[0-9a-fA-F]{2})"
    r"|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8}))"
)
_SIMPLE: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class LiteralError(ValueError):
    """A constant that cannot be; the message is cel-go's."""


def int_literal(text: str, *, negative: bool) -> int:
    """A signed number, decimal or hexadecimal."""
    value = _integer(text)
    value = -value if negative else value
    if not INT_MIN <= value <= INT_MAX:
        raise LiteralError("invalid int literal")
    return value


def uint_literal(text: str) -> UInt:
    """An unsigned number: digits and ``u``."""
    value = _integer(text[:-1])
    if value > UINT_MAX:
        raise LiteralError("invalid uint literal")
    return UInt(value)


def float_literal(text: str, *, negative: bool) -> float:
    """A number with a point or an exponent."""
    value = float(text)
    if value == float("inf"):
        raise LiteralError("invalid double literal")
    return -value if negative else value


def string_literal(text: str) -> str:
    """What a quoted text says."""
    body, raw = _body(text)
    if raw:
        return body
    return _ESCAPE.sub(_character, body)


def bytes_literal(text: str) -> bytes:
    """What quoted bytes say: text as UTF-8, ``\\x`` and octal escapes as single bytes."""
    body, raw = _body(text[1:])
    if raw:
        return body.encode()
    result = bytearray()
    at = 0
    for match in _ESCAPE.finditer(body):
        result += body[at : match.start()].encode()
        if match["octal"] or match["byte"]:
            result.append(int(match["octal"], 8) if match["octal"] else int(match["byte"], 16))
        else:
            result += _character(match).encode()
        at = match.end()
    return bytes(result + body[at:].encode())


def quoted_field(text: str) -> str:
    """A field's name between backticks."""
    return text[1:-1]


def _integer(text: str) -> int:
    if text.startswith("0x"):
        return int(text[:30], 16)
    return int(text.lstrip("0")[:30] or "0")


def _body(text: str) -> tuple[str, bool]:
    """The text between the quotes, and whether it is raw."""
    raw = text[0] in "rR"
    text = text.removeprefix(text[0]) if raw else text
    width = 3 if text[:3] in {'"""', "'''"} and len(text) >= 6 else 1
    body = text[width:-width]
    return body.replace("\r\n", "\n").replace("\r", "\n"), raw


def _character(match: re.Match[str]) -> str:
    """The character that an escape stands for."""
    if simple := match["simple"]:
        return _SIMPLE.get(simple, simple)
    if match["octal"]:
        return chr(int(match["octal"], 8))
    code = int(match["byte"] or match["short"] or match["long"], 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise LiteralError("invalid unicode code point")
    return chr(code)
