"""A team's own selector: passed on as it is, but looked at first.

It is compiled by the rules of the cluster that will read it. And it is tried on devices that lack one of the
keys that it reads: where that is an error, one such device among thousands keeps every pod of the claim off
every node, and no cluster says so before. The guarded form reads the key with ``.?`` and a value instead.
The engine is imported when a selector is met: most needs have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from allotment.devices.slices import AttributeValue, Capacity, Device, Version

_READ: Final = re.compile(
    r"device\s*\.\s*(?P<map>attributes|capacity)\s*\[\s*(?P<quote>['\"])(?P<domain>[A-Za-z0-9.-]+)(?P=quote)\s*\]"
    r"\s*(?:\.\s*(?P<name>[A-Za-z_]\w*)|\[\s*['\"](?P<key>[A-Za-z_]\w*)['\"]\s*\])"
)
_KINDS: Final = ("gpu", "mig")
_KNOWN: Final[Mapping[str, AttributeValue]] = {
    "cudaComputeCapability": Version("9.0.0"),
    "driverVersion": Version("580.0.0"),
    "cudaDriverVersion": Version("13.0.0"),
    "numaNode": 0,
    "cardIndex": 0,
    "renderIndex": 128,
}
_INSTEAD: Final[Mapping[type, str]] = {str: "''", int: "0", bool: "false", Version: "semver('0.0.0')"}
_NO_AMOUNT: Final = "quantity('0')"


@dataclass(frozen=True, slots=True)
class Unguarded:
    """A key that the selector reads from every device; ``guarded`` is the whole selector, mended."""

    key: str
    guarded: str


@dataclass(frozen=True, slots=True)
class _Read:
    """One place where the selector reads a key."""

    text: str
    map: str
    domain: str
    name: str

    @property
    def key(self) -> str:
        return f"{self.domain}/{self.name}"


def compile_refusal(expression: str, version: str | None = None) -> str | None:
    """Why Kubernetes (of this version; None: the newest) would refuse the selector, if it would."""
    from allotment.devices.cel import COST_LIMIT, CompileError, Environment, compile_selector
    from allotment.devices.server import NEWEST_SERVER, Server

    server = NEWEST_SERVER if version is None else Server.of(version)
    try:
        program = compile_selector(expression, Environment(server.name))
    except CompileError as error:
        return str(error).splitlines()[0]
    if program.max_cost > COST_LIMIT:
        return (
            f"by the estimate of Kubernetes {server.name} it may cost {program.max_cost:,} on one device, "
            f"and {COST_LIMIT:,} is allowed"
        )
    return None


def unguarded(expression: str) -> tuple[Unguarded, ...]:
    """The keys without which the selector fails; none for one that does not compile."""
    if compile_refusal(expression) is not None:
        return ()
    reads = list(dict.fromkeys(_reads(expression)))
    found = [read for read in reads if any(_fails(expression, reads, read, kind) for kind in _KINDS)]
    keys = {read.key: read for read in found}
    guarded = expression
    for read in found:
        guarded = guarded.replace(read.text, _guarded(read))
    return tuple(Unguarded(key, guarded) for key in keys)


def _reads(expression: str) -> Iterator[_Read]:
    for found in _READ.finditer(expression):
        yield _Read(found[0], found["map"], found["domain"], found["name"] or found["key"])


def _fails(expression: str, reads: list[_Read], missing: _Read, kind: str) -> bool:
    """Whether the selector fails on a device that has all keys but one."""
    from allotment.devices.cel import Environment, EvaluationError, compile_selector, device_view

    there = [read for read in reads if (read.map, read.key) != (missing.map, missing.key)]
    attributes = {read.key: _value(read.name, kind) for read in there if read.map == "attributes"}
    capacity = {read.key: Capacity("80Gi") for read in there if read.map == "capacity"}
    device = device_view(missing.domain, Device("d", attributes, capacity))
    try:
        compile_selector(expression, Environment()).evaluate(device)
    except EvaluationError as error:
        return f"no such key: {missing.name}" in str(error)
    return False


def _value(name: str, kind: str) -> AttributeValue:
    return kind if name == "type" else _KNOWN.get(name, "x")


def _guarded(read: _Read) -> str:
    instead = _NO_AMOUNT if read.map == "capacity" else _INSTEAD[type(_value(read.name, _KINDS[0]))]
    return f"device.{read.map}['{read.domain}'].?{read.name}.orValue({instead})"
