"""What the API server holds a claim to: names, numbers of requests and devices, references.

From the validation of ``ResourceClaimSpec`` in ``resource.k8s.io/v1`` (Kubernetes 1.36), in its words where
it has some. What a selector's expression may cost is the business of those who evaluate it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from allotment.devices.claims import MOST_ALTERNATIVES, AllocationMode, ClaimSpec, Constraint, ExactRequest
from allotment.devices.classes import OpaqueConfig
from allotment.devices.rules import Loc, Problem, amount, at_most, is_label, is_qualified, is_subdomain, twice

_MOST_LISTED = 32
_MOST_TOLERATIONS = 16
_LONGEST_EXPRESSION = 10 * 1024
_REFERENCE = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)


def of_claim(claim: ClaimSpec) -> Iterator[Problem]:
    """What is wrong with a claim."""
    lists = {"requests": claim.requests, "constraints": claim.constraints, "config": claim.config}
    for name, listed in lists.items():
        yield from at_most(listed, _MOST_LISTED, ("devices", name), name)
    for name in twice(request.name for request in claim.requests):
        yield Problem(("devices", "requests"), f"request `{name}`: Duplicate value")
    for place, request in enumerate(claim.requests):
        loc: Loc = ("devices", "requests", place)
        if not is_label(request.name):
            yield Problem((*loc, "name"), f"request `{request.name}`: its name is no DNS label")
        if len(request.first_available) > MOST_ALTERNATIVES:
            text = f"firstAvailable must have at most {MOST_ALTERNATIVES} items"
            yield Problem((*loc, "firstAvailable"), f"request `{request.name}`: {text}")
        for name in twice(sub.name for sub in request.first_available):
            yield Problem((*loc, "firstAvailable"), f"request `{request.name}/{name}`: Duplicate value")
        for number, sub in enumerate(request.alternatives):
            below = (*loc, "exactly") if request.exactly else (*loc, "firstAvailable", number)
            for problem in _of_request(sub.exactly):
                yield Problem((*below, *problem.loc), f"request `{request.name}`: {problem.text}")
    yield from _of_references(claim)


def _of_request(exact: ExactRequest) -> Iterator[Problem]:
    if not is_subdomain(exact.device_class):
        yield Problem(("deviceClassName",), f"device class `{exact.device_class}` is no DNS subdomain")
    if exact.mode is AllocationMode.EXACT_COUNT and exact.count < 1:
        yield Problem(("count",), "count: must be greater than zero")
    yield from at_most(exact.selectors, _MOST_LISTED, ("selectors",), "selectors")
    if any(len(expression.encode()) > _LONGEST_EXPRESSION for expression in exact.selectors):
        yield Problem(("selectors",), f"a selector is longer than {_LONGEST_EXPRESSION} bytes")
    yield from at_most(exact.tolerations, _MOST_TOLERATIONS, ("tolerations",), "tolerations")
    for place, toleration in enumerate(exact.tolerations):
        if toleration.operator == "Exists" and toleration.value:
            yield Problem(("tolerations", place, "value"), "must be empty for operator `Exists`")
        if toleration.operator not in {"", "Equal", "Exists"}:
            yield Problem(("tolerations", place, "operator"), f"`{toleration.operator}` is no operator")
    for name, value in exact.capacity.items():
        if amount(value) is None:
            yield Problem(("capacity", "requests", name), f"capacity `{name}`: `{value}` is no quantity")


def _of_references(claim: ClaimSpec) -> Iterator[Problem]:
    known = {request.name for request in claim.requests}
    known |= {f"{request.name}/{sub.name}" for request in claim.requests for sub in request.first_available}
    lists: Mapping[str, Sequence[Constraint | OpaqueConfig]] = {
        "constraints": claim.constraints,
        "config": claim.config,
    }
    for field, listed in lists.items():
        for place, each in enumerate(listed):
            for name in each.requests:
                if name not in known:
                    yield Problem(("devices", field, place, "requests"), f"`{name}`: {_REFERENCE}")
    for place, constraint in enumerate(claim.constraints):
        yield from _of_constraint(constraint, ("devices", "constraints", place))


def _of_constraint(constraint: Constraint, loc: Loc) -> Iterator[Problem]:
    attribute = constraint.match_attribute or constraint.distinct_attribute
    if attribute is None:
        yield Problem(loc, 'exactly one of "matchAttribute" or "distinctAttribute" is required')
    elif "/" not in attribute or not is_qualified(attribute):
        words = "a fully qualified name must be a domain and a name separated by a slash"
        yield Problem(loc, f"`{attribute}`: {words}")
