"""The allocator against the answers of the upstream one.

``dra_cases.json`` is upstream's own table: the exact devices, errors and numbers of steps of its variants.
The scenarios are made up and answered by three builds of it: with later corrections (``fixed``), without
(``snapshot``) and 1.36.3. Objects are as they are before defaulting, some of them invalid, so that they are
read here field by field and not by the reader, which refuses those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any, Final

from allotment.devices.allocation import (
    BEHAVIOURS,
    Attempt,
    Behaviour,
    Features,
    Ground,
    NamedClaim,
    PoolIndex,
    Site,
    Taken,
    Variant,
    allocate_on,
)
from allotment.devices.allocation.taken import nanos
from allotment.devices.claims import (
    ClaimSpec,
    Constraint,
    ExactRequest,
    Request,
    SubRequest,
    Toleration,
)
from allotment.devices.classes import DeviceClass, OpaqueConfig
from allotment.devices.nodes import Node, NodeSelector, NodeSelectorTerm, Requirement
from allotment.devices.selectors import Selectors
from allotment.devices.slices import (
    AttributeValue,
    Capacity,
    CounterConsumption,
    CounterSet,
    Device,
    DeviceId,
    Pool,
    RequestPolicy,
    ResourceSlice,
    Taint,
    ValidRange,
    Version,
)
from tests.conformance.outcomes import ALL, Outcome, Share, attempt, read_json, read_json_lines

Json = Mapping[str, Any]

_SHARE_ID: Final = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"
_FEATURES: Final = {
    "AdminAccess": "admin_access",
    "PrioritizedList": "prioritized_list",
    "PartitionableDevices": "partitionable_devices",
    "DeviceTaints": "device_taints",
    "ConsumableCapacity": "consumable_capacity",
    "FractionalCapacityRange": "fractional_capacity_range",
    "DeviceBindingAndStatus": "device_binding_and_status",
    "ListTypeAttributes": "list_type_attributes",
    "OptionalNodeOperations": "optional_node_operations",
    "CompatibilityGroups": "compatibility_groups",
}
_CLASS_ERROR: Final = "could not retrieve device class "
_MATCHES: Final = Selectors()


def run_cases(path: Path, share: Share = ALL) -> Iterator[Outcome]:
    """Upstream's table: every variant that runs a case as the snapshot does, and 1.36 where it differs."""
    for case in share(read_json(path)["cases"]):
        name = case["name"]
        for variant in Variant:
            actual = case["actual"][variant]
            if "skipped" in actual or variant in case["expect"].get("notRunAgainst", ()):
                continue
            found = _run(case, variant, "snapshot", actual)
            yield from _exact(f"{name} ({variant})", f"{variant}", actual, found)
            yield _expected(f"{name} ({variant})", case["expect"], found)
            yield from _asked_steps(f"{name} ({variant})", case["expect"], variant, found)
        if "expect_0.36" in case:
            for variant in (Variant.INCUBATING, Variant.EXPERIMENTAL):
                if "skipped" not in case["actual"][variant]:
                    found = _run(case, variant, "1.36.3")
                    yield _expected(f"{name} ({variant}, 1.36.3)", case["expect_0.36"], found)


def run_scenarios(path: Path, share: Share = ALL) -> Iterator[Outcome]:
    """Made-up scenarios: every build and variant whose answer is the same each time."""
    for scenario in read_json_lines(path, share):
        yield from compare_scenario(scenario)


def compare_scenario(scenario: Json) -> Iterator[Outcome]:
    """One scenario with its ``answers``, each under ``build/variant``."""
    for key, answer in scenario["answers"].items():
        build, _, variant = key.partition("/")
        if "skipped" in answer or "nondeterministic" in answer:
            continue
        found = _run(scenario, Variant(variant), build, answer)
        yield from _exact(f"{scenario['id']} ({key})", key, answer, found)


def _exact(case: str, feature: str, answer: Json, found: object) -> Iterator[Outcome]:
    """Devices, configuration and nodes; the error's words; and the number of steps."""
    if not isinstance(found, Attempt):
        yield Outcome(case, f"{feature} answer", _answer(answer), found)
        return
    yield Outcome(case, f"{feature} answer", _answer(answer), _found(found))
    yield Outcome(case, f"{feature} steps", _steps(answer), found.steps)


def _expected(case: str, expect: Json, found: object) -> Outcome:
    """What upstream's table asks for, which is less than exact."""
    feature = "as expected"
    if not isinstance(found, Attempt):
        return Outcome(case, feature, expect, found)
    if expect.get("errorContains"):
        text = found.error.text if found.error is not None else ""
        part = expect["errorContains"]
        return Outcome(case, feature, part, part if part in text else text)
    results = expect.get("results") or ()
    wanted = sorted(
        repr(_loose(each["allocation"], in_any_order=each["resultsInAnyOrder"])) for each in results
    )
    allocations = [each.to_dict() for each in found.allocations or ()]
    ordered = [
        _loose(
            each, in_any_order=bool(results) and results[min(place, len(results) - 1)]["resultsInAnyOrder"]
        )
        for place, each in enumerate(allocations)
    ]
    return Outcome(case, feature, wanted, sorted(map(repr, ordered)))


def _asked_steps(case: str, expect: Json, variant: Variant, found: object) -> Iterator[Outcome]:
    wanted = (expect.get("numAllocateOneInvocationsByChannel") or {}).get(
        variant, expect.get("numAllocateOneInvocations")
    )
    if wanted and isinstance(found, Attempt):
        yield Outcome(case, "asked steps", wanted, found.steps)


def _answer(answer: Json) -> object:
    error = answer.get("error")
    if error:
        return _error(error), bool(answer.get("errorOnlyAffectsNode"))
    results = answer.get("results")
    return None if results is None else repr([_plain(each) for each in results])


def _found(found: Attempt) -> object:
    if found.error is not None:
        return _error(found.error.text), found.error.only_this_node
    if found.allocations is None:
        return None
    return repr([_plain(each.to_dict()) for each in found.allocations])


def _error(text: str) -> str:
    """What the lister of classes says about a class that is not there is the test's, not the allocator's."""
    before, told, after = text.partition(_CLASS_ERROR)
    return f"{before}{told}{after.partition(':')[0]}" if told else text


def _plain(value: Any) -> Any:
    """A document with its keys in order, so that two can be compared as they are shown."""
    if isinstance(value, Mapping):
        return {key: _plain(value[key]) for key in sorted(value) if value[key] not in (None, [], {})}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _loose(allocation: Json, *, in_any_order: bool) -> Any:
    plain = _plain(allocation)
    if in_any_order:
        plain["devices"]["results"] = sorted(plain["devices"].get("results", ()), key=repr)
        for term in plain.get("nodeSelector", {}).get("nodeSelectorTerms", ()):
            for key in term:
                term[key] = sorted(
                    ({**need, "values": sorted(need.get("values", ()))} for need in term[key]), key=repr
                )
    return plain


def _run(case: Json, variant: Variant, build: str, answer: Json | None = None) -> object:
    """What Allotment says.

    The stable variant goes through pools in no order (upstream walks a map), so that its answer is one of
    those that the orders give: the one that is asked for, if it is among them.
    """
    orders = attempt(lambda: _allocate(case, variant, BEHAVIOURS[build]))
    if not isinstance(orders, Iterator):
        return orders
    first = attempt(lambda: next(orders))
    if answer is None or variant is not Variant.STABLE or _agrees(answer, first):
        return first
    return next((found for found in orders if _agrees(answer, found)), first)


def _agrees(answer: Json, found: object) -> bool:
    """Whether the answer and its number of steps are these."""
    return isinstance(found, Attempt) and all(each.agrees for each in _exact("", "", answer, found))


def _allocate(case: Json, variant: Variant, behaviour: Behaviour) -> Iterator[Attempt]:
    """The answer, for each order of the pools: the first is that of their names."""
    wanted = {_FEATURES[name]: on for name, on in case["features"].items()}
    features = Features(**wanted)
    classes = {each.name: each for each in map(_class, case["classes"] or ())}
    index = PoolIndex([_slice(each) for each in case["slices"] or ()], features, variant, behaviour)
    metadata = case["node"]["metadata"]
    node = Node(metadata["name"], metadata.get("labels") or {})
    ground = Ground(classes, features, variant, behaviour, _MATCHES)
    claims = [_claim(each) for each in case["claims"]]
    taken = _taken(case["allocatedState"])
    for pools in permutations(index.reached_by(node)):
        yield allocate_on(Site(node, pools), claims, taken, ground, lambda: _SHARE_ID)


def _steps(answer: Json) -> int:
    return int(answer.get("numAllocateOneInvocations") or 0)


def _taken(state: Json) -> Taken:
    taken = Taken(_id(each) for each in state.get("allocatedDevices") or ())
    for each in state.get("allocatedSharedDeviceIDs") or ():
        taken.add_share(_id(each))
    for each in state.get("aggregatedCapacity") or ():
        capacity = each.get("capacity") or each.get("consumedCapacity") or {}
        taken.add_capacity(_id(each), {name: nanos(value) for name, value in capacity.items()})
    return taken


def _id(raw: Json) -> DeviceId:
    return DeviceId(raw["driver"], raw["pool"], raw["device"])


def _claim(raw: Json) -> NamedClaim:
    metadata = raw["metadata"]
    namespace = metadata.get("namespace")
    devices = raw["spec"].get("devices") or {}
    spec = ClaimSpec(
        tuple(map(_request, devices.get("requests") or ())),
        tuple(map(_constraint, devices.get("constraints") or ())),
        tuple(map(_config, devices.get("config") or ())),
    )
    return NamedClaim(f"{namespace}/{metadata['name']}" if namespace else metadata["name"], spec)


def _request(raw: Json) -> Request:
    if raw.get("firstAvailable"):
        subs = tuple(SubRequest(each["name"], _exactly(each)) for each in raw["firstAvailable"])
        return Request(raw["name"], first_available=subs)
    return Request(raw["name"], _exactly(raw["exactly"]))


def _exactly(raw: Json) -> ExactRequest:
    return ExactRequest(
        raw.get("deviceClassName", ""),
        _selectors(raw),
        raw.get("count", 0),
        raw.get("allocationMode", ""),
        tuple(map(_toleration, raw.get("tolerations") or ())),
        (raw.get("capacity") or {}).get("requests") or {},
        raw.get("adminAccess"),
    )


def _selectors(raw: Json) -> tuple[str, ...]:
    return tuple((each.get("cel") or {}).get("expression", "") for each in raw.get("selectors") or ())


def _toleration(raw: Json) -> Toleration:
    return Toleration(
        raw.get("key", ""),
        raw.get("operator", ""),
        raw.get("value", ""),
        raw.get("effect", ""),
        raw.get("tolerationSeconds"),
    )


def _constraint(raw: Json) -> Constraint:
    return Constraint(
        tuple(raw.get("requests") or ()), raw.get("matchAttribute"), raw.get("distinctAttribute")
    )


def _config(raw: Json) -> OpaqueConfig:
    opaque = raw["opaque"]
    return OpaqueConfig(opaque["driver"], opaque.get("parameters") or {}, tuple(raw.get("requests") or ()))


def _class(raw: Json) -> DeviceClass:
    spec = raw.get("spec") or {}
    return DeviceClass(
        raw["metadata"]["name"], _selectors(spec), tuple(map(_config, spec.get("config") or ()))
    )


def _slice(raw: Json) -> ResourceSlice:
    spec = raw["spec"]
    pool = spec["pool"]
    return ResourceSlice(
        raw["metadata"]["name"],
        spec["driver"],
        Pool(pool["name"], pool.get("generation", 0), pool.get("resourceSliceCount", 0)),
        spec.get("nodeName") or None,
        _node_selector(spec.get("nodeSelector")),
        bool(spec.get("allNodes")),
        bool(spec.get("perDeviceNodeSelection")),
        tuple(map(_device, spec.get("devices") or ())),
        tuple(
            CounterSet(each["name"], _amounts(each.get("counters") or {}))
            for each in spec.get("sharedCounters") or ()
        ),
    )


def _device(raw: Json) -> Device:
    return Device(
        raw["name"],
        {name: _attribute(value) for name, value in (raw.get("attributes") or {}).items()},
        {name: _capacity(value) for name, value in (raw.get("capacity") or {}).items()},
        tuple(
            CounterConsumption(each["counterSet"], _amounts(each.get("counters") or {}))
            for each in raw.get("consumesCounters") or ()
        ),
        tuple(map(_taint, raw.get("taints") or ())),
        raw.get("nodeName") or None,
        _node_selector(raw.get("nodeSelector")),
        bool(raw.get("allNodes")),
        bool(raw.get("bindsToNode")),
        tuple(raw.get("bindingConditions") or ()),
        tuple(raw.get("bindingFailureConditions") or ()),
        bool(raw.get("allowMultipleAllocations")),
    )


def _taint(raw: Json) -> Taint:
    return Taint(raw["key"], raw["effect"], raw.get("value", ""), raw.get("timeAdded"))


def _amounts(raw: Json) -> dict[str, str]:
    return {name: amount["value"] for name, amount in raw.items()}


def _capacity(raw: Json) -> Capacity:
    policy = raw.get("requestPolicy")
    if policy is None:
        return Capacity(raw["value"])
    span = policy.get("validRange")
    return Capacity(
        raw["value"],
        RequestPolicy(
            policy.get("default"),
            tuple(policy.get("validValues") or ()),
            ValidRange(span["min"], span.get("max"), span.get("step")) if span else None,
        ),
    )


def _attribute(raw: Json) -> AttributeValue:
    """A value; one of no type that is known is an empty list."""
    for kind, value in raw.items():
        if kind in {"version", "versions"}:
            return Version(value) if isinstance(value, str) else tuple(map(Version, value))
        return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
    return ()


def _node_selector(raw: Json | None) -> NodeSelector | None:
    if raw is None:
        return None
    return NodeSelector(
        tuple(
            NodeSelectorTerm(
                tuple(map(_requirement, term.get("matchExpressions") or ())),
                tuple(map(_requirement, term.get("matchFields") or ())),
            )
            for term in raw.get("nodeSelectorTerms") or ()
        )
    )


def _requirement(raw: Json) -> Requirement:
    return Requirement(raw["key"], raw["operator"], tuple(raw.get("values") or ()))
