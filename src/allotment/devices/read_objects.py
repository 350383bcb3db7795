"""DeviceClasses, claims, templates, taint rules and nodes out of a file, in each version that is read.

The field names are those of ``resource.k8s.io`` and, for nodes, of ``core/v1``. Of a node only what devices
and pods need is kept: labels, taints, what it can give, and its metadata.
"""

from __future__ import annotations

from typing import Any, Final

from allotment.devices.claim_objects import ResourceClaim, ResourceClaimTemplate
from allotment.devices.claims import (
    AllocationMode,
    ClaimSpec,
    Constraint,
    DerivedAttribute,
    ExactRequest,
    Request,
    SubRequest,
    Toleration,
)
from allotment.devices.classes import DeviceClass, OpaqueConfig
from allotment.devices.fields import Fields, mapping, number, quantity, text
from allotment.devices.nodes import READY, Node
from allotment.devices.read_slices import read_metadata, read_taint
from allotment.devices.taint_rules import DeviceTaintRule
from allotment.devices.versions import NESTED
from allotment.documents.checking import Place, RefusedError

_NAMESPACE: Final = "default"
_FORMER_SELECTION: Final = ("deviceClassName", "selectors")
_MODES: Final = {mode.value: mode for mode in AllocationMode}


def read_class(value: Any, place: Place, _version: str) -> DeviceClass:
    """A DeviceClass; it is the same in every version."""
    whole = Fields(value, place)
    name, metadata = read_metadata(whole)
    spec = Fields(whole.take("spec") or {}, place / "spec")
    found = DeviceClass(
        name,
        spec.each("selectors", _selector),
        spec.each("config", _config),
        spec.text("extendedResourceName"),
        metadata,
    )
    spec.rest(("suitableNodes",))
    whole.rest()
    spec.done()
    whole.done()
    return found


def read_claim(value: Any, place: Place, version: str) -> ResourceClaim:
    """A ResourceClaim, with its status as it is."""
    whole = Fields(value, place)
    name, namespace, metadata = _namespaced(whole)
    spec = _claim_spec(whole.take("spec") or {}, place / "spec", version)
    status = whole.read("status", mapping) or {}
    whole.rest()
    whole.done()
    return ResourceClaim(name, namespace, spec, status, metadata)


def read_template(value: Any, place: Place, version: str) -> ResourceClaimTemplate:
    """A ResourceClaimTemplate."""
    whole = Fields(value, place)
    name, namespace, metadata = _namespaced(whole)
    outer = Fields(whole.take("spec") or {}, place / "spec")
    claim_metadata = outer.read("metadata", mapping) or {}
    spec = _claim_spec(outer.take("spec") or {}, place / "spec" / "spec", version)
    outer.rest()
    whole.rest()
    outer.done()
    whole.done()
    return ResourceClaimTemplate(name, namespace, spec, claim_metadata, metadata)


def read_taint_rule(value: Any, place: Place, _version: str) -> DeviceTaintRule:
    """A DeviceTaintRule."""
    whole = Fields(value, place)
    name, metadata = read_metadata(whole)
    spec = Fields(whole.take("spec") or {}, place / "spec")
    selects = spec.take("deviceSelector") is not None
    selector = Fields(spec.take("deviceSelector") or {}, place / "spec" / "deviceSelector")
    for key in _FORMER_SELECTION:
        if selector.take(key):
            (selector.place / key).refuse(
                "unknown-field",
                f"taint rules select by `{key}` no longer (Kubernetes 1.35), so that this one cannot be read",
                "select by driver, pool and device",
                key=True,
            )
    taint = spec.read("taint", read_taint, required="say the taint: {key: …, effect: NoSchedule}")
    driver, pool, device = (selector.text(key) for key in ("driver", "pool", "device"))
    selector.rest()
    spec.rest()
    whole.rest(("status",))
    for fields in (selector, spec, whole):
        fields.done()
    if taint is None:
        raise RefusedError
    return DeviceTaintRule(name, taint, driver, pool, device, selects, metadata)


def read_node(value: Any, place: Place, _version: str) -> Node:
    """A Node, as far as it matters to devices and pods."""
    whole = Fields(value, place)
    name, metadata = read_metadata(whole)
    labels = Fields(whole.take("metadata"), place / "metadata").table("labels", text)
    spec = Fields(whole.take("spec") or {}, place / "spec")
    status = Fields(whole.take("status") or {}, place / "status")
    node = Node(
        name,
        labels,
        status.table("allocatable", quantity) or status.table("capacity", quantity),
        spec.each("taints", mapping),
        spec.flag("unschedulable"),
        {key: each for key, each in metadata.items() if key != "labels"},
        all(status.each("conditions", _is_well)),
    )
    for fields in (spec, status, whole):
        fields.done()
    return node


def _is_well(value: Any, place: Place) -> bool:
    """Whether a condition does not say that the node is not ready."""
    condition = mapping(value, place)
    return condition.get("type") != READY or condition.get("status") == "True"


def _namespaced(whole: Fields) -> tuple[str, str, dict[str, Any]]:
    name, metadata = read_metadata(whole)
    namespace = metadata.get("namespace")
    rest = {key: each for key, each in metadata.items() if key != "namespace"}
    return name, namespace if isinstance(namespace, str) else _NAMESPACE, rest


def _claim_spec(value: Any, place: Place, version: str) -> ClaimSpec:
    outer = Fields(value, place)
    devices = Fields(outer.take("devices") or {}, place / "devices")
    read_request = _flat_request if version == NESTED else _request
    spec = ClaimSpec(
        devices.each("requests", read_request),
        devices.each("constraints", _constraint),
        devices.each("config", _config),
    )
    devices.rest()
    outer.rest()
    devices.done()
    outer.done()
    return spec


def _request(value: Any, place: Place) -> Request:
    """A request of v1 and v1beta2: ``exactly`` or ``firstAvailable``."""
    fields = Fields(value, place)
    name = fields.text("name", required="give the request a name") or ""
    exactly = fields.read("exactly", _exactly)
    alternatives = fields.each("firstAvailable", _sub_request)
    fields.rest()
    fields.done()
    if (exactly is None) == (not alternatives):
        place.refuse("wrong-type", "exactly one of `exactly` or `firstAvailable` is required", "say one")
    return Request(name, exactly, alternatives)


def _flat_request(value: Any, place: Place) -> Request:
    """A request of v1beta1, whose own fields are the exact request."""
    fields = Fields(value, place)
    name = fields.text("name", required="give the request a name") or ""
    alternatives = fields.each("firstAvailable", _sub_request)
    exactly = None if alternatives else _exact_fields(fields)
    fields.rest()
    fields.done()
    return Request(name, exactly, alternatives)


def _sub_request(value: Any, place: Place) -> SubRequest:
    fields = Fields(value, place)
    name = fields.text("name", required="give the alternative a name") or ""
    exactly = _exact_fields(fields)
    fields.rest()
    fields.done()
    return SubRequest(name, exactly)


def _exactly(value: Any, place: Place) -> ExactRequest:
    fields = Fields(value, place)
    exactly = _exact_fields(fields)
    fields.rest()
    fields.done()
    return exactly


def _exact_fields(fields: Fields) -> ExactRequest:
    name = fields.text("deviceClassName", required="name the device class")
    count, admin = fields.number("count"), fields.take("adminAccess")
    capacity = Fields(fields.take("capacity") or {}, fields.place / "capacity")
    found = ExactRequest(
        name or "",
        fields.each("selectors", _selector),
        count or 1,
        fields.read("allocationMode", _mode) or AllocationMode.EXACT_COUNT,
        fields.each("tolerations", _toleration),
        capacity.table("requests", quantity),
        None if admin is None else fields.flag("adminAccess"),
        fields.each("derivedAttributes", _derived),
    )
    capacity.rest()
    capacity.done()
    if found.mode is AllocationMode.ALL and count:
        (fields.place / "count").refuse(
            "out-of-range", "count: must not be specified when allocationMode is 'All'", "take it out"
        )
    return found


def _mode(value: Any, place: Place) -> AllocationMode:
    word = text(value, place)
    if word not in _MODES:
        place.refuse("unknown-word", f'`{word}`: supported values: "All", "ExactCount"', "write one of them")
    return _MODES[word]


def _selector(value: Any, place: Place) -> str:
    fields = Fields(value, place)
    cel = Fields(fields.take("cel") or {}, place / "cel")
    expression = cel.text("expression", required="a selector is {cel: {expression: …}}")
    cel.rest()
    fields.rest()
    cel.done()
    fields.done()
    return expression or ""


def _derived(value: Any, place: Place) -> DerivedAttribute:
    fields = Fields(value, place)
    name = fields.text("name", required="name the attribute, with a domain: example.com/numaNode") or ""
    expression = fields.text("expression", required="say how it is worked out, in CEL") or ""
    fields.rest()
    fields.done()
    return DerivedAttribute(name, expression)


def _toleration(value: Any, place: Place) -> Toleration:
    fields = Fields(value, place)
    found = Toleration(
        fields.text("key") or "",
        fields.text("operator") or "Equal",
        fields.text("value") or "",
        fields.text("effect") or "",
        fields.read("tolerationSeconds", number),
    )
    fields.rest()
    fields.done()
    return found


def _constraint(value: Any, place: Place) -> Constraint:
    fields = Fields(value, place)
    found = Constraint(
        fields.texts("requests"), fields.text("matchAttribute"), fields.text("distinctAttribute")
    )
    fields.rest()
    fields.done()
    return found


def _config(value: Any, place: Place) -> OpaqueConfig:
    fields = Fields(value, place)
    requests = fields.texts("requests")
    opaque = Fields(fields.take("opaque") or {}, place / "opaque")
    driver = opaque.text("driver", required="name the driver that the parameters are for")
    parameters = opaque.read("parameters", mapping)
    opaque.rest()
    fields.rest()
    opaque.done()
    fields.done()
    return OpaqueConfig(driver or "", parameters or {}, requests)
