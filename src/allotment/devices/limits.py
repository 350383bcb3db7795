"""The rules that the API sets on slices and claims: what its server refuses, said before it is asked.

An object that the API server would refuse is better refused here, in its own words. From the validation of
``resource.k8s.io/v1`` (Kubernetes 1.36); each function returns what is wrong, and nothing when all is well.
"""

from __future__ import annotations

from allotment.devices.claim_limits import of_claim
from allotment.devices.claims import ClaimSpec
from allotment.devices.rules import Problem
from allotment.devices.slice_limits import of_slice
from allotment.devices.slices import ResourceSlice

__all__ = ["Problem", "claim_problems", "located_slice_problems", "slice_problems"]


def slice_problems(published: ResourceSlice) -> tuple[str, ...]:
    """What is wrong with a slice."""
    return tuple(problem.text for problem in of_slice(published))


def located_slice_problems(published: ResourceSlice) -> tuple[Problem, ...]:
    """What is wrong with a slice, and where in its spec."""
    return tuple(of_slice(published))


def claim_problems(claim: ClaimSpec) -> tuple[str, ...]:
    """What is wrong with a claim."""
    return tuple(problem.text for problem in of_claim(claim))
