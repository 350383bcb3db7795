"""How teams stand on this machine, or on one that runs pretend to be on, and how they stood over time."""

from __future__ import annotations

import os
import time

from allotment.cli.world import ChosenWorld
from allotment.devices.ledger import Ledger
from allotment.devices.machine import this_machine
from allotment.running.engine.pretend import ledger_of, pretended_world
from allotment.running.engine.team_standing import Standing, standing


def standing_here(pretended: ChosenWorld | None) -> Standing:
    """The teams of this machine's engines; or of those that pretend to have a world."""
    here = this_machine()
    if pretended is None:
        return standing(Ledger(), here, time.monotonic())
    world = pretended_world(pretended.without_errors(), here)
    return standing(Ledger(ledger_of(world, os.environ)), world, time.monotonic())
