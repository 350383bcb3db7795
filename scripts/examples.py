"""Write what `allot compare` and `allot plan` say of examples/compare, by the calls of its README.

Plans tell times by the clock: it stands still here, in Greenwich, so that the same files give the same words.
"""

from __future__ import annotations

import io
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, TypeVar
from unittest.mock import patch

from allotment.cli import invoke
from allotment.cli.plans.planned import planned
from allotment.planning.compare.comparing import compare

T = TypeVar("T")
EXAMPLES: Final = Path(__file__).parent.parent / "examples" / "compare"
FORMS: Final = {"text": "txt", "html": "html", "svg": "svg"}
ONLY_OF_PLANS: Final = "svg"
NOON: Final = 1_780_315_200.0  # 2026-06-01T12:00:00Z


def calls() -> list[list[str]]:
    """The calls of the README, as words."""
    lines = (EXAMPLES / "README.md").read_text().splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("    allot ")]


def place(call: list[str], form: str) -> Path:
    """Where the output of a call is kept, from the examples' folder on."""
    example = Path(call[call.index("-C") + 1]).parts[0]
    return Path(example) / f"{call[0]}.{FORMS[form]}"


def outputs(call: list[str]) -> dict[str, str]:
    """What the call prints, by form; it is played once for all of them."""
    clock = SimpleNamespace(time=lambda: NOON)
    with (
        in_greenwich(),
        chdir(EXAMPLES),
        patch("allotment.cli.commands.plan.time", clock),
        patch("allotment.cli.plans.planned.planned", cache_all(planned)),
        patch("allotment.planning.compare.comparing.compare", cache_all(compare)),
    ):
        forms = [form for form in FORMS if call[0] == "plan" or form != ONLY_OF_PLANS]
        return {form: _printed([*call, "-o", form]) for form in forms}


@contextmanager
def in_greenwich() -> Iterator[None]:
    """Local time is that of Greenwich for a while."""
    with patch.dict(os.environ, {"TZ": "UTC"}):
        time.tzset()
        yield
    time.tzset()


def cache_all(function: Callable[..., T]) -> Callable[..., T]:
    """The function, which is called once and gives the same ever after."""
    found: list[T] = []

    def once(*arguments: Any, **named: Any) -> T:
        if not found:
            found.append(function(*arguments, **named))
        return found[0]

    return once


def _printed(call: list[str]) -> str:
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        code = invoke(call)
    if code:
        raise SystemExit(f"{shlex.join(call)} exits {code}")
    return out.getvalue()


if __name__ == "__main__":
    for each in calls():
        for form, text in outputs(each).items():
            path = EXAMPLES / place(each, form)
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{path.relative_to(EXAMPLES.parent.parent)}\n")
