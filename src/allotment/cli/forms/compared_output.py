"""A comparison in the form that was asked for, whoever made it: of a repository, or of a trace."""

from __future__ import annotations

import click

from allotment.cli.forms.compared import as_markdown, as_text
from allotment.cli.forms.compared_data import as_data
from allotment.cli.json_text import json_text
from allotment.errors import EXIT_FINE, EXIT_REFUSED, AllotmentError
from allotment.planning.compare.comparison import FORMAT_VERSION, Comparison


def written(found: Comparison, form: str, width: int | None, command: str = "allot compare") -> str:
    """All of it as text, Markdown, JSON or a page of that command.

    ``width`` is that of the terminal, if it goes to one.
    """
    if form == "json":
        return json_text(as_data(found))
    if form == "markdown":
        return "\n".join(as_markdown(found))
    if form == "html":
        from allotment.cli.pages.compare import compare_page

        return compare_page(found, command).rstrip("\n")
    return "\n".join(as_text(found, width))


def nothing_written(nothing: AllotmentError, form: str) -> str:
    """That there is nothing to compare, in the form that was asked for: no more wrong than in a plan."""
    if form == "json":
        told = {"format_version": FORMAT_VERSION, "nothing_to_do": True, "notes": [nothing.what]}
        return json_text(told)
    return "; ".join(part for part in (nothing.what, nothing.remedy) if part)


def code_of(found: Comparison) -> int:
    """The exit code: 1 where nothing can begin in any column, which is told on standard error."""
    if not found.is_idle:
        return EXIT_FINE
    click.echo("nothing of it can begin in any column", err=True)
    return EXIT_REFUSED
