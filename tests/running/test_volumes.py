"""What becomes of a volume, its pages and its attempts, in memory and with a clock of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from allotment.events.event import Event
from allotment.running.attempts import mark_retry
from allotment.running.endings import PageTimeout, PermanentFailureError, Stopped, VolumeFailedError
from allotment.running.page import Page, PageRefused
from allotment.running.steps import Step
from allotment.running.steps.loading import LabelledStep
from tests.running.world import World


@pytest.fixture
def world() -> World:
    return World()


def failing(world: World, *pages: str, error: BaseException | None = None) -> Step:
    """A step that fails on some pages."""

    def step(page: Page, earlier: Mapping[str, bytes]) -> Mapping[str, bytes]:
        if page.name in pages:
            raise error or RuntimeError(f"no luck with {page.source}")
        return world.copy(page, earlier)

    return step


class Unspeakable(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise KeyboardInterrupt


def data(world: World, kind: str) -> Mapping[str, Any]:
    """What the latest event of a kind carries."""
    events: list[Event] = [event for event in world.sink.events if event.kind == kind]
    return events[-1].data


def test_a_volume_ends_with_its_manifest_and_says_so(world: World) -> None:
    assert world.run().code == 0
    assert world.done == ["0001", "0002", "0003"]
    assert world.outputs() == {
        world.keys().output(f"000{n}", output): content
        for n in (1, 2, 3)
        for output, content in (
            ("copy.txt", f"V1 PAGE {n}".encode()),
            ("copy.json", json.dumps({"page": f"000{n}"}).encode()),
        )
    }
    manifest = world.manifest()
    assert manifest["counts"] == {"pages": 3, "done": 3, "failed": 0}
    assert [entry["source"]["name"] for entry in manifest["pages"]] == ["p1.txt", "p2.txt", "p3.txt"]
    assert set(manifest["pages"][0]["outputs"]) == {"copy.txt", "copy.json"}
    assert world.attempts() == ["complete"]
    assert world.sink.kinds() == [
        "volume.started",
        "model.loaded",
        "page.done",
        "page.done",
        "page.done",
        "volume.completed",
    ]
    assert data(world, "volume.started")["pages_total"] == 3
    assert data(world, "volume.completed")["pages_done"] == 3


def test_a_complete_volume_costs_no_step_no_lease_and_no_attempt(world: World) -> None:
    world.run()
    before = dict(world.bucket.objects)
    assert world.run().code == 0
    assert world.bucket.objects == before
    assert world.loads == 1
    assert data(world, "volume.completed")["pages_total"] == 3


def test_every_page_is_wholly_written_before_the_next_one_begins(world: World) -> None:
    world.give("v1", pages=8)

    def step(page: Page, earlier: Mapping[str, bytes]) -> Mapping[str, bytes]:
        recorded = sum(1 for key in world.bucket.objects if key in records)
        assert recorded == len(world.done)
        return world.copy(page, earlier)

    records = {world.keys().record(f"{n:04d}") for n in range(1, 9)}
    assert world.run(step=step).code == 0


def test_later_steps_see_what_earlier_ones_made(world: World) -> None:
    def second(page: Page, earlier: Mapping[str, bytes]) -> Mapping[str, bytes]:
        assert set(earlier) == {"copy.txt", "copy.json"}
        return {"txt": earlier["copy.txt"][::-1]}

    assert world.run(steps=[("copy", world.copy), ("turn", second)]).code == 0
    assert world.bucket.objects[world.keys().output("0001", "turn.txt")] == b"1 EGAP 1V"


def test_a_refused_page_counts_as_failed_and_the_volume_is_complete(world: World) -> None:
    assert world.run(step=failing(world, "0002", error=PageRefused("it has too many pixels"))).code == 0
    manifest = world.manifest()
    assert manifest["counts"] == {"pages": 3, "done": 2, "failed": 1}
    assert manifest["pages"][1] == {
        "page": "0002",
        "source": {"name": "p2.txt", "size": 9},
        "failed": "refused",
    }
    refusal = json.loads(world.bucket.objects[world.keys().refusal("0002")])
    assert refusal["refused"] == "it has too many pixels"
    assert data(world, "page.failed")["message"] == "p2.txt: it has too many pixels"
    assert data(world, "page.failed")["permanent"] is True


def test_a_page_that_cannot_be_fetched_for_good_is_refused(world: World) -> None:
    world.files["v1"][1] = ("p2.txt", PageRefused("the file is damaged"))
    assert world.run().code == 0
    assert world.manifest()["counts"]["failed"] == 1
    refusal = json.loads(world.bucket.objects[world.keys().refusal("0002")])
    assert refusal["source"]["sha256"] == "digest of p2.txt"


def test_a_refused_page_is_not_tried_again_while_its_source_is_the_same(world: World) -> None:
    refused = PageRefused("no")
    world.run(step=failing(world, "0001", error=refused), interrupts=None)
    again = World(files=world.files)
    again.bucket.objects = {
        key: value
        for key, value in world.bucket.objects.items()
        if "manifest" not in key and "0003" not in key
    }
    assert again.run().code == 0
    assert again.done == ["0003"]
    assert again.manifest() == world.manifest()


def test_a_refused_page_whose_source_was_mended_is_done(world: World) -> None:
    steps = failing(world, "0001", "0002", "0003", error=PageRefused("no"))
    assert world.run(step=steps).code == 13
    world.files["v1"] = [(name, b"mended " + bytes(str(name), "ascii")) for name, _ in world.files["v1"]]
    mark_retry(world.bucket, world.keys(), by="somebody", now=world.now)
    assert world.run(step=failing(world, "0002", error=PageRefused("still no"))).code == 0
    assert world.manifest()["counts"] == {"pages": 3, "done": 2, "failed": 1}
    assert world.bucket.exists(world.keys().refusal("0002", 2))


def test_a_volume_whose_pages_all_fail_has_failed_for_good(world: World) -> None:
    outcome = world.run(step=failing(world, "0001", "0002", "0003", error=PageRefused("no")))
    assert (outcome.code, outcome.reason) == (13, "all-pages-failed")
    assert not world.bucket.exists(world.keys().manifest)
    assert world.attempts() == ["permanent"]
    assert data(world, "volume.failed")["reason"] == "all-pages-failed"
    before = dict(world.bucket.objects)
    again = world.run()
    assert (again.code, again.reason) == (13, "all-pages-failed")
    assert {key for key in world.bucket.objects if "attempts" in key} == {
        key for key in before if "attempts" in key
    }


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RuntimeError("no luck"), "page-error"),
        (SystemExit(0), "page-error"),
        (MemoryError(), "page-error"),
        (KeyboardInterrupt(), "page-error"),
        (GeneratorExit(), "page-error"),
        (Unspeakable(), "page-error"),
        (BaseException("odd"), "page-error"),
        (PageTimeout(), "page-timeout"),
    ],
)
def test_a_page_that_fails_for_now_is_tried_again_in_the_next_attempt(
    world: World, error: BaseException, reason: str
) -> None:
    outcome = world.run(step=failing(world, "0002", error=error))
    assert (outcome.code, outcome.reason) == (1, reason)
    assert world.attempts() == ["failed"]
    assert data(world, "page.failed")["permanent"] is False
    assert data(world, "volume.retrying")["failures"] == 1
    world.done.clear()
    assert world.run().code == 0
    assert world.done == ["0002"]
    assert world.manifest()["counts"] == {"pages": 3, "done": 3, "failed": 0}


def test_steps_are_made_anew_after_a_page_that_was_broken_off(world: World) -> None:
    world.run(step=failing(world, "0002", error=PageTimeout()))
    assert world.loads == 2
    world.run(step=failing(world, "0002"))
    assert world.loads == 3


def test_on_the_last_attempt_a_page_that_fails_is_failed_and_the_volume_complete(world: World) -> None:
    world.limited(retries=2)
    step = failing(world, "0002")
    assert [world.run(step=step).code for _ in range(3)] == [1, 1, 0]
    assert world.attempts() == ["failed", "failed", "complete"]
    assert world.manifest()["pages"][1]["failed"] == "page-error"
    measured = json.loads(world.bucket.objects[world.keys().manifest])["measured"]
    assert "no luck with p2.txt" in measured["failures"]["0002"]


def test_outputs_that_are_none_fail_the_page_in_words(world: World) -> None:
    made: list[Any] = [{"txt": "a text"}, {"../txt": b""}, {".txt": b""}, None, {"txt": None}]
    for value in made:
        fresh = World(files=world.files)
        outcome = fresh.run(step=lambda page, earlier, value=value: value)
        assert outcome.code == 1
        assert outcome.reason == "page-error"
        assert not fresh.outputs()


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (None, "step copy returned None; it is to return its outputs as bytes by name"),
        ("hello", "step copy returned 'hello' (str)"),
        ({5: b"x"}, "step copy returned an output named 5 (int)"),
        ({b"x": b"x"}, "step copy returned an output named b'x' (bytes)"),
    ],
)
def test_what_a_step_should_return_is_said(world: World, made: Any, words: str) -> None:
    world.run(step=lambda page, earlier: made)
    assert words in data(world, "page.failed")["message"]


def test_a_step_whose_error_is_unspeakable_is_named(world: World) -> None:
    world.run(step=failing(world, "0002", error=Unspeakable()))
    message = data(world, "page.failed")["message"]
    assert message == "p2.txt: step copy: Unspeakable: it cannot say what is wrong"


def test_a_step_that_cannot_be_loaded_now_counts_as_a_failure(world: World) -> None:
    def load() -> tuple[LabelledStep, ...]:
        raise VolumeFailedError("step-load", "no memory on the card")

    world.limited(retries=1)
    outcomes = [world.run(load=load) for _ in range(3)]
    assert [outcome.code for outcome in outcomes] == [1, 13, 13]
    assert world.attempts() == ["failed", "permanent"]
    assert "last attempt" in outcomes[1].message
    assert not world.done


def test_a_step_that_can_never_be_loaded_has_failed_for_good(world: World) -> None:
    def load() -> tuple[LabelledStep, ...]:
        raise PermanentFailureError("step-settings", "step copy: there is no setting x")

    assert world.run(load=load).code == 13
    assert world.attempts() == ["permanent"]
    mark_retry(world.bucket, world.keys(), by="somebody", now=world.now)
    assert world.run().code == 0
    assert world.attempts() == ["permanent", "retry", "complete"]


def test_a_source_that_is_missing_has_failed_for_good(world: World) -> None:
    outcome = world.run("v2")
    assert (outcome.code, outcome.reason) == (13, "source-missing")
    assert world.sink.kinds() == ["volume.started", "volume.failed"]
    assert "pages_total" not in data(world, "volume.started")


CHANGES: dict[str, list[tuple[str, bytes | Exception]]] = {
    "renamed": [("p1.txt", b"v1 page 1"), ("px.txt", b"v1 page 2"), ("p3.txt", b"v1 page 3")],
    "another size": [("p1.txt", b"v1 page one"), ("p2.txt", b"v1 page 2"), ("p3.txt", b"v1 page 3")],
    "one less in front": [("p2.txt", b"v1 page 2"), ("p3.txt", b"v1 page 3")],
    "one more in front": [("p0.txt", b"v1 page 0"), ("p1.txt", b"v1 page 1"), ("p2.txt", b"v1 page 2")],
    "cut off": [("p1.txt", b"v1 page 1")],
}


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_a_source_that_changed_under_recorded_pages_is_refused(world: World, change: str) -> None:
    world.run(step=failing(world, "0003"))
    before = world.outputs()
    world.files["v1"] = CHANGES[change]
    outcome = world.run()
    assert (outcome.code, outcome.reason) == (13, "source-changed")
    assert "put the files back" in outcome.message
    assert world.outputs() == before


def test_pages_added_at_the_end_are_further_pages(world: World) -> None:
    world.run(step=failing(world, "0003"))
    world.give("v1", pages=5)
    assert world.run().code == 0
    assert world.manifest()["counts"]["pages"] == 5
    assert world.done == ["0001", "0002", "0003", "0004", "0005"]


def test_being_told_to_end_is_no_failure(world: World) -> None:
    outcome = world.run(step=failing(world, "0002", error=Stopped()))
    assert outcome.code == 143
    assert world.attempts() == ["reclaimed"]
    assert data(world, "volume.reclaimed")["attempt"] == 1
    assert world.run().code == 0
    assert data(world, "volume.started")["pages_done"] == 1


def test_reclaims_without_a_new_page_come_to_an_end(world: World) -> None:
    world.limited(reclaims=3)
    stopped = failing(world, "0001", "0002", "0003", error=Stopped())
    assert [world.run(step=stopped).code for _ in range(4)] == [143, 143, 143, 13]
    assert data(world, "volume.failed")["reason"] == "reclaims-used-up"
    assert world.run().code == 13
    mark_retry(world.bucket, world.keys(), by="somebody", now=world.now)
    assert world.run().code == 0


def test_reclaims_with_new_pages_never_do(world: World) -> None:
    world.limited(reclaims=1)
    world.give("v1", pages=6)
    codes = []
    for number in range(1, 7):
        rest = [f"{n:04d}" for n in range(number + 1, 7)]
        codes.append(world.run(step=failing(world, *rest, error=Stopped())).code)
    assert codes == [143] * 5 + [0]


def test_reclaims_burn_no_retry(world: World) -> None:
    world.limited(retries=1, reclaims=10)
    stopped, failed = (failing(world, "0001", error=error) for error in (Stopped(), RuntimeError("no")))
    codes = [world.run(step=step).code for step in (stopped, stopped, failed, stopped, failed)]
    assert codes == [143, 143, 1, 143, 0]


def test_leftovers_of_a_killed_attempt_are_kept_and_the_page_done_again(world: World) -> None:
    key = world.keys().output("0002", "copy.txt")
    world.bucket.create(key, b"V1 PAGE 2")
    assert world.run().code == 0
    assert world.done == ["0001", "0002", "0003"]
    assert "warning" not in world.sink.kinds()


def test_where_a_step_is_not_repeatable_the_bucket_holds_and_a_warning_says_so(world: World) -> None:
    key = world.keys().output("0002", "copy.txt")
    world.bucket.create(key, b"as it was")
    seen: list[bytes] = []

    def second(page: Page, earlier: Mapping[str, bytes]) -> Mapping[str, bytes]:
        seen.append(earlier["copy.txt"])
        return {}

    assert world.run(steps=[("copy", world.copy), ("look", second)]).code == 0
    assert world.bucket.objects[key] == b"as it was"
    assert seen[1] == b"as it was"
    assert world.manifest()["pages"][1]["outputs"]["copy.txt"]["size"] == len(b"as it was")
    assert "differs" in data(world, "warning")["message"]


def test_an_output_that_went_missing_is_made_again(world: World) -> None:
    world.run(step=failing(world, "0003"))
    key = world.keys().output("0001", "copy.txt")
    lost = world.bucket.objects.pop(key)
    world.bucket.objects.pop(world.keys().record("0002"))
    assert world.run().code == 0
    assert world.bucket.objects[key] == lost
    assert world.manifest()["counts"]["done"] == 3


def test_a_record_that_goes_missing_meanwhile_is_written_again(world: World) -> None:
    def step(page: Page, earlier: Mapping[str, bytes]) -> Mapping[str, bytes]:
        if page.name == "0003":
            world.bucket.objects.pop(world.keys().record("0001"))
        return world.copy(page, earlier)

    assert world.run(step=step).code == 0
    assert world.bucket.exists(world.keys().record("0001"))
    assert world.done == ["0001", "0002", "0003"]


def test_an_output_that_is_made_again_otherwise_is_refused(world: World) -> None:
    world.run(step=failing(world, "0003"))
    world.bucket.objects.pop(world.keys().output("0001", "copy.txt"))
    outcome = world.run(step=lambda page, earlier: {**world.copy(page, earlier), "txt": b"other"})
    assert (outcome.code, outcome.reason) == (13, "remade-differs")


def test_an_output_of_another_size_than_written_is_refused(world: World) -> None:
    world.run(step=failing(world, "0003"))
    world.bucket.objects[world.keys().output("0001", "copy.txt")] = b"cut"
    outcome = world.run()
    assert (outcome.code, outcome.reason) == (13, "output-damaged")
    assert not world.bucket.exists(world.keys().manifest)


@pytest.mark.parametrize("garbage", [b"", b"{}", b"[]", b"\xff", b'{"format_version":2}'])
def test_a_damaged_record_is_refused_with_its_key(world: World, garbage: bytes) -> None:
    world.bucket.create(world.keys().record("0001"), garbage)
    outcome = world.run()
    assert (outcome.code, outcome.reason) == (13, "bucket-damaged")
    assert world.keys().record("0001") in outcome.message


@pytest.mark.parametrize(("text", "code"), [(None, 0), ("other", 13)])
def test_a_manifest_that_somebody_else_wrote_meanwhile(world: World, text: str | None, code: int) -> None:
    other = World(files=world.files)
    other.run()
    manifest = json.loads(other.bucket.objects[world.keys().manifest])
    manifest["measured"] = {"by": "somebody else"}
    manifest["volume"] = text or manifest["volume"]

    def step(page: Page, earlier: Mapping[str, bytes]) -> Mapping[str, bytes]:
        if page.name == "0003":
            world.bucket.create(world.keys().manifest, json.dumps(manifest).encode())
        return world.copy(page, earlier)

    assert world.run(step=step).code == code


def test_pages_during_which_a_worker_ended_come_last_and_not_on_the_last_attempt(world: World) -> None:
    start = {"format_version": 1, "kind": "start", "done": 0, "failures": 0, "fruitless": 0, "stuck": []}
    end = {"format_version": 1, "outcome": "failed", "reason": "crashed", "message": "", "stuck": "0001"}
    world.bucket.create(world.keys().attempt(1), json.dumps(start).encode())
    world.bucket.create(world.keys().attempt_end(1), json.dumps(end).encode())
    world.limited(retries=2)
    assert world.run(step=failing(world, "0001")).code == 1
    assert world.done == ["0002", "0003"]
    assert world.run().code == 0
    assert world.done == ["0002", "0003"]
    assert world.manifest()["pages"][0]["failed"] == "page-stuck"


def test_a_name_that_cannot_be_a_key_is_refused(world: World) -> None:
    world.give("../v1", pages=1)
    outcome = world.run("../v1")
    assert (outcome.code, outcome.reason) == (13, "bad-name")
    assert not world.bucket.objects


def test_a_record_and_a_manifest_hold_what_was_measured_apart(world: World) -> None:
    world.run()
    manifest = json.loads(world.bucket.objects[world.keys().manifest])
    record = json.loads(world.bucket.objects[world.keys().record("0001")])
    assert set(record["measured"]) == {"attempt", "seconds", "wait_seconds"}
    assert manifest["measured"]["pages"]["0001"] == record["measured"]
    assert manifest["measured"]["peak_memory_bytes"] > 0
    elsewhere = World(files=world.files, now=5.0)
    elsewhere.assignment = replace(world.assignment, campaign="other")
    elsewhere.run()
    assert elsewhere.manifest() == world.manifest()
