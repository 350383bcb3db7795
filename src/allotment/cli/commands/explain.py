"""`allot explain`: what a rule that a finding names means, why it matters, and what to do."""

from __future__ import annotations

import click

from allotment.cli.columns import Column, table, terminal_width
from allotment.cli.rule_pages import rule_page
from allotment.cli.rules import RULES
from allotment.errors import EXIT_FINE, UsageError, did_you_mean


@click.command(short_help="Say what a rule means, why it matters and what to do.")
@click.argument("rule", required=False)
def command(rule: str | None) -> int:
    """Show the page of a rule that a finding of `allot check` or `allot devices lint` names.

    Without a rule all of them are listed, each with its meaning in one line.
    """
    if rule is None:
        rows = [(name, RULES[name]) for name in sorted(RULES)]
        for line in table((Column("RULE"), Column("MEANING", least=30)), rows, terminal_width()):
            click.echo(line)
        return EXIT_FINE
    if rule not in RULES:
        hint = did_you_mean(rule, RULES) or "`allot explain` lists all rules"
        raise UsageError(f"there is no rule `{rule}`", remedy=hint)
    click.echo((rule_page(rule) or f"# {rule}\n\n{RULES[rule]}").rstrip())
    return EXIT_FINE
