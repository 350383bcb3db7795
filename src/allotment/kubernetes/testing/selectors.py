"""Label and field selectors of lists and watches, and what is said of those that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from allotment.kubernetes.testing.answers import RequestError, bad_request

Test = Callable[[Mapping[str, Any]], bool]
_WORD: Final = re.compile(r"\s*(==|!=|=|>|<|!|\(|\)|,|[^\s=!<>(),]+)")
_OPERATORS: Final = frozenset({"=", "==", "!=", "in", "notin", ">", "<"})


_FIELDS: Final = ("metadata.name", "metadata.namespace")
_FIELDS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "Pod": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    "Job": ("status.successful",),
    "Node": ("spec.unschedulable",),
    "Secret": ("type",),
    "Namespace": ("status.phase", "name"),
    "Event": ("involvedObject.kind", "involvedObject.name", "involvedObject.uid", "reason", "type"),
    "ResourceSlice": ("spec.nodeName", "spec.driver"),
}


def by_labels(text: str) -> Test:
    """The test of a label selector."""
    tests = [_requirement(part) for part in _parts(text)]

    def is_selected(value: Mapping[str, Any]) -> bool:
        labels = (value.get("metadata") or {}).get("labels") or {}
        return all(test(labels) for test in tests)

    return is_selected


def by_fields(text: str, kind: str) -> Test:
    """The test of a field selector of a kind."""
    tests = [_field(part, kind) for part in text.split(",") if part]
    return lambda value: all(test(value) for test in tests)


def _parts(text: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    depth = 0
    for word in _WORD.findall(text):
        depth += (word == "(") - (word == ")")
        if word == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(word)
    return [part for part in parts if part]


def _requirement(words: list[str]) -> Test:
    match words:
        case ["!", key]:
            return lambda labels: key not in labels
        case [key]:
            return lambda labels: key in labels
        case [key, operator, *rest] if operator in _OPERATORS:
            _check_values(operator, rest)
            return _operation(key, operator, [word for word in rest if word not in "(),"])
    raise _unreadable(words[1])


def _check_values(operator: str, rest: list[str]) -> None:
    """Refuse what follows the values."""
    if operator in {"in", "notin"}:
        if rest[-1:] != [")"]:
            raise bad_request("unable to parse requirement: found '', expected: ',' or ')'")
    elif len(rest) > 1:
        raise bad_request(f"found '{rest[1]}', expected: ',' or 'end of string'")


def _operation(key: str, operator: str, values: list[str]) -> Test:
    wanted = values or [""]
    if operator in {"=", "==", "in"}:
        return lambda labels: labels.get(key) in wanted
    if operator in {"!=", "notin"}:
        return lambda labels: labels.get(key) not in wanted
    try:
        bound = int(wanted[0])
    except ValueError:
        raise _unreadable(wanted[0]) from None
    sign = 1 if operator == ">" else -1
    return lambda labels: labels.get(key, "").lstrip("-").isdigit() and (int(labels[key]) - bound) * sign > 0


def _unreadable(found: str) -> RequestError:
    return bad_request(
        f"unable to parse requirement: found '{found}', expected: in, notin, =, ==, !=, gt, lt"
    )


def _unknown_field(name: str, kind: str) -> str:
    if kind in {"Pod", "Node", "Event", "Namespace"}:
        return f"field label not supported: {name}"
    if kind == "Job":
        return f'field label "{name}" not supported for Job'
    return f'"{name}" is not a known field selector: only "metadata.name", "metadata.namespace"'


def _field(part: str, kind: str) -> Test:
    found = re.fullmatch(r"([^=!]+)(==|!=|=)(.*)", part)
    if found is None:
        raise bad_request(f"invalid selector: '{part}'; can't understand '{part}'")
    if found[1] not in (*_FIELDS, *_FIELDS_OF.get(kind, ())):
        raise bad_request(_unknown_field(found[1], kind))
    path, operator, wanted = found[1].split("."), found[2], found[3]

    def is_selected(value: Mapping[str, Any]) -> bool:
        inner: Any = value
        for step in path:
            inner = inner.get(step) if isinstance(inner, Mapping) else None
        return (("" if inner is None else str(inner)) == wanted) is (operator != "!=")

    return is_selected
