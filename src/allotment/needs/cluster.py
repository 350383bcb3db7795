"""A need as a cluster can have it: without processors, which a cluster gives out in its own way.

On this machine processors are devices, and a fallback to them is the last alternative of a claim. A cluster's
claim cannot say "or else no card": a ``cpu`` ends the list of fallbacks, and as the whole need it makes no
claim at all but a plain request for cpu.
"""

from __future__ import annotations

from dataclasses import replace

from allotment.platform.need import Need


def for_cluster(need: Need | None) -> tuple[Need | None, tuple[str, ...]]:
    """The need without processors (None: no claim), and in words what was given up."""
    if need is None:
        return None, ("it needs no device: on a cluster it makes no claim",)
    if need.cpu is not None:
        cores = "1 core" if need.cpu == 1 else f"{need.cpu} cores"
        return None, (f"it needs {cores}: on a cluster that is a plain request for cpu, and no claim",)
    ends = next((place for place, each in enumerate(need.fallback) if each.cpu is not None), None)
    if ends is None:
        return need, ()
    after = len(need.fallback) - ends - 1
    and_rest = f", and with it what comes after ({after})" if after else ""
    dropped = f"the fallback to processors is dropped on a cluster{and_rest}: its pods wait for a card"
    return replace(need, fallback=need.fallback[:ends]), (dropped,)
