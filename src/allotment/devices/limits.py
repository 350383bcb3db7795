"""What an API server would refuse of slices and claims of our own, said before it is asked.

The rules themselves are in ``validation``; each function returns what is wrong, and nothing when all is well.
"""

from __future__ import annotations

from allotment.devices.claims import ClaimSpec
from allotment.devices.slices import ResourceSlice
from allotment.devices.validation import ANY_SERVER, Problem, Server
from allotment.devices.validation.claims import of_claim_spec
from allotment.devices.validation.slices import of_slice_spec

__all__ = ["Problem", "claim_problems", "located_slice_problems", "slice_problems"]


def slice_problems(published: ResourceSlice, server: Server = ANY_SERVER) -> tuple[str, ...]:
    """What is wrong with a slice."""
    return tuple(str(problem) for problem in located_slice_problems(published, server))


def located_slice_problems(published: ResourceSlice, server: Server = ANY_SERVER) -> tuple[Problem, ...]:
    """What is wrong with a slice, and where in its spec."""
    return tuple(of_slice_spec(published.to_dict()["spec"], ("spec",), server))


def claim_problems(claim: ClaimSpec, server: Server = ANY_SERVER) -> tuple[str, ...]:
    """What is wrong with a claim."""
    return tuple(str(problem) for problem in of_claim_spec(claim.to_dict(), ("spec",), server))
