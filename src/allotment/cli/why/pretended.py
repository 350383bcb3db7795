"""A world that runs on this machine have in name only: what is there, and who of them holds what of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from allotment.cli.world import AskedWorld, ChosenWorld
from allotment.devices.ledger import Ledger
from allotment.devices.machine import this_machine
from allotment.devices.reading import STANDARD_INPUT
from allotment.errors import AllotmentError, FindingsError, UsageError
from allotment.running.engine.pretend import ledger_of, pretended_world


@dataclass(frozen=True, slots=True)
class Seen:
    """A world as this machine's engine has it, and the ledger in which its devices are held."""

    chosen: ChosenWorld
    ledger: Ledger


def seen_here(asked: AskedWorld, *, pretend: bool) -> Seen:
    """The world that is asked for: held in name only where it is to ``pretend``."""
    chosen = asked.chosen()
    if not pretend:
        return Seen(chosen, Ledger())
    if chosen.is_here:
        raise UsageError("--pretend needs a world", remedy='name one: --pretend --describe "2 x H100-SXM"')
    return in_name(chosen)


def in_name(chosen: ChosenWorld) -> Seen:
    """The world as a run has it that pretends to be on it."""
    world = pretended_world(chosen.without_errors(), this_machine())
    named = replace(chosen, world=world, name=f"{chosen.name}, in name only", is_here=True, snapshot=None)
    return Seen(named, Ledger(ledger_of(world, os.environ)))


def of_run(options: Sequence[str]) -> Seen | None:
    """The world that a run said it pretends to be on; None where it cannot be read again."""
    asked = AskedWorld.of_options(options)
    if not asked.is_said or Path(STANDARD_INPUT) in asked.devices:
        return None
    try:
        return in_name(asked.chosen())
    except (AllotmentError, FindingsError):
        return None
