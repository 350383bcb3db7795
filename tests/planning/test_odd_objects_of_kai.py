"""Objects of KAI with anything put anywhere: refused as they are read, or told of, or a note says why not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.cli.forms.queues import as_text
from allotment.cli.forms.queues_data import as_data
from allotment.errors import FindingsError
from allotment.kubernetes.cluster.file_reading import snapshot_of
from allotment.planning.outlook.asked import next_of_queues
from allotment.planning.queues_of_cluster import shares_of_cluster
from tests.planning.kai_clusters import kai, work
from tests.scheduling.kai.kai_world import NOW, node, queue

ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, "", "x", "-1", "Infinity", 0, -1, 1e300, 10**30, 1.5, True, [], {}, [None], [{}], {"a": "b"}]
)
WHOLE = kai(
    [node("n1", 4)],
    [queue("dept", 4), queue("archive", 2, parent="dept", reclaim_min_runtime=5.0), queue("laboratory", 2)],
    [
        work("maps", "laboratory", 3, on=["n1"] * 3),
        work("books", "laboratory", 1, on=["n1"], least=1),
        work("letters", "archive", 2),
    ],
)
KINDS = {"Node", "Queue", "PodGroup", "Pod", "PriorityClass"}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a value."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places(each, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The value with something else at a place."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


PLACES = [
    (number, path)
    for number, each in enumerate(WHOLE.objects)
    if each["kind"] in KINDS
    for path in places(each)
    if path[0] not in {"kind", "apiVersion"} and path not in {("metadata",), ("metadata", "name")}
]


@given(where=st.sampled_from(PLACES), new=ODD)
@settings(max_examples=150, deadline=None)
def test_nothing_breaks(where: tuple[int, tuple[Any, ...]], new: Any) -> None:
    number, path = where
    objects = list(WHOLE.objects)
    objects[number] = changed(objects[number], path, new)
    text = json.dumps({"kind": "List", "items": objects})
    try:
        snapshot = snapshot_of(text.encode(), name="x", otherwise=NOW)
    except FindingsError:
        return
    told = shares_of_cluster(snapshot)
    assert list(as_text(told, 80, in_words=True))
    assert json.dumps(as_data(told))
    for said in next_of_queues(snapshot):
        assert said.queues or said.notes
