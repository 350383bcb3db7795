"""`allot simulate`: what a trace of a real cluster comes to under schedulers, or under placement policies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from allotment.cli.columns import terminal_width
from allotment.cli.ending import ended_by_term
from allotment.cli.forms import filled
from allotment.cli.forms.compared_output import code_of, written
from allotment.cli.json_text import json_text
from allotment.cli.progress import Progress
from allotment.cli.ranges import NumberRange
from allotment.cli.shared import output_option, write_out
from allotment.cli.writing import hold_writable
from allotment.errors import EXIT_FINE, UsageError
from allotment.simulation.filling.fill import Filled
from allotment.simulation.traces.jobs import TraceNode

SCHEDULERS = ("simple", "default", "kueue", "kai", "both")
POLICIES = ("random", "dot-product", "clustering", "packing", "best-fit", "fgd")
TIES = ("random", "shuffled", "first", "last")
FORMATS = ("own", "openb", "philly", "helios", "gavel")


@click.command(short_help="Play a trace of a real cluster under schedulers, side by side.")
@click.option(
    "--trace",
    "asked_trace",
    required=True,
    metavar="NAME|FILE",
    help="philly, helios, openb[:VARIANT] or gavel[:CLUSTER] in the folder of data; or a file.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    envvar="ALLOT_TRACES",
    default=None,
    metavar="DIR",
    help="Where the traces lie, which do not come with allotment (default: $ALLOT_TRACES).",
)
@click.option(
    "--format", "trace_format", type=click.Choice(FORMATS), default=None, help="What a file is written in."
)
@click.option(
    "--scheduler",
    "schedulers",
    multiple=True,
    type=click.Choice(SCHEDULERS),
    help="A column of its own; may be given again (default: default).",
)
@click.option("--jobs", type=click.IntRange(1), default=None, help="The first so many jobs alone.")
@click.option(
    "--teams",
    type=click.IntRange(1, 1000),
    default=6,
    show_default=True,
    help="Users are divided among so many.",
)
@click.option(
    "--size",
    type=NumberRange(0, min_open=True),
    default=1.0,
    show_default=True,
    help="The cluster's size: so many times the cards that the jobs would hold in the mean.",
)
@click.option("--nodes", type=click.IntRange(1, 100_000), default=None, help="So many nodes instead.")
@click.option("--cards", type=click.IntRange(1, 64), default=8, show_default=True, help="Cards of a node.")
@click.option(
    "--limit",
    type=NumberRange(1, 1_000_000),
    default=None,
    help="What a team may have at most, in times of its quota (default: no limit).",
)
@click.option(
    "--checkpoint",
    default="1h",
    show_default=True,
    metavar="TIME",
    help="A job keeps what it had every so often, when it is taken back.",
)
@click.option(
    "--depth",
    type=click.IntRange(0),
    default=2,
    show_default=True,
    help="KAI's queueDepthPerAction for taking cards back; 0: all jobs, which is its default and slow.",
)
@click.option(
    "--coarse", default="0s", show_default=True, metavar="TIME", help="The least time between two rounds."
)
@click.option("--days", type=NumberRange(0, 3660, min_open=True), default=366, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="The first seed.")
@click.option(
    "--draws",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="How many seeds; after the first, jobs take the times of others like them.",
)
@click.option(
    "--policy",
    "policies",
    multiple=True,
    type=click.Choice(POLICIES),
    help="Fill the cluster by a placement policy instead, with jobs that never end. May be given again.",
)
@click.option(
    "--ties",
    multiple=True,
    type=click.Choice(TIES),
    help="Which of equally good nodes it takes; may be given again (default: random, as kube-scheduler).",
)
@click.option(
    "--demand",
    type=NumberRange(0, 100),
    default=1.3,
    show_default=True,
    help="Fill up to so much of all cards.",
)
@click.option(
    "--events",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Write events, a line each.",
)
@click.option(
    "--save",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Write the jobs in our own format.",
)
@output_option("text", "json", "markdown", "html")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=None, help="Write to a file.")
def command(
    asked_trace: str,
    data: Path | None,
    trace_format: str | None,
    schedulers: tuple[str, ...],
    jobs: int | None,
    teams: int,
    size: float,
    nodes: int | None,
    cards: int,
    limit: float | None,
    checkpoint: str,
    depth: int,
    coarse: str,
    days: float,
    seed: int,
    draws: int,
    policies: tuple[str, ...],
    ties: tuple[str, ...],
    demand: float,
    events: Path | None,
    save: Path | None,
    form: str,
    out: Path | None,
) -> int:
    """Play a trace under schedulers, side by side: waiting, ends, use, fairness, what taking back costs.

    With --policy the cluster is filled instead, as in the experiments on openb: tasks never end, and what
    counts is how many cards are given out when no more fit. What a trace does not tell (how large the cluster
    is, who shares it, what a job keeps) is an input, and stands below the answer. The exit code is 0, and 1
    where nothing can begin in any column.
    """
    from allotment.cli.plans.simulating import (
        DAY,
        compared,
        fillings_of,
        seconds_of,
        write_events,
        write_jobs,
    )
    from allotment.planning.compare.comparing import Play
    from allotment.planning.trace_scenes import Asked
    from allotment.simulation.filling.policies import Name
    from allotment.simulation.filling.ranking import Ties
    from allotment.simulation.setting import Scheduler
    from allotment.simulation.traces.named import Format, read_trace
    from allotment.simulation.traces.works import Making

    for each in (out, events, save):
        hold_writable(each)
    trace = read_trace(asked_trace, data, Format(trace_format) if trace_format else None)
    making = Making(teams, seconds_of(checkpoint, "--checkpoint"))
    asked = Asked(
        making, jobs or 0, nodes or 0, cards, size, limit, depth, seconds_of(coarse, "--coarse", least=0)
    )
    if save is not None:
        write_jobs(trace, asked, save)
    if policies:
        rules = [Ties(rule) for rule in ties or ("random",)]
        seeds = range(seed, seed + draws)
        names = [Name(each) for each in policies]
        with Progress("preparing") as told, ended_by_term():
            fillings = fillings_of(trace, asked, names, rules, seeds=seeds, demand=demand, told=told.draws)
        write_out(_filled_form(trace.name, asked.cluster(trace), fillings, form), out)
        return EXIT_FINE
    play = Play(seed, draws, days * DAY)
    columns = [Scheduler(each) for each in schedulers or ("default",)]
    with Progress("preparing") as progress, ended_by_term():
        found = compared(trace, asked, columns, play, progress.draws)
    if events is not None:
        write_events(found, trace, asked, events)
    write_out(written(found, form, None if out else terminal_width(), "allot simulate"), out)
    return code_of(found)


def _filled_form(
    name: str, nodes: Sequence[TraceNode], fillings: Sequence[Sequence[Filled]], form: str
) -> str:
    cards = sum(node.gpus for node in nodes)
    if form == "json":
        return json_text(filled.as_data(name, len(nodes), cards, fillings))
    if form == "text":
        return "\n".join(filled.as_text(name, len(nodes), cards, fillings, terminal_width()))
    if form == "html":
        from allotment.cli.pages.filled import filled_page

        return filled_page(name, len(nodes), cards, fillings).rstrip("\n")
    raise UsageError(f"a filling is not written as {form}", remedy="write -o text, -o json or -o html")
