"""Whatever stands in a file, reading ends in a world and findings, each with a place and words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.devices.inventory import inventory
from allotment.devices.reading import read_world
from allotment.documents.stream import scan_stream, scan_stream_bytes

SAMPLES = sorted((Path(__file__).parent / "samples").iterdir())
VALUES = [
    document.value
    for path in SAMPLES
    if path.name != "broken.yaml"
    for document in scan_stream(path, name="f")[0]
]
odd: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 1.5, 2**64, "", "x", "\x1b[2J", [], {}, [None], {"": None}, [[]], {"value": []}, "v1"]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of everything in a value."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(each for key, item in below for each in places(item, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[path[0]] = replaced(value[path[0]], path[1:], new)
    return copied


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_an_object_with_anything_anywhere(data: st.DataObject) -> None:
    value = data.draw(st.sampled_from(VALUES))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(value)))
        value = replaced(value, path, data.draw(odd))
    documents, findings = scan_stream_bytes(json.dumps(value).encode(), name="f")
    reading = read_world(documents, findings)
    for finding in reading.findings:
        assert finding.position.file == "f"
        assert finding.message
        assert finding.rule
    inventory(reading.world, {})


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    documents, findings = scan_stream_bytes(data, name="f")
    reading = read_world(documents, findings)
    assert reading.findings
