"""The pages of rules: one a rule, read in a minute: what, why it matters, evidence, what to do, source.

They are written in ``docs/rules/<rule>.md``, where a browser finds them, and lie in the package as
``allotment/rule_pages`` where it is installed from a wheel. `allot explain RULE` shows them; every finding
names its rule, so that no finding needs an address.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

SECTIONS: Final = ("Why it matters", "Evidence", "What to do", "Source")
_PACKAGE: Final = Path(__file__).resolve().parent.parent


def rule_page(rule: str) -> str | None:
    """The page of a rule, as it is written; None when it has none."""
    for folder in folders():
        path = folder / f"{rule}.md"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    return None


def folders() -> tuple[Path, ...]:
    """Where pages may lie: in the installed package, in the checkout."""
    return _PACKAGE / "rule_pages", _PACKAGE.parent.parent / "docs" / "rules"
