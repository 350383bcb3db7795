"""Lists in pages: what is told stood so at one moment, whatever is written or forgotten between the pages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from allotment.kubernetes import kinds
from allotment.kubernetes.client import ApiError, Client, ExpiredError, listing
from allotment.kubernetes.testing import FakeApiServer, faults
from allotment.kubernetes.testing.transport import FakeTransport

MAPS = "/api/v1/namespaces/team-a/configmaps"
STEPS = ("create", "delete", "compact", "cut", "busy", "broken", "nothing")
FAULTS = {"cut": faults.CUT_AFTER, "busy": faults.TOO_MANY, "broken": faults.BROKEN}


@pytest.fixture(autouse=True, scope="module")
def _pages_of_three() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listing, "PAGE", 3)
        yield


class Busy:
    """A cluster in which something happens before each request."""

    def __init__(self, count: int, steps: list[str]) -> None:
        self.server = FakeApiServer()
        self.server.add_namespace("team-a")
        self.stood: dict[str, list[str]] = {}
        self.count = 0
        for _ in range(count):
            self.create()
        self.steps = list(steps)
        self.server.plan = self.plan

    def create(self) -> None:
        self.count += 1
        name = f"m{self.count * 37 % 101:03}"
        self.server.play("POST", MAPS, body={"metadata": {"name": name}})
        self.note()

    def note(self) -> None:
        self.stood[str(self.server.store.revision)] = self.names()

    def names(self) -> list[str]:
        return [key.name for key, _ in self.server.store.listed(("", "configmaps"), "")]

    def plan(self, _: int, __: Any) -> faults.Fault | None:
        step = self.steps.pop(0) if self.steps else "nothing"
        if step == "create":
            self.create()
        if step == "delete" and self.names():
            self.server.play("DELETE", f"{MAPS}/{self.names()[-1]}")
            self.note()
        if step == "compact":
            self.create()
            self.server.compact()
        return FAULTS.get(step)

    def client(self) -> Client:
        return Client(FakeTransport(self.server), jitter=lambda: 0.0)


@given(count=st.integers(0, 14), steps=st.lists(st.sampled_from(STEPS), max_size=12))
def test_a_list_is_as_it_stood_at_its_version(count: int, steps: list[str]) -> None:
    busy = Busy(count, steps)
    busy.note()
    try:
        found = busy.client().listed_at(kinds.CONFIG_MAP, "team-a")
    except ExpiredError:
        assume(steps.count("compact") < listing.TIMES)
        raise
    except ApiError:
        assume(sum(step in FAULTS for step in steps) < 4)
        raise
    assert [value["metadata"]["name"] for value in found.objects] == busy.stood[found.version]
    assert all(value["kind"] == "ConfigMap" for value in found.objects)


def test_a_page_that_comes_too_late_has_the_list_begun_anew() -> None:
    busy = Busy(7, ["nothing", "compact"])
    assert len(busy.client().listed(kinds.CONFIG_MAP, "team-a")) == 8
    asked = [request.query.get("continue", "") == "" for request in busy.server.requests[-5:]]
    assert asked == [True, False, True, False, False]


def test_a_list_that_never_comes_to_an_end_is_given_up() -> None:
    busy = Busy(7, ["nothing", "compact"] * 9)
    with pytest.raises(ExpiredError, match="changed faster than it could be read") as caught:
        busy.client().listed(kinds.CONFIG_MAP, "team-a")
    assert (caught.value.status, caught.value.exit_code) == (410, 3)
    assert len(busy.server.requests) == 2 + 2 * listing.TIMES
