"""Rules on one device at a time: its memory, its attributes, who it is.

Facts: the attributes that NVIDIA's DRA driver publishes (v0.5), the standard ones of ``resource.k8s.io``
(KEP-4381, KEP-6072), sizes in which cards are sold, and what AMD's and Intel's drivers say of memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from allotment.devices.lint.seen import DeviceRule, SeenDevice, Sighting, value_words
from allotment.devices.rules import amount
from allotment.devices.slices import Version
from allotment.errors import Severity
from allotment.quantities import MI

_STANDARD: Final = "resource.kubernetes.io/"
_BUS_ID: Final = f"{_STANDARD}pciBusID"
_ROOT: Final = f"{_STANDARD}pcieRoot"
_NVIDIA: Final = "gpu.nvidia.com/"
_LEAST_MEMORY: Final = 256 * MI
_ADDRESS: Final = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_FORMS: Final = {
    _BUS_ID: (_ADDRESS, "0000:3b:00.0"),
    _ROOT: (re.compile(r"pci[0-9a-f]{4,8}:[0-9a-f]{2}"), "pci0000:3a"),
}
_NEARLY: Final = {"pciebusid": _BUS_ID, "pcibusid": _BUS_ID, "pcieroot": _ROOT, "pciroot": _ROOT}
_TYPES: Final[dict[str, type]] = {
    _BUS_ID: str,
    _ROOT: str,
    f"{_STANDARD}numaNode": int,
    **{
        f"{_NVIDIA}{key}": str
        for key in ("type", "uuid", "parentUUID", "profile", "productName", "brand", "architecture")
    },
    **{f"{_NVIDIA}{key}": Version for key in ("cudaComputeCapability", "driverVersion", "cudaDriverVersion")},
}
_WORDS: Final = {str: "a string", int: "an int", Version: "a version"}
_VIRTUAL: Final = ("NvidiaVCS", "NvidiaVApps", "NvidiaVPC", "NvidiaVWS")
_OLD_NAME: Final = re.compile(r"gpu-\d+-mig-\d+-\d+-\d+")
_NAMED_BY_ADDRESS: Final = re.compile(r"(.*-)?[0-9a-f]{4}-[0-9a-f]{2}-[0-9a-f]{2}-[0-7](-.*)?")


def no_memory(each: SeenDevice) -> Iterator[Sighting]:
    """A card of which nobody can ask memory."""
    if each.is_card and not _is_bare(each) and _memory_key(each) is None:
        keys = ", ".join(each.device.capacity) or "none"
        yield Sighting(each, f"{_what(each)}, capacity: {keys}")


def zero_memory(each: SeenDevice) -> Iterator[Sighting]:
    """A card with a memory of 0."""
    key = _memory_key(each)
    if each.is_card and key is not None and _memory(each, key) == 0:
        yield Sighting(each, f"{_what(each)}, {key} {each.device.capacity[key].value}", ("capacity", key))


def memory_unit(each: SeenDevice) -> Iterator[Sighting]:
    """A card with a few bytes."""
    key = _memory_key(each)
    if each.is_card and key is not None and 0 < (_memory(each, key) or 0) < _LEAST_MEMORY:
        yield Sighting(each, f"{_what(each)}, {key} {each.device.capacity[key].value}", ("capacity", key))


def bare_device(each: SeenDevice) -> Iterator[Sighting]:
    """A device without anything to ask for."""
    if _is_bare(each):
        yield Sighting(each, "no attributes, no capacity")


def attribute_type(each: SeenDevice) -> Iterator[Sighting]:
    """A known attribute of another type."""
    for full, key, value in each.keyed():
        expected = _TYPES.get(full)
        found = value[0] if isinstance(value, tuple) else value
        if expected is not None and type(found) is not expected:
            yield Sighting(
                each, f"{key} is {value_words(value)}, not {_WORDS[expected]}", ("attributes", key)
            )


def attribute_form(each: SeenDevice) -> Iterator[Sighting]:
    """A standard attribute that is written otherwise."""
    for full, key, value in each.keyed():
        form, example = _FORMS.get(full, (None, ""))
        for text in value if isinstance(value, tuple) else (value,):
            if form is not None and isinstance(text, str) and text and not form.fullmatch(text):
                yield Sighting(each, f'{key} is "{text}", not of the form {example}', ("attributes", key))


def nonstandard_attribute(each: SeenDevice) -> Iterator[Sighting]:
    """An attribute that nearly has a standard name, where the standard one is not there."""
    for full, key, value in each.keyed():
        standard = _NEARLY.get(full.rpartition("/")[2].lower())
        if standard is not None and standard not in each.device.attributes:
            yield Sighting(each, f"{key} is {value_words(value)}; {standard} is missing", ("attributes", key))


def empty_attribute(each: SeenDevice) -> Iterator[Sighting]:
    """An attribute that says nothing."""
    for _, key, value in each.keyed():
        if value == "":
            yield Sighting(each, f'{key} is string ""', ("attributes", key))


def list_attribute(each: SeenDevice) -> Iterator[Sighting]:
    """An attribute with several values."""
    for _, key, value in each.keyed():
        if isinstance(value, tuple):
            yield Sighting(each, f"{key} is {value_words(value)}", ("attributes", key))


def no_pcie_root(each: SeenDevice) -> Iterator[Sighting]:
    """A device on the PCI bus that nobody can bring together with others."""
    addresses = [
        (key, value) for _, key, value in each.keyed() if isinstance(value, str) and _ADDRESS.fullmatch(value)
    ]
    roots = ("pcieroot", "pciroot")
    if addresses and not any(full.rpartition("/")[2].lower() in roots for full, _, _ in each.keyed()):
        key, value = addresses[0]
        yield Sighting(each, f"{key} is {value}; {_ROOT} is missing")


def no_uuid(each: SeenDevice) -> Iterator[Sighting]:
    """A card that cannot be told from another one of its kind elsewhere."""
    known = each.attribute("uuid") or each.device.attributes.get(_BUS_ID) or each.is_part
    if each.is_card and not known and not _is_bare(each) and not _NAMED_BY_ADDRESS.fullmatch(each.name):
        yield Sighting(each, f"{_what(each)}: neither uuid nor {_BUS_ID}")


def old_name(each: SeenDevice) -> Iterator[Sighting]:
    """A partition that is named as it was up to 25.8."""
    if each.slice.driver == "gpu.nvidia.com" and _OLD_NAME.fullmatch(each.name):
        yield Sighting(each, f"profile {each.attribute('profile') or 'not told'}")


def virtual_card(each: SeenDevice) -> Iterator[Sighting]:
    """A share of a card in a virtual machine, published as a card."""
    if each.attribute("type") == "gpu" and each.attribute("brand") in _VIRTUAL:
        key = _memory_key(each)
        memory = f", memory {each.device.capacity[key].value}" if key is not None else ""
        yield Sighting(each, f"{_what(each)}, brand {each.attribute('brand')}{memory}")


def tainted_device(each: SeenDevice) -> Iterator[Sighting]:
    """A device with taints of its driver's own."""
    for number, taint in enumerate(each.device.taints):
        value = f"={taint.value}" if taint.value else ""
        means = "kept from claims that do not tolerate it" if taint.blocks else "information only"
        yield Sighting(each, f"{taint.key}{value}:{taint.effect} ({means})", ("taints", number))


def capacity_without_policy(each: SeenDevice) -> Iterator[Sighting]:
    """A device that several claims may hold, with a capacity that has no rule for shares of it."""
    if each.device.allow_multiple_allocations:
        for key, capacity in each.device.capacity.items():
            if capacity.request_policy is None:
                yield Sighting(each, f"{key} {capacity.value}, without requestPolicy", ("capacity", key))


def _is_bare(each: SeenDevice) -> bool:
    return not each.device.attributes and not each.device.capacity


def _memory_key(each: SeenDevice) -> str | None:
    keys = ("memory", f"{each.slice.driver}/memory")
    return next((key for key in keys if key in each.device.capacity), None)


def _memory(each: SeenDevice, key: str) -> int | None:
    found = amount(each.device.capacity[key].value)
    return None if found is None else found.nanos // 10**9


def _what(each: SeenDevice) -> str:
    """The device in a word: its product, or its model, or its type."""
    for key in ("productName", "model", "type"):
        if isinstance(found := each.attribute(key), str) and found:
            return found
    return "a card"


_WARNING, _NOTE = Severity.WARNING, Severity.NOTE
DEVICE_RULES: Final = (
    DeviceRule(
        "no-memory",
        _WARNING,
        "no memory is published: no claim by memory gets it, and an unguarded selector fails on it",
        "guard selectors (`'memory' in device.capacity[…]`), or ask for it by name",
        no_memory,
    ),
    DeviceRule(
        "zero-memory",
        _WARNING,
        "memory 0 is published, which means that it is not known",
        "take it for unknown; ask for such a card by what else it says",
        zero_memory,
    ),
    DeviceRule(
        "memory-unit",
        _WARNING,
        "so little memory is published that a unit must be missing",
        "the driver should publish bytes, or Mi with its suffix: 81559Mi",
        memory_unit,
    ),
    DeviceRule(
        "bare-device",
        _NOTE,
        "neither attributes nor capacity are published, so that no selector can choose it",
        "the driver should say at least what kind of device it is",
        bare_device,
    ),
    DeviceRule(
        "attribute-type",
        _WARNING,
        "an attribute is of another type than selectors expect, and comparing it is an error",
        "the driver should publish the type that is documented",
        attribute_type,
    ),
    DeviceRule(
        "attribute-form",
        _WARNING,
        "a standard attribute is not written as it should be, and matches nothing of another driver",
        "lower case, with domain, bus, device and function",
        attribute_form,
    ),
    DeviceRule(
        "nonstandard-attribute",
        _NOTE,
        "an attribute nearly has a standard name; constraints on the standard one do not see it",
        "update the driver; until then name this key in selectors",
        nonstandard_attribute,
    ),
    DeviceRule(
        "empty-attribute",
        _NOTE,
        "an attribute is the empty text: it is there for `in`, and equal to every other empty one",
        "the driver should leave out what it does not know",
        empty_attribute,
    ),
    DeviceRule(
        "list-attribute",
        _NOTE,
        "an attribute is a list: the cluster needs the gate DRAListTypeAttributes, or drops it",
        "look whether the gate is on; selectors need `in` or a macro instead of `==`",
        list_attribute,
    ),
    DeviceRule(
        "no-pcie-root",
        _NOTE,
        "a PCI address and no PCIe root: no claim can ask for this beside a card of the same root",
        f"the driver should publish {_ROOT}",
        no_pcie_root,
    ),
    DeviceRule(
        "no-uuid",
        _NOTE,
        "nothing says which card this is, so that a card listed twice cannot be noticed",
        "the driver should publish a uuid, or the PCI address under its standard name",
        no_uuid,
    ),
    DeviceRule(
        "old-name",
        _NOTE,
        "named as NVIDIA's driver named partitions up to 25.8: by numbers, without the profile",
        "update the driver; never take a name apart, ask for attributes",
        old_name,
    ),
    DeviceRule(
        "virtual-card",
        _NOTE,
        "published as a whole card, and a share of one that a virtual machine was given",
        "do not take it for a card of its product; exclude the brand where isolation matters",
        virtual_card,
    ),
    DeviceRule(
        "tainted-device",
        _NOTE,
        "tainted by its driver",
        "see what the driver says; Kubernetes 1.34 and 1.35 ignore taints unless DRADeviceTaints is on",
        tainted_device,
    ),
    DeviceRule(
        "capacity-without-policy",
        _NOTE,
        "shared by amounts, without a policy: a claim that names no amount takes all of it",
        "name an amount in every claim, or let the driver publish a requestPolicy with a default",
        capacity_without_policy,
    ),
)
