"""Plain values as block YAML, always the same bytes, and fast: a cluster has a million of them.

Facts: PyYAML, even with libyaml, takes seven seconds for ten thousand pods, since it makes a node of every
value in Python; writing lines takes one. Keys are sorted. Text is plain where no reader of YAML 1.1 or 1.2
takes it for anything else, and in double quotes with JSON's escapes otherwise, so that it stays in its line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from allotment.documents.scalars import may_not_be_text

_PLAIN: Final = re.compile(r"[A-Za-z_/](?:[A-Za-z0-9_./@%+=-]|:(?=[A-Za-z0-9_./@])| (?=[A-Za-z0-9]))*")
_LONGEST_KEY: Final = 1000  # YAML takes 1,024 characters for a key, unless it is an explicit one
_HIDDEN: Final = re.compile("[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]")
_LONE: Final = re.compile("[\ud800-\udfff]")


def block_yaml(value: Mapping[str, Any]) -> str:
    """The mapping as a YAML document."""
    lines: list[str] = []
    _Writer(lines).mapping(value, "", "")
    return "\n".join(lines) + "\n"


class _Writer:
    """Adds lines; remembers how texts are written, for most occur again and again."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._texts: dict[str, str] = {}

    def mapping(self, value: Mapping[str, Any], indent: str, first: str) -> None:
        """The pairs, a line each; ``first`` is what stands before the first of them."""
        begin = first or indent
        for key in sorted(value):
            text = self._text(key)
            if len(text) > _LONGEST_KEY:
                self._lines.append(f"{begin}? {text}")
                begin, text = indent, ""
            self._after(f"{begin}{text}:", value[key], indent)
            begin = indent

    def _after(self, start: str, value: Any, indent: str) -> None:
        """A value behind its key; lists begin in the key's column."""
        if isinstance(value, str):
            self._lines.append(f"{start} {self._text(value)}")
        elif isinstance(value, Mapping) and value:
            self._lines.append(start)
            self.mapping(value, indent + "  ", "")
        elif isinstance(value, list | tuple) and value:
            self._lines.append(start)
            self._list(value, indent)
        else:
            self._lines.append(f"{start} {_plain(value)}")

    def _list(self, value: Any, indent: str) -> None:
        for each in value:
            if isinstance(each, str):
                self._lines.append(f"{indent}- {self._text(each)}")
            elif isinstance(each, Mapping) and each:
                self.mapping(each, indent + "  ", f"{indent}- ")
            elif isinstance(each, list | tuple) and each:
                self._lines.append(f"{indent}-")
                self._list(each, indent + "  ")
            else:
                self._lines.append(f"{indent}- {_plain(each)}")

    def _text(self, text: str) -> str:
        known = self._texts.get(text)
        if known is None:
            known = self._texts[text] = text_of(text)
        return known


def text_of(text: str) -> str:
    """A text as every reader of YAML takes it for text."""
    if _PLAIN.fullmatch(text) and not may_not_be_text(text):
        return text
    whole = _LONE.sub("\ufffd", text)
    return _HIDDEN.sub(_escaped, json.dumps(whole, ensure_ascii=False))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _plain(value: Any) -> str:
    """What is no text: numbers, booleans, nothing, and what is empty."""
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    text = json.dumps(value)
    if isinstance(value, float) and "e" in text and "." not in text:
        return text.replace("e", ".0e")  # without a point YAML 1.1 takes it for text
    return text
