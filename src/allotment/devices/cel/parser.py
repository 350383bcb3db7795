"""Tokens to a tree: CEL's grammar by precedence climbing, with cel-go's limits and messages.

The grammar is cel-go's ``parser/gen/CEL.g4``; what is said about a syntax error is what its generated parser
says about the first one. Long chains of ``&&`` and ``||`` become balanced trees, as there. Limits: 100,000
characters, 250 levels.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final

from allotment.devices.cel import literals
from allotment.devices.cel.building import MacroBuilder, MacroError
from allotment.devices.cel.grammar import (
    EVERYTHING,
    FUNCTIONS,
    LEVELS,
    NUMBERS,
    RESERVED,
    STARTS,
    Syntax,
    balanced,
    constant_value,
)
from allotment.devices.cel.lexer import END, Token, tokenize
from allotment.devices.cel.macros import Macro, MacroKey, expand
from allotment.devices.cel.reading import Reader, StopReadingError
from allotment.devices.cel.source import NOWHERE, Issue, Source
from allotment.devices.cel.syntax import (
    Call,
    Entry,
    Expr,
    Field,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Select,
    StructExpr,
)

LONGEST: Final = 100_000
_MANY_TOKENS: Final = 60
_STACK: Final = 20_000


def parse(text: str, macros: Mapping[MacroKey, Macro], syntax: Syntax = EVERYTHING) -> Expr:
    """The tree of an expression; CompileError with every issue found."""
    source = Source(text)
    if len(text) > LONGEST:
        message = f"expression code point size exceeds limit: size: {len(text)}, limit {LONGEST}"
        raise source.error([Issue(NOWHERE, message)])
    tokens, issues = tokenize(text)
    if len(tokens) > _MANY_TOKENS and sys.getrecursionlimit() < _STACK:
        sys.setrecursionlimit(_STACK)
    parser = _Parser(text, tokens, issues, macros, syntax)
    tree = parser.whole()
    if issues or tree is None:
        raise source.error(issues)
    return tree


class _Parser(Reader):
    """The rules of the grammar, a method each."""

    def __init__(
        self,
        text: str,
        tokens: list[Token],
        issues: list[Issue],
        macros: Mapping[MacroKey, Macro],
        syntax: Syntax,
    ) -> None:
        super().__init__(text, tokens, issues)
        self.macros = macros
        self.syntax = syntax

    def whole(self) -> Expr | None:
        """The expression and nothing after it."""
        try:
            tree = self.expression()
            if self.kind != END:
                extra = self.tokens[self.at + 1].kind == END
                self.complain(
                    f"{'extraneous' if extra else 'mismatched'} input '{self.token.text}' expecting {END}"
                )
        except StopReadingError:
            return None
        return tree

    def expression(self, *extra: str) -> Expr:
        """``a ? b : c`` and everything that binds more tightly."""
        self.enter("expression")
        node = self.logical("||", extra)
        if self.kind == "?":
            offset = self.take().offset
            number = self.number()
            yes = self.logical("||", ())
            self.expect(":")
            no = self.expression()
            node = Call(number, offset, "_?_:_", (node, yes, no))
        self.depths["expression"] -= 1
        return node

    def logical(self, sign: str, extra: tuple[str, ...]) -> Expr:
        """A chain of ``||`` over chains of ``&&``."""
        terms = [self.term(sign, extra)]
        operators: list[tuple[int, int]] = []
        while self.kind == sign:
            offset = self.take().offset
            terms.append(self.term(sign, ()))
            operators.append((self.number(), offset))
        return terms[0] if not operators else balanced(f"_{sign}_", terms, operators, 0, len(operators) - 1)

    def term(self, sign: str, extra: tuple[str, ...]) -> Expr:
        return self.logical("&&", extra) if sign == "||" else self.binary(0, extra)

    def binary(self, level: int, extra: tuple[str, ...]) -> Expr:
        """Comparisons over sums over products, each from the left."""
        if level == len(LEVELS):
            return self.unary(extra)
        node = self.binary(level + 1, extra)
        entered = 0
        while (sign := self.kind) in LEVELS[level]:
            offset = self.take().offset
            number = self.number()
            self.enter(level)
            entered += 1
            other = self.binary(level + 1, ())
            node = Call(number, offset, FUNCTIONS.get(sign, f"_{sign}_"), (node, other))
        self.depths[level] -= entered
        return node

    def unary(self, extra: tuple[str, ...]) -> Expr:
        """``!`` and ``-``, any number of one of them."""
        sign = self.kind
        if sign not in ("!", "-"):
            return self.member(extra)
        if sign == "-" and self.tokens[self.at + 1].kind in NUMBERS:
            return self.member(extra)
        first = self.token.offset
        count = 0
        while self.accept(sign):
            count += 1
        self.after_signs(sign)
        number = self.number()
        operand = self.member(())
        return operand if count % 2 == 0 else Call(number, first, f"{sign}_", (operand,))

    def member(self, extra: tuple[str, ...]) -> Expr:
        """A value and what is asked of it: ``.field``, ``.call()``, ``[index]``."""
        if self.kind not in STARTS:
            self.start(extra)
        if self.kind == "!" or (self.kind == "-" and self.tokens[self.at + 1].kind not in NUMBERS):
            return self.unary(())
        node = self.primary()
        entered = 0
        while self.kind in (".", "["):
            self.enter("member")
            entered += 1
            node = self.selection(node) if self.kind == "." else self.index(node)
        self.depths["member"] -= entered
        return node

    def selection(self, operand: Expr) -> Expr:
        dot = self.take()
        optional = self.accept("?")
        if self.kind not in ("IDENTIFIER", "ESC_IDENTIFIER"):
            self.no_way_on(dot)
        name = self.take()
        field = self.field(name)
        if self.kind == "(" and not optional and name.kind == "IDENTIFIER":
            opening = self.take()
            return self.call(field, opening.offset, operand)
        number = self.number()
        if not optional:
            return Select(number, dot.offset, operand, field)
        if not self.syntax.optionals:
            self.report(dot.offset, "unsupported syntax '.?'")
        return Call(number, dot.offset, "_?._", (operand, Literal(self.number(), dot.offset, field)))

    def index(self, operand: Expr) -> Expr:
        bracket = self.take()
        number = self.number()
        optional = self.accept("?")
        if optional and not self.syntax.optionals:
            self.report(bracket.offset, "unsupported syntax '[?'")
        index = self.expression("?")
        self.expect("]")
        return Call(number, bracket.offset, "_[?_]" if optional else "_[_]", (operand, index))

    def call(self, function: str, offset: int, target: Expr | None = None) -> Expr:
        """The arguments of a call, behind its parenthesis, and its expansion if it is a macro."""
        number = self.number()
        arguments: list[Expr] = []
        if self.kind != ")":
            arguments.append(self.expression(")"))
            while self.accept(","):
                arguments.append(self.expression())
        self.expect(")")
        try:
            expanded = expand(
                self.macros, MacroBuilder(self.builder, offset), function, target, tuple(arguments)
            )
        except MacroError as error:
            self.issues.append(error.issue)
            return Literal(number, offset, None)
        return expanded or Call(number, offset, function, tuple(arguments), target)

    def primary(self) -> Expr:
        token = self.token
        match token.kind:
            case "(":
                self.take()
                node = self.expression()
                self.expect(")")
                return node
            case "[":
                return self.list_expr()
            case "{":
                return self.map_expr()
            case "IDENTIFIER" | ".":
                return self.name()
            case _:
                return self.constant()

    def constant(self) -> Expr:
        negative = self.accept("-")
        token = self.take()
        offset = token.offset - (0 if not negative else token.offset - self.tokens[self.at - 2].offset)
        try:
            value = constant_value(token, negative=negative)
        except literals.LiteralError as error:
            self.report(offset, str(error))
            value = None
        return Literal(self.number(), offset, value)

    def name(self) -> Expr:
        """A name, a call by it, or a message by a dotted one."""
        dot = self.token
        leading = "." if self.accept(".") else ""
        if self.kind != "IDENTIFIER":
            self.no_way_on(dot)
        token = self.take()
        name = leading + token.text
        if (length := self.message_name()) is not None:
            parts = [piece.text for piece in self.tokens[self.at : self.at + length]]
            self.at += length
            return self.message(leading + "".join([token.text, *parts]))
        if token.text in RESERVED:
            self.report(dot.offset, f"reserved identifier: {token.text}")
        if self.kind == "(":
            opening = self.take()
            return self.call(name, opening.offset)
        if token.text in RESERVED:
            return Literal(self.number(), token.offset, None)
        return Ident(self.number(), token.offset, name)

    def message_name(self) -> int | None:
        """How many tokens of ``.name`` lie before a ``{``, if nothing else does."""
        at = self.at
        while self.tokens[at].kind == "." and self.tokens[at + 1].kind == "IDENTIFIER":
            at += 2
        return at - self.at if self.tokens[at].kind == "{" else None

    def message(self, name: str) -> Expr:
        opening = self.take()
        number = self.number()
        fields: list[Field] = []
        while self.kind != "}":
            optional = self.kind == "?" and self.question()
            field = self.field(self.field_name(optional=optional))
            colon = self.expect(":")
            fields.append(Field(self.number(), colon.offset, field, self.expression(), optional))
            if not self.accept(","):
                break
        self.expect("}")
        return StructExpr(number, opening.offset, name, tuple(fields))

    def field_name(self, *, optional: bool) -> Token:
        """The name of a message's field."""
        if self.kind == "ESC_IDENTIFIER":
            return self.take()
        if not optional or self.kind == "IDENTIFIER":
            return self.expect("IDENTIFIER", "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}")
        self.report(self.tokens[self.at - 1].offset, "unsupported ident kind")
        return self.expect("IDENTIFIER", "{IDENTIFIER, ESC_IDENTIFIER}")

    def field(self, name: Token) -> str:
        """A field's name, without the backticks around it."""
        if name.kind != "ESC_IDENTIFIER":
            return name.text
        if not self.syntax.backticks:
            self.report(name.offset, "unsupported syntax: '`'")
        return literals.quoted_field(name.text)

    def list_expr(self) -> Expr:
        opening = self.take()
        number = self.number()
        elements: list[Expr] = []
        optional: set[int] = set()
        while self.kind != "]":
            if self.kind == "?":
                self.question()
                optional.add(len(elements))
            elements.append(self.expression("]", ",", "?"))
            if not self.accept(","):
                break
        self.expect("]", "{']', ','}")
        return ListExpr(number, opening.offset, tuple(elements), frozenset(optional))

    def map_expr(self) -> Expr:
        opening = self.take()
        number = self.number()
        entries: list[Entry] = []
        while self.kind != "}":
            optional = self.kind == "?" and self.question()
            key = self.expression("}", ",", "?")
            colon = self.expect(":")
            entry = self.number()
            entries.append(Entry(entry, colon.offset, key, self.expression(), optional))
            if not self.accept(","):
                break
        self.expect("}", "{'}', ','}")
        return MapExpr(number, opening.offset, tuple(entries))

    def question(self) -> bool:
        """The mark of an optional element."""
        offset = self.take().offset
        if not self.syntax.optionals:
            self.report(offset, "unsupported syntax '?'")
        return True
