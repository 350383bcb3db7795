"""Regular expressions as RE2 has them: no look-around, no back-references, time linear in the text.

Python's ``re`` backtracks, so that one selector could hold a scheduler for hours. Patterns are parsed here,
refused where RE2 refuses them, and run as sets of states. Syntax: github.com/google/re2/wiki/Syntax, in the
dialect of Go's ``regexp/syntax``.
"""

from __future__ import annotations

from allotment.devices.cel.regex.matching import Regex, compile_regex
from allotment.devices.cel.regex.nodes import RegexError

__all__ = ["Regex", "RegexError", "compile_regex"]
