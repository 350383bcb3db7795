"""Reading tokens one by one, and saying what is wrong with the next one as cel-go's generated parser does."""

from __future__ import annotations

from typing import Final, NoReturn

from allotment.devices.cel.building import Builder
from allotment.devices.cel.grammar import BEHIND, CONSTANTS, LEVELS, NUMBERS, STARTS, expected
from allotment.devices.cel.lexer import END, Token
from allotment.devices.cel.source import NOWHERE, Issue

DEEPEST: Final = 250


class StopReadingError(Exception):
    """The text cannot be read on."""


class Reader:
    """Reads tokens from the left; ``at`` is the next one."""

    def __init__(self, text: str, tokens: list[Token], issues: list[Issue]) -> None:
        self.text = text
        self.tokens = tokens
        self.issues = issues
        self.at = 0
        self.builder = Builder()
        self.depths: dict[str | int, int] = dict.fromkeys(("expression", "member", *range(len(LEVELS))), 0)

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.at]

    @property
    def kind(self) -> str:
        """The kind of the next token."""
        return self.tokens[self.at].kind

    def number(self) -> int:
        """The number of the next node."""
        return self.builder.number()

    def complain(self, message: str, offset: int | None = None) -> None:
        """A syntax error at the next token."""
        self.issues.append(Issue(self.token.offset if offset is None else offset, f"Syntax error: {message}"))

    def report(self, offset: int, message: str) -> None:
        """An error that is not the grammar's."""
        self.issues.append(Issue(offset, message))

    def take(self) -> Token:
        """The next token, which is used up."""
        token = self.tokens[self.at]
        if token.kind != END:
            self.at += 1
        return token

    def accept(self, kind: str) -> bool:
        """Takes the next token if it is of this kind."""
        if self.tokens[self.at].kind != kind:
            return False
        self.at += 1
        return True

    def expect(self, kind: str, among: str | None = None) -> Token:
        """Takes a token that must come; a forgotten one is named, a surplus one skipped."""
        if self.kind == kind:
            return self.take()
        wanted = among or f"'{kind}'"
        following = self.tokens[min(self.at + 1, len(self.tokens) - 1)].kind
        if following == kind:
            self.complain(f"extraneous input '{self.token.text}' expecting {wanted}")
            self.at += 1
            return self.take()
        if among is None and self.kind in BEHIND.get(kind, ()):
            self.complain(f"missing '{kind}' at '{self.token.text}'")
            return Token(kind, kind, self.token.offset)
        self.complain(f"mismatched input '{self.token.text}' expecting {wanted}")
        raise StopReadingError

    def no_way_on(self, first: Token) -> NoReturn:
        """Gives up at the next token: no rule goes on like this from ``first``."""
        if self.kind in CONSTANTS and first.kind == ".":
            self.complain(f"mismatched input '{self.token.text}' expecting IDENTIFIER")
        else:
            self.complain(f"no viable alternative at input '{self.since(first)}'")
        raise StopReadingError

    def since(self, first: Token) -> str:
        """The text from a token to the next one, which is included."""
        end = self.token.offset + (0 if self.kind == END else len(self.token.text))
        return self.text[first.offset : end].rstrip()

    def enter(self, what: str | int, times: int = 1) -> None:
        """One level deeper; too deep ends it."""
        self.depths[what] += times
        if self.depths[what] > DEEPEST:
            self.report(NOWHERE, f"expression recursion limit exceeded: {DEEPEST}")
            raise StopReadingError

    def after_signs(self, sign: str) -> None:
        """Refuses what cannot come behind ``!`` or ``-``."""
        if sign == "!" and self.kind == "-":
            dash = self.take()
            if self.kind in CONSTANTS:
                self.complain(f"mismatched input '{self.token.text}' expecting IDENTIFIER")
                raise StopReadingError
            if self.kind not in NUMBERS:
                self.no_way_on(dash)
            self.at -= 1
        if self.kind in STARTS and (sign, self.kind) != ("-", "!"):
            return
        if sign == "-":
            self.complain(f"no viable alternative at input '{self.since(self.tokens[self.at - 1])}'")
        if self.kind == END:
            problem = "mismatched" if sign == "-" else "extraneous"
            self.complain(f"{problem} input '{END}' expecting {expected(STARTS)}")
        if self.kind in (END, "!"):
            raise StopReadingError
        self.start(())

    def start(self, extra: tuple[str, ...]) -> None:
        """Skips one surplus token before a value, or gives up."""
        following = self.tokens[min(self.at + 1, len(self.tokens) - 1)].kind
        wanted = expected((*STARTS, *extra))
        if self.kind != END and following in STARTS:
            self.complain(f"extraneous input '{self.token.text}' expecting {wanted}")
            self.at += 1
            return
        self.complain(f"mismatched input '{self.token.text}' expecting {wanted}")
        raise StopReadingError
