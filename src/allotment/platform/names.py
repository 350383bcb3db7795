"""Names, and what each kind of them may be: they become keys of the bucket, objects and labels.

Labels are those of RFC 1123, as Kubernetes names objects; a volume's id is a label's value, so that it can be
one. Every look refuses a name at its place with what is wrong and what would do.
"""

from __future__ import annotations

import re
from typing import Final

from allotment.documents.checking import Place, shown

RESERVED: Final = frozenset({"events", "cache"})
LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
WORD: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
QUALIFIED: Final = re.compile(
    r"(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
)
LABEL_RULE: Final = (
    "lower-case letters, digits and `-`, a letter or digit at both ends, at most 63 characters"
)

SECRET_WORDS: Final = frozenset(
    {"secret", "password", "passwd", "token", "credential", "credentials", "apikey"}
)
SECRET_PHRASES: Final = ("access_key", "private_key", "api_key")


def look_label(text: str, place: Place) -> None:
    """Refuse what is no label: names of teams, lanes, namespaces."""
    if not LABEL.fullmatch(text):
        place.refuse("bad-name", f"`{shown(text)}` is no name here", f"use {LABEL_RULE}")


def look_label_key(text: str, place: Place) -> None:
    """Refuse a key that is no label."""
    if not LABEL.fullmatch(text):
        place.refuse("bad-name", f"`{shown(text)}` is no name here", f"use {LABEL_RULE}", key=True)


def look_word_key(text: str, place: Place) -> None:
    """Refuse a key that is no plain word: ids of cards and sizes."""
    if len(text) > 63 or not WORD.fullmatch(text):
        hint = "use letters, digits, `.`, `_` and `-`, at most 63 of them"
        place.refuse("bad-name", f"`{shown(text)}` is no name here", hint, key=True)


def look_qualified(text: str, place: Place) -> None:
    """Refuse what is no label key, such as ``example.org/rack``."""
    if len(text) > 317 or not QUALIFIED.fullmatch(text):
        place.refuse("bad-name", f"`{shown(text)}` is no label", "write it as on the nodes: example.org/rack")


def look_printable(text: str, place: Place) -> None:
    """Refuse control characters, which no text of ours means."""
    if not text.isprintable():
        place.refuse("bad-text", f"`{place.name}` has a character that does not print", "take it out")


def looks_secret(name: str) -> bool:
    """Whether a setting of this name most likely holds a secret."""
    plain = name.lower().replace("-", "_")
    return not SECRET_WORDS.isdisjoint(plain.split("_")) or any(phrase in plain for phrase in SECRET_PHRASES)
