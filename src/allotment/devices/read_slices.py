"""A ResourceSlice out of a file, in each version of the API that has devices as they are today.

The field names are those of ``ResourceSlice.spec`` (``resource.k8s.io``). A large cluster's slices repeat a
few attributes thousands of times, so that these are read without ceremony and looked at closely only when
they are not what they should be.
"""

from __future__ import annotations

from typing import Any, Final

from allotment.devices.fields import Fields, quantity, text
from allotment.devices.nodes import NodeSelector, NodeSelectorTerm, Requirement
from allotment.devices.slices import (
    AttributeValue,
    Capacity,
    CounterConsumption,
    CounterSet,
    Device,
    Pool,
    RequestPolicy,
    ResourceSlice,
    Scalar,
    Taint,
    ValidRange,
    Version,
)
from allotment.devices.versions import GROUP, NESTED, NEWEST
from allotment.documents.checking import Place, RefusedError, shown, type_words

_TYPES: Final = {"string": str, "int": int, "bool": bool, "version": str}
_PLURALS: Final = {f"{name}s": name for name in _TYPES}
_NESTED_FIELDS: Final = ("attributes", "capacity", "consumesCounters", "taints")
_OLDER_FIELDS: Final = ("nodeAllocatableResourceMappings",)
_BASIC: Final = "basic"


def read_slice(value: Any, place: Place, version: str) -> ResourceSlice:
    """The slice that an object says; RefusedError when it says none."""
    whole = Fields(value, place)
    name, metadata = read_metadata(whole)
    spec = Fields(whole.take("spec") or {}, place / "spec")
    read_device = _nested_device if version == NESTED else _device
    driver = spec.text("driver", required="name the driver that publishes the slice")
    pool = spec.read("pool", _pool, required="name the pool: {name: …, generation: 1, resourceSliceCount: 1}")
    node_name = spec.text("nodeName")
    node_selector = spec.read("nodeSelector", read_selector)
    all_nodes, per_device = spec.flag("allNodes"), spec.flag("perDeviceNodeSelection")
    devices = spec.each("devices", read_device)
    counters = spec.each("sharedCounters", _counter_set)
    partition_type, skipped = spec.text("partitionTypeAttribute"), spec.texts("skipNodeOperations")
    other = spec.rest()
    whole.rest(("status",))
    spec.done()
    whole.done()
    if driver is None or pool is None:
        raise RefusedError
    return ResourceSlice(
        name=name,
        driver=driver,
        pool=pool,
        node_name=node_name,
        node_selector=node_selector,
        all_nodes=all_nodes,
        per_device_node_selection=per_device,
        devices=devices,
        shared_counters=counters,
        partition_type_attribute=partition_type,
        skip_node_operations=skipped,
        metadata=metadata,
        other=other,
    )


def read_metadata(whole: Fields) -> tuple[str, dict[str, Any]]:
    """An object's name, and the rest of its metadata; apiVersion and kind are known by then."""
    whole.take("apiVersion")
    whole.take("kind")
    metadata = Fields(whole.take("metadata") or {}, whole.place / "metadata")
    name = metadata.text("name") or metadata.text("generateName")
    if name is None:
        metadata.missing("name", "give the object a name")
    metadata.done()
    return name or "", {key: each for key, each in metadata.value.items() if key != "name"}


def _pool(value: Any, place: Place) -> Pool:
    pool = Fields(value, place)
    name = pool.text("name", required="name the pool; a node's own is named after the node")
    generation, count = pool.number("generation"), pool.number("resourceSliceCount")
    if count is None:
        pool.missing("resourceSliceCount", "say of how many slices the pool is made")
    pool.rest()
    pool.done()
    return Pool(name or "", generation or 0, count or 0)


def read_selector(value: Any, place: Place) -> NodeSelector:
    """A node selector."""
    selector = Fields(value, place)
    terms = selector.each("nodeSelectorTerms", _term)
    selector.rest()
    selector.done()
    return NodeSelector(terms)


def _term(value: Any, place: Place) -> NodeSelectorTerm:
    term = Fields(value, place)
    expressions, fields = (
        term.each("matchExpressions", _requirement),
        term.each("matchFields", _requirement),
    )
    term.rest()
    term.done()
    return NodeSelectorTerm(expressions, fields)


def _requirement(value: Any, place: Place) -> Requirement:
    need = Fields(value, place)
    key, operator = need.text("key"), need.text("operator")
    values = need.texts("values")
    need.rest()
    need.done()
    return Requirement(key or "", operator or "", values)


def _nested_device(value: Any, place: Place) -> Device:
    """A device of v1beta1: a name, and everything else under ``basic``."""
    outer = Fields(value, place)
    name = outer.text("name", required="give the device a name")
    if _BASIC not in outer.value and any(key in outer.value for key in _NESTED_FIELDS):
        key = next(key for key in _NESTED_FIELDS if key in outer.value)
        (place / key).refuse(
            "wrong-version",
            f"in {GROUP}/{NESTED} the fields of a device stand under `basic`, and `{key}` stands beside it",
            f"say `apiVersion: {GROUP}/{NEWEST}`, if that is what this was written for",
            key=True,
        )
    inner = Fields(outer.take(_BASIC) or {}, place / _BASIC)
    device = _device_fields(inner, name or "")
    outer.rest()
    outer.done()
    return device


def _device(value: Any, place: Place) -> Device:
    """A device of v1 and v1beta2."""
    fields = Fields(value, place)
    if _BASIC in fields.value:
        (place / _BASIC).refuse(
            "wrong-version",
            f"`basic` belongs to {GROUP}/{NESTED}, and this object says a newer version: an API server would "
            "drop it, and the device would have neither attributes nor capacity",
            f"say `apiVersion: {GROUP}/{NESTED}`, or move what is under `basic` up into the device",
            key=True,
        )
    name = fields.text("name", required="give the device a name")
    return _device_fields(fields, name or "")


def _device_fields(fields: Fields, name: str) -> Device:
    device = Device(
        name=name,
        attributes=_attributes(fields),
        capacity=_capacities(fields),
        consumes_counters=fields.each("consumesCounters", _consumption),
        taints=fields.each("taints", read_taint),
        node_name=fields.text("nodeName"),
        node_selector=fields.read("nodeSelector", read_selector),
        all_nodes=fields.flag("allNodes"),
        binds_to_node=fields.flag("bindsToNode"),
        binding_conditions=fields.texts("bindingConditions"),
        binding_failure_conditions=fields.texts("bindingFailureConditions"),
        allow_multiple_allocations=fields.flag("allowMultipleAllocations"),
        node_allocatable=fields.table("nodeAllocatableResources", _as_it_is),
        other=fields.rest(_OLDER_FIELDS),
    )
    fields.done()
    return device


def _as_it_is(value: Any, _place: Place) -> Any:
    return value


def _attributes(fields: Fields) -> dict[str, AttributeValue]:
    raw = fields.take("attributes")
    if isinstance(raw, dict):
        found = {key: _plain_attribute(wrapped) for key, wrapped in raw.items()}
        plain: dict[str, AttributeValue] = {key: each for key, each in found.items() if each is not None}
        if len(plain) == len(raw):
            return plain
    return fields.table("attributes", _attribute)


def _plain_attribute(wrapped: Any) -> Scalar | None:
    """The value of an ordinary attribute, or None for one that needs a closer look."""
    if type(wrapped) is not dict or len(wrapped) != 1:
        return None
    kind, value = next(iter(wrapped.items()))
    as_expected = type(value) is _TYPES.get(kind)
    if not as_expected or (kind == "int" and not -(2**63) <= value < 2**63):
        return None
    found: Scalar = Version(value) if kind == "version" else value
    return found


def _attribute(value: Any, place: Place) -> AttributeValue:
    """An attribute, looked at closely: a list, or something that is wrong."""
    if not isinstance(value, dict):
        place.refuse(
            "wrong-type",
            f"`{place.name}` must say its type, and this is {type_words(value)}",
            f"write {{string: {shown(str(value))}}}, or int, bool or version",
        )
    said = {kind: each for kind, each in value.items() if each is not None}
    unknown = [kind for kind in said if kind not in _TYPES and kind not in _PLURALS]
    if unknown or len(said) != 1:
        known = ", ".join((*_TYPES, *_PLURALS))
        place.refuse("wrong-type", f"`{place.name}`: exactly one value must be specified", f"one of {known}")
    ((kind, each),) = said.items()
    if kind in _TYPES:
        return _scalar(kind, each, place / kind)
    if not isinstance(each, list) or not each:
        (place / kind).refuse(
            "wrong-type", f"`{place.name}`: a list of values has at least one", "put one in"
        )
    return tuple(_scalar(_PLURALS[kind], item, place / kind / number) for number, item in enumerate(each))


def _scalar(kind: str, value: Any, place: Place) -> Scalar:
    plain = _plain_attribute({kind: value})
    if plain is None:
        words = {"int": "a whole number of 64 bits", "bool": "true or false"}
        place.refuse_type(value, words.get(kind, "text"))
    return plain


def _capacities(fields: Fields) -> dict[str, Capacity]:
    raw = fields.take("capacity")
    if isinstance(raw, dict) and all(
        type(each) is dict and len(each) == 1 and type(each.get("value")) is str for each in raw.values()
    ):
        return {key: Capacity(each["value"]) for key, each in raw.items()}
    return fields.table("capacity", _capacity)


def _capacity(value: Any, place: Place) -> Capacity:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        place.found(
            "wrong-type",
            f"`{place.name}` must be a mapping, and this is the bare quantity {shown(str(value))}",
            f"write {{value: {shown(str(value))}}}",
        )
        return Capacity(quantity(value, place))
    fields = Fields(value, place)
    amount = fields.read("value", quantity, required="say how much there is")
    policy = fields.read("requestPolicy", _policy)
    fields.rest()
    fields.done()
    return Capacity(amount or "", policy)


def _policy(value: Any, place: Place) -> RequestPolicy:
    fields = Fields(value, place)
    policy = RequestPolicy(
        fields.read("default", quantity),
        fields.each("validValues", quantity),
        fields.read("validRange", _range),
    )
    fields.rest()
    fields.done()
    return policy


def _range(value: Any, place: Place) -> ValidRange:
    fields = Fields(value, place)
    least = fields.read("min", quantity, required="say where the range begins")
    span = ValidRange(least or "", fields.read("max", quantity), fields.read("step", quantity))
    fields.rest()
    fields.done()
    return span


def _counter_set(value: Any, place: Place) -> CounterSet:
    fields = Fields(value, place)
    name = fields.text("name", required="give the counter set a name")
    found = CounterSet(name or "", fields.table("counters", _counter))
    fields.rest()
    fields.done()
    return found


def _consumption(value: Any, place: Place) -> CounterConsumption:
    fields = Fields(value, place)
    name = fields.text("counterSet", required="name the counter set")
    counters, groups = fields.table("counters", _counter), fields.texts("compatibilityGroups")
    found = CounterConsumption(name or "", counters, groups, fields.rest())
    fields.done()
    return found


def _counter(value: Any, place: Place) -> str:
    fields = Fields(value, place)
    amount = fields.read("value", quantity, required="say how much there is")
    fields.rest()
    fields.done()
    return amount or ""


def read_taint(value: Any, place: Place) -> Taint:
    """A taint."""
    fields = Fields(value, place)
    key = fields.text("key", required="name what is wrong with the device")
    effect = fields.text("effect", required="say NoSchedule, NoExecute or None")
    taint = Taint(key or "", effect or "", fields.text("value") or "", fields.read("timeAdded", text))
    fields.rest()
    fields.done()
    return taint
