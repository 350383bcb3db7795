"""`allot devices`: which cards there are, how much memory they report, and which of them are free."""

from __future__ import annotations

import os
from dataclasses import replace

import click

from allotment.cli.columns import terminal_width
from allotment.cli.devices.lint import command as lint
from allotment.cli.forms.devices import Held, as_data, as_text, as_yaml
from allotment.cli.json_text import json_text
from allotment.cli.shared import finding_line, output_option
from allotment.cli.world import AskedWorld, ChosenWorld, any_world
from allotment.devices.holders import Holder
from allotment.devices.ledger import Ledger
from allotment.errors import EXIT_FINE, EXIT_REFUSED, UsageError, WorldError


@click.group(name="devices", invoke_without_command=True, short_help="Say which devices there are.")
@any_world
@click.option("--all", "every", is_flag=True, help="Each device on a line of its own, and every finding.")
@click.option(
    "--mig-plan",
    metavar="NEEDS",
    default=None,
    help='The static MIG layout that serves a load best: "8 x 9.5Gi, 2 x 40Gi", or a repository whose '
    "campaigns are the load.",
)
@output_option("text", "yaml", "json")
@click.pass_context
def command(
    ctx: click.Context,
    asked: AskedWorld,
    every: bool,
    mig_plan: str | None,
    form: str,
) -> int:
    """Say which devices there are, and which are free.

    Of this machine, of files (`kubectl get resourceslices -o yaml | allot devices --devices -`), of a fleet
    in words (--describe), or of a cluster (--cluster, --snapshot). Memory is what the driver reports, which
    is less than the card is sold as: a need is held against it. `-o yaml` and `-o json` print the API
    objects, which --devices reads again.

    With --mig-plan the cards are cut for a load: which partitions on which card, what is left over, and what
    a scheduler does with the load beside the best that is possible; `-o yaml` is the file for
    nvidia-mig-parted.

    Exits 1 when an object had to be left out because an API server would refuse it, and with --mig-plan when
    a kind of pod has no seat at all; pods that wait for a seat that others of their kind have are no fault.
    """
    if ctx.invoked_subcommand is not None:
        if asked.is_said or every or mig_plan is not None:
            raise UsageError(
                f"options of `allot devices` stand before `{ctx.invoked_subcommand}`",
                remedy=f"write `allot devices {ctx.invoked_subcommand}`, and its options after it",
            )
        return EXIT_FINE
    chosen = asked.chosen()
    if mig_plan is not None:
        return _plan_mig(chosen, mig_plan, form)
    held = _held(chosen)
    if form == "text":
        for line in as_text(chosen, held, terminal_width(), every=every):
            click.echo(line)
    elif form == "json":
        click.echo(json_text(as_data(chosen, held)))
    else:
        for finding in chosen.findings:
            click.echo(finding_line(finding), err=True)
        click.echo(as_yaml(chosen), nl=False)
    return EXIT_REFUSED if chosen.has_errors else EXIT_FINE


def _held(chosen: ChosenWorld) -> Held:
    """Who holds what of it; the devices of another world are held in name only, by runs that pretend."""
    if chosen.is_here:
        return Ledger().state()
    if chosen.snapshot is not None:
        return {}, {}
    from allotment.devices.machine import this_machine
    from allotment.running.engine.pretend import ledger_of, pretended_world

    folder = ledger_of(pretended_world(chosen.world, this_machine()), os.environ)
    try:
        whole, shares = Ledger(folder).state()
    except WorldError:
        return {}, {}
    return (
        {device: _in_name(holder) for device, holder in whole.items()},
        {device: tuple(map(_in_name, who)) for device, who in shares.items()},
    )


def _in_name(holder: Holder) -> Holder:
    return replace(holder, campaign=f"{holder.campaign or 'a run'} (--pretend)")


def _plan_mig(chosen: ChosenWorld, needs: str, form: str) -> int:
    """How to cut the cards of this world for a load."""
    from allotment.cli.devices.mig_loads import load_from
    from allotment.cli.forms.mig_plan import FORMS
    from allotment.devices.mig.fleet import cards_of, unknown_products
    from allotment.devices.mig.plan import plan_mig

    world = chosen.without_errors()
    fleet, unknown = cards_of(world), unknown_products(world)
    if not fleet:
        raise UsageError(
            f"{chosen.name} has no card that the catalogue knows",
            remedy='describe a fleet: allot devices --describe "8 x H100-SXM" --mig-plan …',
        )
    load, notes = load_from(needs)
    left_aside = [f"the catalogue does not know {name}: left aside" for name in unknown]
    plan = plan_mig(fleet, load)
    click.echo(FORMS[form](plan, chosen.name, [*notes, *world.notes, *left_aside]))
    return EXIT_FINE if all(plan.served(plan.layout.seats)) else EXIT_REFUSED


command.add_command(lint)
