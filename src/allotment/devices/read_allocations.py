"""What a claim was given, out of its status, as far as it can be read.

A status is written by schedulers, not by people: what is not understood is left out, and told elsewhere
(``validation.status``). Field names are those of ``status.allocation`` of ``resource.k8s.io/v1``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.devices.claims import AllocatedConfig, AllocatedDevice, Allocation, ConfigSource, Toleration
from allotment.devices.classes import OpaqueConfig
from allotment.devices.nodes import NodeSelector, NodeSelectorTerm, Requirement
from allotment.devices.slices import DeviceId
from allotment.devices.validation import raw
from allotment.devices.validation.raw import Raw

_SOURCES: Final = {source.value: source for source in ConfigSource}


def allocation_of(status: Mapping[str, Any]) -> Allocation | None:
    """The allocation that a status holds; None where the claim has none."""
    allocation = raw.part(status, "allocation")
    if allocation is None:
        return None
    devices, selector = raw.table(allocation, "devices"), raw.part(allocation, "nodeSelector")
    return Allocation(
        tuple(_results(devices)),
        tuple(_configs(devices)),
        None if selector is None else NodeSelector(tuple(_terms(selector))),
        raw.said(allocation, "allocationTimestamp"),
    )


def _results(devices: Raw) -> Iterator[AllocatedDevice]:
    for result in raw.tables(devices, "results"):
        names = [raw.text(result, key) for key in ("driver", "pool", "device")]
        if not all(names):
            continue
        yield AllocatedDevice(
            raw.text(result, "request"),
            DeviceId(*names),
            raw.flag(result, "adminAccess"),
            tuple(_toleration(each) for each in raw.tables(result, "tolerations")),
            tuple(raw.texts(result, "bindingConditions")),
            tuple(raw.texts(result, "bindingFailureConditions")),
            raw.said(result, "shareID"),
            {key: str(value) for key, value in raw.table(result, "consumedCapacity").items()},
            tuple(raw.texts(result, "skipNodeOperations")),
        )


def _toleration(value: Raw) -> Toleration:
    seconds = value.get("tolerationSeconds")
    return Toleration(
        raw.text(value, "key"),
        raw.text(value, "operator") or "Equal",
        raw.text(value, "value"),
        raw.text(value, "effect"),
        seconds if isinstance(seconds, int) else None,
    )


def _configs(devices: Raw) -> Iterator[AllocatedConfig]:
    for config in raw.tables(devices, "config"):
        opaque, source = raw.table(config, "opaque"), _SOURCES.get(raw.text(config, "source"))
        if source is not None and opaque:
            driver, parameters = raw.text(opaque, "driver"), raw.table(opaque, "parameters")
            requests = tuple(raw.texts(config, "requests"))
            yield AllocatedConfig(source, OpaqueConfig(driver, parameters, requests))


def _terms(selector: Raw) -> Iterator[NodeSelectorTerm]:
    for term in raw.tables(selector, "nodeSelectorTerms"):
        yield NodeSelectorTerm(
            tuple(_needs(term, "matchExpressions")),
            tuple(_needs(term, "matchFields")),
        )


def _needs(term: Raw, key: str) -> Iterator[Requirement]:
    for need in raw.tables(term, key):
        yield Requirement(raw.text(need, "key"), raw.text(need, "operator"), tuple(raw.texts(need, "values")))
