"""`allot why`: why a need fits here or not, and the smallest change with which it does."""

from __future__ import annotations

from pathlib import Path

import click

from allotment.cli.forms.why import as_data, as_text
from allotment.cli.json_text import json_text
from allotment.cli.shared import output_option, world_options
from allotment.cli.why.asked import answers_for
from allotment.cli.why.pretended import seen_here
from allotment.cli.world import AskedWorld, any_world
from allotment.errors import EXIT_FINE


@click.command(short_help="Say why a need fits here or not, and what would make it fit.")
@click.argument("name")
@world_options
@any_world
@click.option("--pretend", is_flag=True, help="Of runs here that pretend to have the world that is named.")
@output_option("text", "json")
def command(
    name: str,
    repository: Path,
    platform: Path | None,
    team: str | None,
    asked: AskedWorld,
    pretend: bool,
    form: str,
) -> int:
    """Say why the need of a campaign, fleet, gang or pipeline fits here or not.

    NAME is a name or a file; a file of ResourceClaims or ResourceClaimTemplates will do too. First comes one
    sentence: it fits, it waits for what is in use, or it will never fit here, and for what reason. Then the
    clauses in their order, with the devices that each of them takes out, and what those have. Then changes,
    the smallest first: each was tried with the allocator, and with it the claim fits.

    With --cluster or --snapshot, of what is there: first the sentence that names the cause, what to do and
    the evidence, then what its queue may use, what a model of Kueue or of KAI says that it does next (whom it
    would evict, whose end would let it in), then the devices and the changes.

    Of what runs here, or ran: that it is over, or that nothing of it waits, where that is so; and what its
    team has of its share.

    What runs here on a world that it pretends to have is held against that world; with --pretend that is so
    for whatever is named, beside those who run there.

    With --describe or --devices and a cluster's platform, then what its quota is, and whether the schedulers
    would let it start there by themselves, by their models.

    The exit code is 0 whatever the answer is, as that of `allot claim`; `allot check` refuses what never
    fits.
    """
    seen = seen_here(asked, pretend=pretend)
    chosen = seen.chosen
    if chosen.snapshot is not None:
        from allotment.cli.why.on_cluster import show_whys, whys_of

        found = whys_of(name, repository, platform, team, chosen)
        if found:
            return show_whys(found, chosen, form)
    answers = answers_for(name, repository, platform, team, seen)
    data, lines = as_data(answers, chosen.name), [*as_text(answers, chosen.name)]
    if chosen.tells_of_queues:
        from allotment.cli.forms.described import quota_lines
        from allotment.cli.forms.outlook import next_lines, said_data
        from allotment.cli.why.on_cluster import unsent

        told = unsent(name, repository, platform, team, chosen)
        data["next"] = said_data(told.said)
        lines += quota_lines(told.share, answers[0].told)
        for each in told.said:
            lines += ["", *next_lines(each)] if each.outlooks else [f"note: {note}" for note in each.notes]
    elif not chosen.is_here:
        from allotment.cli.described import asked_about
        from allotment.cli.forms.described import described_data, described_lines

        about = asked_about(name, repository, platform, team, chosen)
        if about is not None:
            data["next"] = described_data(about)
            lines += described_lines(about, answers[0].told)
    if form == "json":
        click.echo(json_text(data))
        return EXIT_FINE
    for line in lines:
        click.echo(line)
    return EXIT_FINE
