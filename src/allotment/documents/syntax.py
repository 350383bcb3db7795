"""What libyaml says of a text that is no YAML, in our own words: what is wrong, and what to do.

The left column of the table is libyaml's wording (its scanner.c and parser.c, release 0.2.5); what is not in
the table is passed on as it is. Some faults are told where they were noticed, others where they began.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from allotment.documents.source import Source
from allotment.errors import Finding, Position

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

FAULTS: Final[dict[str, Fault]] = {
    "mapping values are not allowed in this context": Fault(
        NOTICED,
        "a key cannot stand here: the text before it is a value already",
        "put text with `: ` in it in quotes, and give the keys of one mapping the same indentation",
    ),
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
    "found undefined tag handle": Fault(NOTICED, "tags (`!…`) are not read here", QUOTE_HINT),
    "found incompatible YAML document": Fault(
        NOTICED, "this version of YAML is not read", "leave the line out"
    ),
    "did not find expected <document start>": Fault(
        NOTICED, "there is text after the end of the document", "leave out the `...` before it"
    ),
    "exceeded maximum nesting depth": Fault(
        NOTICED, "lists and mappings are nested too deeply", "flatten them"
    ),
    "found an indentation indicator equal to 0": Fault(
        NOTICED, "a text of several lines cannot be indented by 0", "leave the number out"
    ),
    "while scanning an alias": Fault(
        BEGAN, "a text cannot begin with `*`, which YAML reads as an alias", QUOTE_HINT
    ),
    "while scanning an anchor": Fault(
        BEGAN, "a text cannot begin with `&`, which YAML reads as an anchor", QUOTE_HINT
    ),
}


def syntax_finding(error: yaml.YAMLError, source: Source) -> Finding:
    """The finding for what libyaml could not read."""
    forbidden = FORBIDDEN.search(source.text)
    if forbidden is not None and not hasattr(error, "problem"):
        return _forbidden_character(source, forbidden.start())
    problem, context = getattr(error, "problem", None) or "", getattr(error, "context", None) or ""
    noticed, began = _offset(error, "problem_mark"), _offset(error, "context_mark")
    if "tab character" in problem or source.text[noticed : noticed + 1] == "\t":
        return Finding(
            source.position(noticed),
            "yaml-tab",
            "a tab stands where YAML takes only spaces",
            "indent with spaces",
        )
    if "cannot start any token" in problem:
        return _forbidden_start(source, noticed)
    if (missing := _missing_space(source, noticed)) is not None and "mapping values" in problem:
        message = "a key is followed by `: `, and the space is missing here"
        return Finding(missing, RULE, message, "put a space after the `:`")
    fault = FAULTS.get(context) or FAULTS.get(problem)
    if fault is None:
        return Finding(source.position(noticed), RULE, f"this is no YAML: {problem}", "look at this line")
    place = began if fault.place == BEGAN and getattr(error, "context_mark", None) else noticed
    return Finding(source.position(place), RULE, fault.message, fault.hint)


def _offset(error: yaml.YAMLError, mark: str) -> int:
    found = getattr(error, mark, None)
    return found.index if found is not None else 0


def _forbidden_character(source: Source, offset: int) -> Finding:
    """The finding for a control character, which no YAML has."""
    return Finding(
        source.position(offset),
        "control-character",
        f"the control character U+{ord(source.text[offset]):04X} cannot stand in a YAML file",
        'take it out, or write it as an escape in double quotes, such as "\\x1B"',
    )


def _forbidden_start(source: Source, offset: int) -> Finding:
    sign = source.text[offset : offset + 1]
    return Finding(
        source.position(offset), RULE, f"a text without quotes cannot begin with `{sign}`", QUOTE_HINT
    )


def _missing_space(source: Source, noticed: int) -> Position | None:
    """The place of a `key:value` without its space on the line before the one where libyaml stopped."""
    line_start = max(source.text.rfind("\n", 0, noticed), source.text.rfind("\r", 0, noticed)) + 1
    before = source.text[:line_start].rstrip()
    previous = before[max(before.rfind("\n"), before.rfind("\r")) + 1 :]
    match = NO_SPACE.match(previous)
    if match is None:
        return None
    return source.position(len(before) - len(previous) + match.start(1))
