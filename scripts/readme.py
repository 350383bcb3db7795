"""Run what the README tells a newcomer to type, so that it can never be wrong.

The shell commands of the first two sections are run, in order, in one folder made for it; those of later
sections, and of further pages, are only parsed: the command and every option of each `allot` line must exist.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from allotment.cli import allot

RUN_SECTIONS = 2
ALREADY_RUN = ("make ", "git clone", "cd allotment")


def sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each section's title with the lines of its shell blocks (```sh … ```)."""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title = part.splitlines()[0]
        blocks = re.findall(r"^```sh\n(.*?)^```", part, flags=re.MULTILINE | re.DOTALL)
        yield title, [line for block in blocks for line in block.splitlines() if line.strip()]


def parsed(line: str) -> str | None:
    """What is wrong with an `allot` line that is not run, or None."""
    words = shlex.split(line.partition(" | ")[0], comments=True)
    if not words or words[0] != "allot" or len(words) < 2:
        return None
    context = click.Context(allot)
    command = allot.get_command(context, words[1]) if not words[1].startswith("-") else allot
    if command is None:
        return f"no command {words[1]!r}"
    known = {
        name for option in command.get_params(context) for name in (*option.opts, *option.secondary_opts)
    }
    wrong = [word for word in words[2:] if word.startswith("-") and word.split("=")[0] not in known]
    return f"no option {', '.join(wrong)} of {words[1]!r}" if wrong else None


def main() -> int:
    """Returns 0 when every command of the README holds."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("readme", type=Path)
    arguments.add_argument("pages", type=Path, nargs="*")
    asked = arguments.parse_args()
    texts = [page.read_text(encoding="utf-8") for page in (asked.readme, *asked.pages)]
    parts = [part for text in texts for part in sections(text)]
    to_run = [line for _, lines in parts[:RUN_SECTIONS] for line in lines if not line.startswith(ALREADY_RUN)]
    wrong = [
        f"{line}: {fault}" for _, lines in parts[RUN_SECTIONS:] for line in lines if (fault := parsed(line))
    ]
    for fault in wrong:
        print(f"README: {fault}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "allotment"
        clone.mkdir()
        binaries = Path(sys.executable).parent
        script = "\n".join([f'PATH="{binaries}:$PATH"', "set -eux", *to_run])
        ended = subprocess.run(["sh", "-c", script], cwd=clone, check=False)
    count = sum(len(lines) for _, lines in parts)
    print(f"README: {count} commands, {len(to_run)} of them run, {len(wrong)} wrong")
    return 1 if wrong or ended.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
