"""An allocation as the API has it: results, the configuration that comes with them, and the nodes it is for.

Configurations of classes come first, each class once, for all requests that chose it; then those of the claim
that name a request or the chosen alternative, word for word; one that is for every request names none.
Devices that one node reaches, or that bind to it, tie the allocation to that node; otherwise the node
selectors of all devices hold together. After ``Allocate`` and ``createNodeSelector`` of
k8s.io/dynamic-resource-allocation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from allotment.devices.allocation.errors import AllocationError
from allotment.devices.allocation.features import Features, Variant
from allotment.devices.allocation.sites import Site
from allotment.devices.allocation.trial import Given
from allotment.devices.claims import AllocatedConfig, AllocatedDevice, ClaimSpec, ConfigSource
from allotment.devices.classes import DeviceClass, OpaqueConfig
from allotment.devices.nodes import NodeSelector, NodeSelectorTerm, Requirement


def result_of(given: Given, site: Site, features: Features, share_id: str | None) -> AllocatedDevice:
    """One device with what is recorded about it."""
    device, published = site.devices[given.number], site.slices[given.number]
    binds = features.device_binding_and_status
    return AllocatedDevice(
        request=given.want.name,
        id=site.ids[given.number],
        admin_access=True if given.want.exact.admin_access else None,
        tolerations=given.want.exact.tolerations,
        binding_conditions=device.binding_conditions if binds else (),
        binding_failure_conditions=device.binding_failure_conditions if binds else (),
        share_id=share_id,
        consumed_capacity=given.demand.texts if given.demand is not None else {},
        skip_node_operations=published.skip_node_operations if features.optional_node_operations else (),
    )


def config_of(
    spec: ClaimSpec, chosen: Sequence[str], classes: Mapping[str, DeviceClass], *, by_request: bool
) -> tuple[AllocatedConfig, ...]:
    """The configuration of a claim whose requests were met under the ``chosen`` names, one for each.

    ``by_request`` is what Kubernetes did up to 1.36: the claim's own once for each request, and for all
    requests by their names.
    """
    found = [*_of_classes(spec, chosen, classes), *_of_claim(spec, chosen, repeat=by_request)]
    if by_request:
        return tuple(found)
    names = [{request.name, name} for request, name in zip(spec.requests, chosen, strict=True)]
    return tuple(
        replace(each, config=replace(each.config, requests=()))
        if all(known & set(each.config.requests) for known in names)
        else each
        for each in found
    )


def _of_classes(
    spec: ClaimSpec, chosen: Sequence[str], classes: Mapping[str, DeviceClass]
) -> Iterator[AllocatedConfig]:
    requests: dict[str, list[str]] = {}
    for request, name in zip(spec.requests, chosen, strict=True):
        for sub in request.alternatives:
            if name in {sub.name, f"{request.name}/{sub.name}"}:
                requests.setdefault(sub.exactly.device_class, []).append(name)
                break
    for device_class, names in requests.items():
        for config in classes[device_class].config:
            yield AllocatedConfig(ConfigSource.FROM_CLASS, replace(config, requests=tuple(names)))


def _of_claim(spec: ClaimSpec, chosen: Sequence[str], *, repeat: bool) -> Iterator[AllocatedConfig]:
    for config in spec.config:
        times = 1 if not config.requests else _requests_of(config, spec, chosen)
        for _ in range(times if repeat else min(times, 1)):
            yield AllocatedConfig(ConfigSource.FROM_CLAIM, config)


def _requests_of(config: OpaqueConfig, spec: ClaimSpec, chosen: Sequence[str]) -> int:
    """How many requests a configuration is for."""
    return sum(
        request.name in config.requests or name in config.requests
        for request, name in zip(spec.requests, chosen, strict=True)
    )


def node_selector_of(
    results: Sequence[Given], site: Site, claim: str, variant: Variant
) -> NodeSelector | None:
    """The nodes from which all devices can be reached; None: every node."""
    expressions: list[Requirement] = []
    fields: list[Requirement] = []
    for given in results:
        device, published = site.devices[given.number], site.slices[given.number]
        target = device if published.per_device_node_selection else published
        if target.node_name or (device.binds_to_node and variant is not Variant.STABLE):
            only = Requirement("metadata.name", "In", (site.node.name,))
            return NodeSelector((NodeSelectorTerm(match_fields=(only,)),))
        terms = target.node_selector.terms if target.node_selector is not None else ()
        if len(terms) > 1:
            words = f"unsupported ResourceSlice.NodeSelector with {len(terms)} terms"
            raise AllocationError(f"create NodeSelector for claim {claim.rpartition('/')[2]}: {words}")
        for term in terms:
            _add(term.match_fields, fields)
            _add(term.match_expressions, expressions)
    if not (fields or expressions):
        return None
    return NodeSelector((NodeSelectorTerm(tuple(expressions), tuple(fields)),))


def _add(requirements: Sequence[Requirement], to: list[Requirement]) -> None:
    for requirement in requirements:
        if not any(_same(requirement, known) for known in to):
            to.append(requirement)


def _same(one: Requirement, other: Requirement) -> bool:
    same = (one.key, one.operator) == (other.key, other.operator)
    return same and set(one.values) == set(other.values)
