"""How many of something there are, in words, for labels and sentences alike."""

from __future__ import annotations


def counted(number: int, word: str, plural: str = "") -> str:
    """``1 page``, ``2 pages``, ``1,000 classes``; ``plural`` of a word that has one of its own."""
    return f"{number:,} {word if number == 1 else plural or _plural(word)}"


def _plural(word: str) -> str:
    if word.endswith("y") and not word.endswith(("ay", "ey", "oy")):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "ch", "x")) else f"{word}s"


def of_unit(amount: str, unit: str) -> str:
    """An amount beside its unit: ``1 pod``, ``4 pods``."""
    return f"{amount} {unit.removesuffix('s') if amount == '1' else unit}"
