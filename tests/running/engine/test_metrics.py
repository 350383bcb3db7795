"""Metrics: read back by Prometheus' own reader, whatever the labels hold; the file whole at any moment."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from allotment.devices.slices import DeviceId
from allotment.errors import UsageError
from allotment.events.event import Event
from allotment.events.model import CampaignReader
from allotment.running.engine.engine import Engine
from allotment.running.engine.exposition import Family, exposition
from allotment.running.engine.metrics import Counters, MetricsFile, families
from allotment.running.engine.snapshot import Snapshot
from tests.devices.worlds import pool, world
from tests.running.engine.harness import Repository


def read(text: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


VALUES = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=12),
    st.floats(allow_nan=False, allow_infinity=False),
    min_size=1,
)


@given(VALUES, st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1))
def test_what_is_written_is_what_is_read(values: dict[str, float], about: str) -> None:
    family = Family("allotment_things", "gauge", f"Things: {about}.")
    for label, value in values.items():
        family.set(value, name=label, other="x")
    found = read(exposition([family]))
    assert found == {
        ("allotment_things", frozenset({("name", label), ("other", "x")})): value
        for label, value in values.items()
    }


def event(kind: str, volume: str | None = "v1", **data: Any) -> Event:
    return Event(kind, 10.0, "team", "letters", volume, None, data)


EVENTS = (
    event("campaign.started", None, volumes=3),
    event("volume.started", pages_total=4, pages_done=0),
    event("page.done", seconds=0.5, wait_seconds=0.25, pages_done=1),
    event("page.done", seconds=1.0, wait_seconds=0.0, pages_done=2),
    event("page.done", seconds="broken"),
    event("page.failed"),
    event("volume.reclaimed"),
    event("replica.ended", None, rank=0, pause=1.0),
    event("replica.ended", None, rank=0, reason="given-back"),
)


def shown() -> Snapshot:
    reader = CampaignReader("letters")
    for each in EVENTS:
        reader.add(each)
    worker: Any = SimpleNamespace(campaign="letters")
    return Snapshot(20.0, (reader.view(20.0),), (worker,), {"letters": "waits"})


def test_the_numbers_of_an_engine() -> None:
    counters = Counters()
    for each in EVENTS:
        counters.take(each)
    ids = [DeviceId("cpu", "p", name) for name in ("a", "b", "c")]
    found = read(exposition(families(counters, shown(), ids, {ids[0]: object()})))
    team = {("team", "team"), ("campaign", "letters")}

    def value(name: str, **labels: str) -> float:
        return found[name, frozenset({*team, *labels.items()})]

    assert value("allotment_pages_total", outcome="done") == 3
    assert value("allotment_pages_total", outcome="failed") == 1
    assert value("allotment_page_seconds_total") == 1.5
    assert value("allotment_page_wait_seconds_total") == 0.25
    assert value("allotment_volume_endings_total", ending="reclaimed") == 1
    assert value("allotment_volumes", state="reclaimed") == 1
    assert value("allotment_volumes", state="waiting") == 2
    assert value("allotment_pages", state="counted") == 4
    assert found["allotment_restarts_total", frozenset({("team", "team"), ("fleet", "letters")})] == 1
    assert found["allotment_devices", frozenset({("driver", "cpu"), ("state", "free")})] == 2
    assert found["allotment_devices", frozenset({("driver", "cpu"), ("state", "held")})] == 1
    assert found["allotment_workers", frozenset({("name", "letters")})] == 1
    assert found["allotment_waiting", frozenset({("name", "letters")})] == 1
    assert found["allotment_metrics_time_seconds", frozenset()] == 20


class Nobody:
    def event(self, event: Event) -> None: ...

    def turn(self, engine: Engine) -> None: ...


def engine(*, ended: bool) -> Engine:
    ledger = SimpleNamespace(state=lambda: ({}, {}))
    filler = SimpleNamespace(ledger=ledger, world=world(pool("cpu", ["a"])))
    programs = SimpleNamespace(ended=True)
    runs = [SimpleNamespace(ended=ended)]
    made = SimpleNamespace(filler=filler, programs=programs, runs=runs, workers=[], snapshot=shown)
    return cast("Engine", made)


def test_the_file_is_replaced_every_few_seconds_and_at_the_end(tmp_path: Path) -> None:
    now = [0.0]
    path = tmp_path / "allotment.prom"
    watcher = MetricsFile(path, Nobody(), lambda: now[0])
    written = []
    for moment, ended in ((0.0, False), (2.0, False), (4.9, False), (5.0, False), (6.0, True)):
        now[0] = moment
        path.unlink(missing_ok=True)
        watcher.turn(engine(ended=ended))
        written.append(path.exists())
    assert written == [True, False, False, True, True]
    assert [each.name for each in tmp_path.iterdir()] == ["allotment.prom"]


def test_a_file_that_cannot_be_written_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    watcher = MetricsFile(tmp_path / "no" / "such" / "folder", Nobody(), lambda: 99.0)
    watcher.turn(engine(ended=True))
    watcher.turn(engine(ended=True))
    assert len(caplog.records) == 1


@pytest.mark.parametrize("kind", ["", "/", "folder", "link", "fifo"])
def test_only_a_plain_file_is_ever_replaced(tmp_path: Path, kind: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "target").write_text("mine")
    (tmp_path / "link").symlink_to("target")
    os.mkfifo(tmp_path / "fifo")
    path = Path(kind) if kind in {"", "/"} else tmp_path / kind
    with pytest.raises(UsageError, match="the file of metrics is replaced as a whole"):
        MetricsFile(path, Nobody(), lambda: 0.0)
    assert (tmp_path / "link").is_symlink()


def test_a_run_leaves_its_numbers(tmp_path: Path) -> None:
    made = Repository(tmp_path, volumes=1, pages=3).write()
    made.campaign("c", range(1))
    ended = made.allot("run", "c", "--metrics", "numbers.prom")
    assert ended.returncode == 0, ended.stderr
    found = read((tmp_path / "numbers.prom").read_text())
    key = frozenset({("team", "local"), ("campaign", "c"), ("outcome", "done")})
    assert found["allotment_pages_total", key] == 3
