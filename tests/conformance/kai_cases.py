"""KAI's own tables of its actions: what they expect, and what its code was seen to do on the way.

A case on topics that are not modelled (NUMA, affinity between pods, volumes) is left out. ``expected`` is
what the tables say; ``seen`` compares everything that was recorded: shares of queues, states after each
action or round, and the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from allotment.scheduling.kai.session import Session
from tests.conformance.kai_looks import Look, final_of, queues_of, same_groups, states_of
from tests.conformance.kai_scene import passes, rounds
from tests.conformance.outcomes import ALL, Fault, Outcome, Share, attempt, read_json

Raw = Mapping[str, Any]
LEFT_OUT = ("pod_affinity_labels", "pod_affinity_topology_key", "pod_anti_affinity_topology_key", "pvc_names")
SEVERAL_ROUNDS = "multi_round"


def run_cases(path: Path, share: Share = ALL) -> Iterator[Outcome]:
    """What the tables expect."""
    for case in share(each for each in read_json(path)["cases"] if modelled(each)):
        found = attempt(lambda case=case: list(_mismatches(case)))  # type: ignore[misc]
        yield Outcome(case["id"], _directory(case), [], found)


def run_seen(path: Path, share: Share = ALL) -> Iterator[Outcome]:
    """What KAI was seen to do."""
    cases = {each["id"]: each for each in read_json(path)["cases"] if modelled(each)}
    seen = read_json(path.with_name("kai_observed.json"))["observations"]
    for record in share(record for record in seen if record["id"] in cases):
        case = cases[record["id"]]
        looked = attempt(lambda case=case: look_at(case))  # type: ignore[misc]
        for name, expected, found in compared(record, looked):
            yield Outcome(case["id"], name, expected, found)


def modelled(case: Raw) -> bool:
    """Whether a case is about nothing that is left out."""
    if any("numa_topology" in node for node in case["nodes"].values()):
        return False
    return not any(key in task for job in case["jobs"] for task in job["tasks"] for key in LEFT_OUT)


def _directory(case: Raw) -> str:
    return str(case["file"]).removeprefix("pkg/scheduler/actions/").rpartition("/")[0]


def look_at(case: Raw) -> Look:
    """Run a case, and note what can be compared."""
    if case["mode"] == SEVERAL_ROUNDS:
        return _look_at_rounds(case)
    steps: list[dict[str, Any]] = []
    look = Look()
    for action, session in passes(case):
        steps.append({"action": str(action), "tasks": states_of(session)})
        look.final = final_of(session)
    look.steps = steps
    look.queues = queues_of(case)
    return look


def _look_at_rounds(case: Raw) -> Look:
    look = Look(queues=queues_of(case))
    until = case["rounds_until_match"]
    for number, (opened, session) in enumerate(rounds(case)):
        if number == until:
            look.final = final_of(opened)
            break
        look.steps.append(states_of(session))
    return look


def compared(record: Raw, look: Look | Fault) -> Iterator[tuple[str, object, object]]:
    """Each part of a record, as it was seen and as it is found."""
    if isinstance(look, Fault):
        yield "fault", None, look
        return
    if "initial_queues" in record:
        yield "queues", _numbers(record["initial_queues"]), _numbers(look.queues)
    steps = record.get("after_action", record.get("rounds"))
    if steps is not None:
        yield "states", _first_difference(steps, look.steps), "same"
    final = record.get("final", record.get("observed", {}))
    tasks = {name: (each["status"], each["node"]) for name, each in final["tasks"].items()}
    yield "end", tasks, {name: each[:2] for name, each in look.final.tasks.items()}
    theirs = {
        name: (each["node"], tuple(each.get("gpu_groups") or ())) for name, each in final["tasks"].items()
    }
    ours = {name: (each[1], each[2]) for name, each in look.final.tasks.items()}
    yield "shared GPUs", True, same_groups(theirs, ours)
    gangs = {name: (each["gang_satisfied"], each["stale"]) for name, each in final["jobs"].items()}
    yield "gangs", gangs, {name: each[:2] for name, each in look.final.jobs.items()}
    if "after_action" in record:
        yield "reasons", *reasons(record, look)
    nodes = {name: (each["idle_gpus"], each["releasing_gpus"]) for name, each in final["nodes"].items()}
    yield "nodes", _numbers(nodes), _numbers(look.final.nodes)


def reasons(record: Raw, look: Look) -> tuple[object, object]:
    """Why jobs wait."""
    final = record.get("final", record.get("observed", {}))
    theirs = {name: sorted(set(each["fit_error_reasons"] or ())) for name, each in final["jobs"].items()}
    return theirs, {name: list(each[2]) for name, each in look.final.jobs.items()}


def _first_difference(theirs: Any, ours: Any) -> object:
    for number, (seen, found) in enumerate(zip(theirs, ours, strict=False)):
        mine, other = found, seen
        if "tasks" in seen:
            mine, other = found["tasks"], seen["tasks"]
        wrong = {name: (state, mine.get(name)) for name, state in other.items() if mine.get(name) != state}
        if wrong:
            return number, wrong
    return "same"


def _numbers(value: Any) -> Any:
    """Numbers to the hundredth of a millionth; KAI adds up in a random order."""
    if isinstance(value, Mapping):
        return {key: _numbers(each) for key, each in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return tuple(_numbers(each) for each in value)
    return round(float(value), 6) + 0.0 if isinstance(value, (int, float)) else value


def _mismatches(case: Raw) -> Iterator[str]:
    """Where a case ends otherwise than its table says."""
    if case["mode"] != SEVERAL_ROUNDS:
        *_, (_, session) = passes(case)
        yield from _against_table(case, final_of(session))
        yield from _against_words(case, session)
        return
    until = case["rounds_until_match"]
    for number, (opened, session) in enumerate(rounds(case)):
        if number == until:
            yield from _against_table(case, final_of(opened))
        if number >= until:
            yield from _against_table(case, final_of(session))
            yield from _against_words(case, session)
        if number >= until + case["rounds_after_match"] - 1:
            return


def _against_words(case: Raw, session: Session) -> Iterator[str]:
    """Where a job is told something else than its table says."""
    for name, want in case["expected"]["jobs"].items():
        if "error_message" not in want:
            continue
        faults = session.groups[name].faults
        head = faults[0][0] if len(faults) == 1 else "Unable to schedule podgroup"
        lines = sorted({f"\n{message}." for _, message in faults})
        told = "".join((f"\n{head}.", *lines))
        if told != want["error_message"]:
            yield f"{name}: {want['error_message']!r} expected, {told!r} found"


def _against_table(case: Raw, final: Any) -> Iterator[str]:
    expected = case["expected"]
    tasks = {
        task["id"]: want
        for job in case["jobs"]
        for task in job["tasks"]
        for want in (expected["jobs"].get(job["name"]), expected["tasks"].get(task["id"]))
        if want
    }
    for name, want in tasks.items():
        status, node, _ = final.tasks[name]
        if status != want["status"] or (want.get("node") and node != want["node"]):
            yield f"{name}: {want['status']}@{want.get('node', '')} expected, {status}@{node} found"
    for name, want in expected["nodes"].items():
        idle, releasing = final.nodes[name]
        pairs = (("idle_gpus", idle), ("releasing_gpus", releasing))
        for key, value in pairs:
            if key in want and want[key] != value:
                yield f"{name}: {key} {want[key]} expected, {value} found"
