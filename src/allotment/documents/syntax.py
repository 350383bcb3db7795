"""What libyaml says of a text that is no YAML, in our own words: what is wrong, and what to do.

The left column of the table is libyaml's wording (its scanner.c and parser.c, release 0.2.5); what is not in
the table is passed on as it is. Some faults are told where they were noticed, others where they began.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from allotment.documents.source import Source
from allotment.errors import Finding

if TYPE_CHECKING:
    import yaml

RULE: Final = "yaml-syntax"
NOTICED, BEGAN = "noticed", "began"
NO_SPACE: Final = re.compile(r"\s*(?:- )?[A-Za-z_]\w*(:)[^\s:/]")


class Fault(NamedTuple):
    """How one of libyaml's sentences is told."""

    place: str
    message: str
    hint: str


FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

INDENT_HINT: Final = "give the keys of one mapping the same indentation, in spaces"
QUOTE_HINT: Final = "put the text in quotes"
TAGS: Final = "a text cannot begin with `!`, which YAML reads as a tag"
DIRECTIVE: Final = "a line cannot begin with `%`, which YAML reads as a directive"
MISPLACED_KEY: Final = "mapping values are not allowed in this context"

FAULTS: Final[dict[str, Fault]] = {
    "could not find expected ':'": Fault(
        BEGAN, "this line is neither `key: value` nor a list's item", "a `:` needs a space after it"
    ),
    "found unexpected end of stream": Fault(BEGAN, "the quote that opens here is never closed", "close it"),
    "found unexpected document indicator": Fault(
        BEGAN, "the quote that opens here is not closed before the next `---` or `...`", "close it"
    ),
    "did not find expected ',' or ']'": Fault(
        BEGAN, "the list that opens here is not closed", "close it with `]`, and put `,` between its items"
    ),
    "did not find expected ',' or '}'": Fault(
        BEGAN, "the mapping that opens here is not closed", "close it with `}`, and put `,` between its pairs"
    ),
    "did not find expected key": Fault(NOTICED, "a key was expected here", INDENT_HINT),
    "did not find expected '-' indicator": Fault(
        NOTICED, "an item of the list was expected here, beginning with `- `", "begin every item with `- `"
    ),
    "block sequence entries are not allowed in this context": Fault(
        NOTICED, "a list cannot begin here, on the line of its key", "begin it on the next line"
    ),
    "did not find expected node content": Fault(
        NOTICED, "a value was expected here", "put text that begins with a bracket or a comma in quotes"
    ),
    "did not find expected comment or line break": Fault(
        BEGAN,
        "`>` and `|` begin a text of several lines here, and are no comparison",
        'put the value in quotes, such as ">40Gi"',
    ),
    "found unknown escape character": Fault(
        NOTICED,
        "in double quotes a backslash begins an escape, and this one does not exist",
        "use single quotes",
    ),
    "did not find expected hexdecimal number": Fault(
        NOTICED, "in double quotes `\\x`, `\\u` and `\\U` take hexadecimal digits", "use single quotes"
    ),
    "found invalid Unicode character escape code": Fault(
        NOTICED, "this escape names no character", "write the character itself"
    ),
    "found undefined tag handle": Fault(NOTICED, TAGS, QUOTE_HINT),
    "found incompatible YAML document": Fault(
        NOTICED, "this version of YAML is not read", "leave the line out"
    ),
    "did not find expected <document start>": Fault(
        NOTICED, "there is text after the end of the document", "leave out the `...` before it"
    ),
    "found an indentation indicator equal to 0": Fault(
        NOTICED, "a text of several lines cannot be indented by 0", "leave the number out"
    ),
    "mapping keys are not allowed in this context": Fault(NOTICED, "a key cannot begin here", INDENT_HINT),
    "found unexpected ':'": Fault(NOTICED, "a `:` cannot stand here", QUOTE_HINT),
    "while scanning a directive": Fault(BEGAN, DIRECTIVE, QUOTE_HINT),
    "while scanning a %YAML directive": Fault(BEGAN, DIRECTIVE, "leave the line out"),
    "while scanning a %TAG directive": Fault(BEGAN, DIRECTIVE, "leave the line out"),
    "while parsing a %TAG directive": Fault(BEGAN, DIRECTIVE, "leave the line out"),
    "did not find expected '!'": Fault(NOTICED, DIRECTIVE, "leave the line out"),
    "while scanning a tag directive": Fault(BEGAN, DIRECTIVE, "leave the line out"),
    "while scanning a tag": Fault(BEGAN, TAGS, QUOTE_HINT),
    "while parsing a tag": Fault(BEGAN, TAGS, QUOTE_HINT),
    "while scanning an alias": Fault(
        BEGAN, "a text cannot begin with `*`, which YAML reads as an alias", QUOTE_HINT
    ),
    "while scanning an anchor": Fault(
        BEGAN, "a text cannot begin with `&`, which YAML reads as an anchor", QUOTE_HINT
    ),
}


class Trouble(NamedTuple):
    """What libyaml said of a text, and the offsets where it noticed and where the construct began."""

    source: Source
    problem: str
    context: str
    noticed: int
    began: int

    def told(self, offset: int, message: str, hint: str, rule: str = RULE) -> Finding:
        """A finding at an offset of the text."""
        return Finding(self.source.position(offset), rule, message, hint)

    @property
    def line_start(self) -> int:
        """The offset of the line where libyaml noticed."""
        return max(self.source.text.rfind(end, 0, self.noticed) for end in "\n\r") + 1


def syntax_finding(error: yaml.YAMLError, source: Source) -> Finding:
    """The finding for what libyaml could not read."""
    noticed, began = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    offset = noticed.index if noticed is not None else 0
    trouble = Trouble(
        source,
        getattr(error, "problem", None) or "",
        getattr(error, "context", None) or "",
        offset,
        began.index if began is not None else offset,
    )
    return next(filter(None, (look(trouble) for look in LOOKS)))


def _forbidden_character(trouble: Trouble) -> Finding | None:
    """A control character is all that libyaml refuses without calling it a problem."""
    match = FORBIDDEN.search(trouble.source.text)
    if trouble.problem or match is None:
        return None
    message = f"the control character U+{ord(match.group()):04X} cannot stand in a YAML file"
    hint = 'take it out, or write it as an escape in double quotes, such as "\\x1B"'
    return trouble.told(match.start(), message, hint, "control-character")


def _tab(trouble: Trouble) -> Finding | None:
    if "tab character" in trouble.problem or trouble.source.text.startswith("\t", trouble.noticed):
        message = "a tab stands where YAML takes only spaces"
        return trouble.told(trouble.noticed, message, "indent with spaces", "yaml-tab")
    return None


def _too_deep(trouble: Trouble) -> Finding | None:
    if trouble.problem != "exceeded maximum nesting depth":
        return None
    message = "lists and mappings are nested too deeply"
    return trouble.told(trouble.noticed, message, "flatten them", "nested-too-deep")


def _forbidden_start(trouble: Trouble) -> Finding | None:
    if trouble.problem != "found character that cannot start any token":
        return None
    sign = trouble.source.text[trouble.noticed : trouble.noticed + 1]
    return trouble.told(trouble.noticed, f"a text without quotes cannot begin with `{sign}`", QUOTE_HINT)


def _misplaced_key(trouble: Trouble) -> Finding | None:
    """A key where none can be; the fault is often a `key:value` without its space, on the line before."""
    if trouble.problem != MISPLACED_KEY:
        return None
    text, noticed, line_start = trouble.source.text, trouble.noticed, trouble.line_start
    above = text[:line_start].rstrip()
    previous = max(above.rfind("\n"), above.rfind("\r")) + 1
    if match := NO_SPACE.match(above, previous):
        message = "a key is followed by `: `, and the space is missing here"
        return trouble.told(match.start(1), message, "put a space after the `:`")
    before = text[line_start:noticed]
    place = noticed if ": " in before else noticed - len(before.lstrip(" -"))
    message = "a key cannot stand here: the text before it is a value already"
    hint = "put text with `: ` in it in quotes, and give the keys of one mapping the same indentation"
    return trouble.told(place, message, hint)


def _by_table(trouble: Trouble) -> Finding:
    fault = FAULTS.get(trouble.context) or FAULTS.get(trouble.problem)
    if fault is None:
        return trouble.told(trouble.noticed, f"this is no YAML: {trouble.problem}", "look at this line")
    place = trouble.began if fault.place == BEGAN else trouble.noticed
    return trouble.told(place, fault.message, fault.hint)


LOOKS: Final[tuple[Callable[[Trouble], Finding | None], ...]] = (
    _forbidden_character,
    _tab,
    _too_deep,
    _forbidden_start,
    _misplaced_key,
    _by_table,
)
