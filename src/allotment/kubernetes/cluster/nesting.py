"""How deep queues stand below each other: deeper than anybody builds them, they are refused by name.

Kueue's cohorts and KAI's queues may be nested without an end, as far as their APIs go. Here each level is a
step of every sum, so that a chain of thousands (a file that a program wrote, a cluster that runs away) would
take for ever and say nothing. Circles have no depth, and are left to who reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from allotment.kubernetes import kinds
from allotment.kubernetes.cluster.snapshot import Key, key_of
from allotment.kubernetes.kinds import Kind, Object

MOST_LEVELS: Final = 100
HINT: Final = "nest them less deep: an organisation has a handful of levels"
_ABOVE: Final[Mapping[str, tuple[Kind, str]]] = {
    "Cohort": (kinds.COHORT, "parentName"),
    "Queue": (kinds.KAI_QUEUE, "parentQueue"),
}
"""By kind: which it is, and which key of its spec names what it stands below."""


def too_deep(objects: Iterable[Object]) -> Iterator[tuple[Key, str, str]]:
    """Of each chain that is too long the first that stands too deep: its key, that of its spec, and words."""
    found: dict[str, dict[str, Object]] = {}
    for each in objects:
        if each["kind"] in _ABOVE and each["apiVersion"] == _ABOVE[each["kind"]][0].api_version:
            found.setdefault(each["kind"], {})[each["metadata"]["name"]] = each
    for kind, by_name in sorted(found.items()):
        key = _ABOVE[kind][1]
        parents = {name: (each.get("spec") or {}).get(key) for name, each in by_name.items()}
        for name, level in sorted(_levels(parents).items()):
            if level == MOST_LEVELS + 1:
                words = f"{kind} `{name}` stands below {MOST_LEVELS:,} others, and no more levels are counted"
                yield key_of(by_name[name]), key, words


def _levels(parents: Mapping[str, object]) -> dict[str, int]:
    """On which level each stands, from 1; 0 what stands in a circle or below one."""
    levels: dict[str, int] = {}
    for name in parents:
        path: dict[str, None] = {}
        step: object = name
        while isinstance(step, str) and step in parents and step not in levels and step not in path:
            path[step] = None
            step = parents[step]
        if step in path or (isinstance(step, str) and levels.get(step) == 0):
            levels.update(dict.fromkeys(path, 0))
            continue
        above = levels.get(step, 0) if isinstance(step, str) else 0
        for number, each in enumerate(reversed(path), 1):
            levels[each] = above + number
    return levels
