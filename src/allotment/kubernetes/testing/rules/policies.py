"""What an API server holds the failure and success policies of a Job to.

From ``pkg/apis/batch/validation`` of Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.kubernetes.testing.answers import Cause, doubled, required, unsupported, wrong
from allotment.kubernetes.testing.names import of_key, quoted

Raw = Mapping[str, Any]
_ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
_MOST_RULES: Final = 20
_MOST_VALUES: Final = 255


def of_failure_policy(policy: Raw, spec: Raw, place: str) -> Iterator[Cause]:
    """A pod failure policy."""
    rules = policy.get("rules") or ()
    if len(rules) > _MOST_RULES:
        yield Cause(
            f"{place}.rules", "FieldValueTooMany", f"Too many: {len(rules)}: must have at most 20 items"
        )
    pod = spec["template"]["spec"]
    containers = (*(pod.get("containers") or ()), *(pod.get("initContainers") or ()))
    names = {container.get("name") for container in containers}
    for number, rule in enumerate(rules):
        yield from _rule(rule, f"{place}.rules[{number}]", names, per_index="backoffLimitPerIndex" in spec)


def _rule(rule: Raw, place: str, names: set[Any], *, per_index: bool) -> Iterator[Cause]:
    action = rule.get("action", "")
    if not action:
        yield required(f"{place}.action", f"valid values: {', '.join(quoted(each) for each in _ACTIONS)}")
    elif action == "FailIndex" and not per_index:
        yield wrong(f"{place}.action", quoted(action), "requires the backoffLimitPerIndex to be set")
    elif action not in _ACTIONS:
        yield unsupported(f"{place}.action", quoted(action), _ACTIONS)
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or ()
    if codes is not None:
        yield from _exit_codes(codes, f"{place}.onExitCodes", names)
    for number, condition in enumerate(conditions):
        yield from _condition(condition, f"{place}.onPodConditions[{number}]")
    if codes is not None and conditions:
        yield Cause(
            place,
            "FieldValueInvalid",
            "Invalid value: specifying both OnExitCodes and OnPodConditions is not supported",
        )
    elif codes is None and not conditions:
        text = "Invalid value: specifying one of OnExitCodes and OnPodConditions is required"
        yield Cause(place, "FieldValueInvalid", text)


def _exit_codes(codes: Raw, place: str, names: set[Any]) -> Iterator[Cause]:
    operator, values = codes.get("operator", ""), codes.get("values") or []
    if operator not in {"In", "NotIn"}:
        yield unsupported(f"{place}.operator", quoted(operator), ("In", "NotIn"))
    if codes.get("containerName") is not None and codes["containerName"] not in names:
        why = "must be one of the container or initContainer names in the pod template"
        yield wrong(f"{place}.containerName", quoted(codes["containerName"]), why)
    if not values:
        yield wrong(f"{place}.values", "[]", "at least one value is required")
    elif len(values) > _MOST_VALUES:
        text = f"Too many: {len(values)}: must have at most {_MOST_VALUES} items"
        yield Cause(f"{place}.values", "FieldValueTooMany", text)
    seen = set()
    for number, value in enumerate(values):
        if operator == "In" and value == 0:
            yield wrong(f"{place}.values[{number}]", "0", "must not be 0 for the In operator")
        if value in seen:
            yield doubled(f"{place}.values[{number}]", str(value))
        seen.add(value)
    if sorted(values) != values:
        yield wrong(f"{place}.values", quoted(values), "must be ordered")


def _condition(condition: Raw, place: str) -> Iterator[Cause]:
    yield from (
        wrong(f"{place}.type", quoted(condition.get("type", "")), each) for each in of_key(condition["type"])
    )
    if condition.get("status") not in {"True", "False", "Unknown"}:
        yield unsupported(
            f"{place}.status", quoted(condition.get("status", "")), ("False", "True", "Unknown")
        )


def of_success_policy(policy: Raw, spec: Raw, place: str) -> Iterator[Cause]:
    """A success policy of an Indexed Job."""
    rules = policy.get("rules") or ()
    if not rules:
        yield required(
            f"{place}.rules", "at least one rules must be specified when the successPolicy is specified"
        )
    total = spec.get("completions") or 0
    for number, rule in enumerate(rules):
        yield from _success_rule(rule, f"{place}.rules[{number}]", total)


def _success_rule(rule: Raw, place: str, total: int) -> Iterator[Cause]:
    indexes, count = rule.get("succeededIndexes"), rule.get("succeededCount")
    if indexes is None and count is None:
        yield required(place, "at least one of succeededCount or succeededIndexes must be specified")
    named = 0
    if indexes is not None:
        problem, named = count_indexes(indexes, total)
        if problem:
            text = f"error parsing succeededIndexes: {problem}"
            yield wrong(f"{place}.succeededIndexes", quoted(indexes), text)
    if count is None:
        return
    if count < 0:
        yield wrong(f"{place}.succeededCount", str(count), "must be greater than or equal to 0")
    if count > total:
        why = f"must be less than or equal to {total} (the number of specified completions)"
        yield wrong(f"{place}.succeededCount", str(count), why)
    if indexes is not None and count > named:
        why = (
            f"must be less than or equal to {named} "
            "(the number of indexes in the specified succeededIndexes field)"
        )
        yield wrong(f"{place}.succeededCount", str(count), why)


def count_indexes(text: str, total: int) -> tuple[str, int]:
    """What is wrong with a list of indexes, and how many it names."""
    last, named = -1, 0
    for part in text.split(",") if text else ():
        first, dash, end = part.partition("-")
        for each in (first, end) if dash else (first,):
            if not each.isdigit():
                return f'cannot convert string to integer for index: "{each}"', 0
            if int(each) >= total:
                return f'too large index: "{each}"', 0
        low, high = int(first), int(end or first)
        if low <= last:
            return f"non-increasing order, previous: {last}, current: {low}", 0
        if dash and high <= low:
            return f"non-increasing order, previous: {low}, current: {high}", 0
        last, named = high, named + high - low + 1
    return "", named
