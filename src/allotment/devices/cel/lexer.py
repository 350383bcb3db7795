"""An expression's text to tokens.

Characters that begin no token are reported and skipped, as cel-go's generated lexer does, so that one typing
mistake does not hide the next.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from allotment.devices.cel.source import Issue

_ESCAPE: Final = r"\\(?:[abfnrtv\"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
_PLAIN_STRING: Final = "|".join(
    [
        rf'"""(?:{_ESCAPE}|[^\\])*?"""',
        rf"'''(?:{_ESCAPE}|[^\\])*?'''",
        rf'"(?:{_ESCAPE}|[^\\"\n\r])*"',
        rf"'(?:{_ESCAPE}|[^\\'\n\r])*'",
    ]
)
_RAW_STRING: Final = "|".join([r'"""[\s\S]*?"""', r"'''[\s\S]*?'''", r'"[^"\n\r]*"', r"'[^'\n\r]*'"])
_STRING: Final = rf"(?:[rR](?:{_RAW_STRING})|{_PLAIN_STRING})"
_TOKEN: Final = re.compile(
    "|".join(
        [
            r"(?P<skip>[\t \r\n\f]+|//[^\n]*)",
            r"(?P<NUM_FLOAT>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)",
            r"(?P<NUM_UINT>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])",
            r"(?P<NUM_INT>0x[0-9a-fA-F]+|[0-9]+)",
            rf"(?P<BYTES>[bB]{_STRING})",
            rf"(?P<STRING>{_STRING})",
            r"(?P<word>[A-Za-z_][A-Za-z0-9_]*)",
            r"(?P<ESC_IDENTIFIER>`[A-Za-z0-9_.\-/ ]+`)",
            r"(?P<sign>==|!=|<=|>=|&&|\|\||[<>\[\]{}().,\-!?:+*/%])",
        ]
    )
)
_UNREAD: Final = re.compile(
    "|".join(
        [
            *(
                rf"{quote}(?:{_ESCAPE}|[^\\{quote}\n\r])*"
                r"(?:\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?)?[\s\S]?"
                for quote in ('"', "'")
            ),
            r"[=&|][\s\S]?",
            r"`[A-Za-z0-9_.\-/ ]*[\s\S]?",
            r"[\s\S]",
        ]
    )
)
"""What is read in vain before it is given up: up to the character that fits nowhere."""
_WORDS: Final = frozenset({"in", "true", "false", "null"})
END: Final = "<EOF>"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text. ``kind``: a name in capitals for a group of tokens, or the sign itself."""

    kind: str
    text: str
    offset: int


def tokenize(text: str) -> tuple[list[Token], list[Issue]]:
    """The tokens, an end marker last, and what could not be read."""
    tokens: list[Token] = []
    issues: list[Issue] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            unread = _UNREAD.match(text, at)
            piece = unread.group() if unread else text[at]
            issues.append(Issue(at, f"Syntax error: token recognition error at: '{piece}'"))
            at += len(piece)
            continue
        kind = match.lastgroup
        piece = match.group()
        if kind == "word":
            tokens.append(Token(piece if piece in _WORDS else "IDENTIFIER", piece, at))
        elif kind == "sign":
            tokens.append(Token(piece, piece, at))
        elif kind is not None and kind != "skip":
            tokens.append(Token(kind, piece, at))
        at = match.end()
    tokens.append(Token(END, END, len(text)))
    return tokens, issues
