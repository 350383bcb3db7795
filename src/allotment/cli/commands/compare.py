"""`allot compare`: the same work under several schedulers or settings, side by side."""

from __future__ import annotations

from pathlib import Path

import click

from allotment.cli.columns import terminal_width
from allotment.cli.ending import ended_by_term
from allotment.cli.forms.compared_output import code_of, nothing_written, written
from allotment.cli.plans.inputs import inputs_of, inputs_option
from allotment.cli.progress import Progress
from allotment.cli.ranges import NumberRange
from allotment.cli.shared import output_option, world_options, write_out
from allotment.cli.world import AskedWorld, any_world
from allotment.cli.writing import hold_writable
from allotment.errors import EXIT_FINE
from allotment.platform.model import SCHEDULERS

HORIZON_DAYS = 7


@click.command(short_help="Decide the same work under several schedulers, side by side.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@world_options
@any_world
@click.option(
    "--scheduler",
    "schedulers",
    multiple=True,
    type=click.Choice(SCHEDULERS),
    help="A column of its own; may be given again (default: all four; with --with, the platform's).",
)
@click.option(
    "--with",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="A further column with this changed: quota.TEAM=4, window=8, sharing=mig, "
    '"describe=4 x L4", "sharing=fraction; share=0.5" (several changes joined by ;). May be given again.',
)
@click.option(
    "--beside",
    multiple=True,
    metavar="TEAM=DIR",
    help="Another team's repository, whose work is sent too. May be given again.",
)
@click.option(
    "--at",
    multiple=True,
    metavar="NAME=TIME",
    help="A campaign, fleet or gang is sent so much later: training=2h. May be given again.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="The first seed.")
@click.option(
    "--draws",
    type=click.IntRange(1, 1000),
    default=None,
    help="How many seeds (default: 10; 6 for more than 2,000 pods).",
)
@click.option(
    "--days",
    type=NumberRange(0, 366, min_open=True),
    default=HORIZON_DAYS,
    show_default=True,
    help="How far to look.",
)
@inputs_option
@output_option("text", "json", "markdown", "html")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=None, help="Write to a file.")
def command(
    names: tuple[str, ...],
    repository: Path,
    platform: Path | None,
    team: str | None,
    asked: AskedWorld,
    schedulers: tuple[str, ...],
    changes: tuple[str, ...],
    beside: tuple[str, ...],
    at: tuple[str, ...],
    seed: int,
    draws: int | None,
    days: float,
    inputs: tuple[str, ...],
    form: str,
    out: Path | None,
) -> int:
    """Decide the same work under several schedulers, or with other settings, and hold them side by side.

    Without names all campaigns, fleets and gangs of the repository are sent at once. Every column plays the
    same work under the same seeds, so that what differs by chance is told from what does not: waiting, ends,
    use of cards, whole nodes kept free, fairness, what taking back costs. Then comes the first decision that
    differs, with its reason, and whether a scheduler is worth adding for this work.

    It is a simulation by models of the schedulers; what it takes for granted stands below. The exit code is
    0 whatever the answer is, also that there is nothing to do, and 1 where nothing can begin in any column.
    """
    from allotment.cli.plans.comparing import NothingLeftError, question, schedulers_of
    from allotment.cli.plans.grounds import grounds
    from allotment.planning.compare.comparing import Play, compare
    from allotment.planning.compare.drawing import draws_for, why_fewer

    hold_writable(out)
    settings = inputs_of(inputs)
    found = grounds(repository, names, asked, platform=platform, team=team)
    ask = question(found, beside, at, settings)
    prices = ask.files.platform.prices
    try:
        variants = [*ask.variants(schedulers_of(schedulers, changes, ask.files.platform), changes)]
    except NothingLeftError as nothing:
        write_out(nothing_written(nothing, form), out)
        return EXIT_FINE
    play = Play(
        seed,
        draws_for(variants, draws),
        days * 86_400,
        prices.hour,
        prices.currency,
        has=ask.files.platform.scheduler,
        said=why_fewer(variants, draws),
    )
    with Progress("preparing") as progress, ended_by_term():
        compared = compare(variants, play, progress.draws)
    write_out(written(compared, form, None if out else terminal_width()), out)
    return code_of(compared)
