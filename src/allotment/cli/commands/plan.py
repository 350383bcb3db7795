"""`allot plan`: before anything is submitted, what will happen, when, what it costs and who pays."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC
from functools import partial
from pathlib import Path

import click

from allotment.cli.columns import terminal_width
from allotment.cli.ending import ended_by_term
from allotment.cli.plans.inputs import inputs_of, inputs_option
from allotment.cli.progress import Progress
from allotment.cli.shared import output_option, safe, world_options, write_out
from allotment.cli.world import AskedWorld, any_world
from allotment.cli.writing import hold_writable
from allotment.errors import EXIT_FINE, EXIT_REFUSED
from allotment.platform.model import SCHEDULERS

MOST_DRAWS = 1_000


@click.command(short_help="Say what will happen, when, what it costs and who pays, before it is submitted.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@world_options
@any_world
@click.option("--scheduler", type=click.Choice(SCHEDULERS), default=None, help="Who places the pods.")
@click.option(
    "--beside",
    multiple=True,
    metavar="TEAM=DIR",
    help="Another team's repository, which is sent at the same time. May be given again.",
)
@click.option("--base", default=None, metavar="REF", help="Plan only what has changed since this commit.")
@click.option(
    "--budget", default=None, metavar="AMOUNT", help="Exit 1 unless nine of ten draws cost no more."
)
@click.option(
    "--deadline",
    default=None,
    metavar="TIME",
    help="Exit 1 unless nine of ten draws end by then: 36h, 2026-12-01T08:00.",
)
@click.option(
    "--draws",
    type=click.IntRange(1, MOST_DRAWS),
    default=None,
    help="How often it is played (default: 40, of very much work less).",
)
@click.option("--seed", type=click.IntRange(0, 2**31), default=1, show_default=True, help="The first seed.")
@inputs_option
@output_option("text", "json", "markdown", "html", "svg")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), default=None, help="Write to this file."
)
def command(
    names: tuple[str, ...],
    repository: Path,
    platform: Path | None,
    team: str | None,
    asked: AskedWorld,
    scheduler: str | None,
    beside: tuple[str, ...],
    base: str | None,
    budget: str | None,
    deadline: str | None,
    draws: int | None,
    seed: int,
    inputs: tuple[str, ...],
    form: str,
    out: Path | None,
) -> int:
    """Say what will happen if the repository is applied: which cards fit, when it ends, its cost, who pays.

    The world is this machine, files of devices (--devices), a fleet in words (--describe), or a cluster
    (--cluster, --snapshot). What changes is held against the cluster, or against what the bucket has, or
    with --base against an earlier commit; where nothing changes there is nothing to do. What is to be done is
    played many times under the scheduler's model, beside what runs there, and the answers are intervals.

    A plan that is kept with `-o json --out plan.json` can be applied with `allot apply --plan plan.json`,
    which refuses if the files or the cluster have moved since.

    Exits 0 when there is nothing against it, and 1 when something is refused or never fits, or when the
    budget or the deadline is missed in more than one draw of ten.
    """
    from allotment.cli.forms.plan_data import as_json
    from allotment.cli.forms.plan_markdown import as_markdown
    from allotment.cli.forms.plan_text import as_text
    from allotment.cli.pages.plan import plan_page
    from allotment.cli.pages.plan_picture import plan_picture
    from allotment.cli.plans.bounds import budget_of, deadline_of
    from allotment.cli.plans.grounds import grounds
    from allotment.cli.plans.planned import planned
    from allotment.cli.words import local
    from allotment.planning.plan.plan import Plan
    from allotment.planning.plan.question import HORIZON, Question

    hold_writable(out)
    now = time.time()
    settings = inputs_of(inputs)
    found = grounds(
        repository, names, asked, platform=platform, team=team, scheduler=scheduler, beside=beside
    )
    late = deadline_of(deadline, now)
    question = Question(
        draws=draws,
        seed=seed,
        until=max(HORIZON, 1.5 * (late or 0.0)),
        budget=budget_of(budget, found.platform.prices.currency),
        deadline=late,
    )
    with Progress("preparing") as progress, ended_by_term():
        told = partial(progress.draws, "playing")
        plan = planned(found, question, inputs=settings, base=base, now=now, told=told)

    def text(shown: Plan) -> str:
        return "\n".join(as_text(shown, now, None if out is not None else terminal_width()))

    forms: dict[str, Callable[[Plan], str]] = {
        "text": text,
        "json": lambda shown: as_json(shown, names),
        "markdown": lambda shown: as_markdown(shown, now),
        "html": lambda shown: plan_page(shown, local(now).tzinfo or UTC),
        "svg": lambda shown: plan_picture(shown, local(now).tzinfo or UTC),
    }
    write_out(forms[form](plan), out)
    if out is not None:
        click.echo(f"written: {safe(str(out))}", err=True)
    return EXIT_FINE if plan.is_kept else EXIT_REFUSED
