"""Sets of fields, as managed fields hold them: who owns which part of an object.

A path is a tuple of steps, each written as ``fieldsV1`` writes it: ``f:spec``, ``k:{"name":"main"}``,
``v:"example.com/a"``. A set is a frozenset of paths; that a path is in it does not put those above it in. The
form is that of ``metadata.managedFields`` (Kubernetes, "Server-Side Apply") and of structured-merge-diff.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

Path = tuple[str, ...]
FieldSet = frozenset[Path]

NOTHING: Final[FieldSet] = frozenset()
_ITSELF: Final = "."
_ORDER: Final = {"f": 0, "k": 1, "v": 2, "i": 3}


def field(name: str) -> str:
    """The step to a named field."""
    return f"f:{name}"


def item_of_set(value: Any) -> str:
    """The step to an item of a list that is a set."""
    return f"v:{_compact(value)}"


def item_of_map(keys: Mapping[str, Any]) -> str:
    """The step to an item of a list that is a mapping by some of the item's own fields."""
    return f"k:{_compact(dict(sorted(keys.items())))}"


def is_field(step: str) -> bool:
    """Whether a step goes to a named field."""
    return step.startswith("f:")


def read_fields(value: Mapping[str, Any]) -> FieldSet:
    """The set that an entry's ``fieldsV1`` stands for."""
    return frozenset(_read(value, ()))


def write_fields(fields: FieldSet) -> dict[str, Any]:
    """A set as ``fieldsV1``: nested, with ``.`` where what has members is one itself."""
    root: dict[str, Any] = {}
    for path in sorted(fields):
        node = root
        for step in path:
            node = node.setdefault(step, {})
        node[_ITSELF] = {}
    return _without_lone_marks(root)


def written(path: Path) -> str:
    """A path as messages have it: ``.spec.containers[name="main"].image``."""
    return "".join(_step_written(step) for step in path)


def in_order(fields: Iterable[Path]) -> list[Path]:
    """Paths as messages list them: at every level the members first, then what is below."""
    return list(_walk(_tree(fields), ()))


def below(fields: FieldSet, start: str) -> FieldSet:
    """The part of a set that begins with a step."""
    return frozenset(path for path in fields if path and path[0] == start)


def _read(value: Mapping[str, Any], path: Path) -> Iterator[Path]:
    if not value and path:
        yield path
    for step, inner in value.items():
        if step == _ITSELF:
            yield path
        else:
            yield from _read(inner, (*path, step))


def _without_lone_marks(node: dict[str, Any]) -> dict[str, Any]:
    if set(node) == {_ITSELF}:
        return {}
    return {
        step: _without_lone_marks(inner) if step != _ITSELF else {} for step, inner in sorted(node.items())
    }


def _tree(fields: Iterable[Path]) -> dict[str, Any]:
    root: dict[str, Any] = {}
    for path in fields:
        node = root
        for step in path:
            node = node.setdefault(step, {})
        node[_ITSELF] = {}
    return root


def _walk(node: Mapping[str, Any], path: Path) -> Iterator[Path]:
    steps = sorted((step for step in node if step != _ITSELF), key=lambda step: (_ORDER[step[0]], step))
    yield from ((*path, step) for step in steps if _ITSELF in node[step])
    for step in steps:
        yield from _walk(node[step], (*path, step))


def _step_written(step: str) -> str:
    sort, _, rest = step.partition(":")
    if sort == "f":
        return f".{rest}"
    if sort == "k":
        return "[" + ",".join(f"{key}={_compact(value)}" for key, value in json.loads(rest).items()) + "]"
    return f"[={rest}]" if sort == "v" else f"[{rest}]"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
