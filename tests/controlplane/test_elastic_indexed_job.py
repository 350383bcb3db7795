"""An Indexed Job with more completions than parallelism, resized while it runs: what goes, counts and costs.

Run it with ``-s`` to see what happened, as `docs/elastic-indexed-job.md` tells it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from allotment.kubernetes.client import Client
from allotment.kubernetes.kinds import CLAIM, CLUSTER_QUEUE, JOB, POD, WORKLOAD
from tests.buckets.moto_server import moto
from tests.controlplane.operating import condition, indexed, one_card
from tests.controlplane.plane import Plane
from tests.controlplane.processes import until
from tests.controlplane.team import TEAM, ending, team_on

NODES = "1 nodes of 4 x A100-80"

PAGES: Final = 10
VOLUMES: Final = 8
STEPS: Final = (2, 4, 1, 3)
"""The widths after four, one after the other."""
FINISHING: Final = "trap 'stop=1' TERM;"
"""What makes a worker finish the page in hand when it is told to end; without it, it just ends."""


@dataclass
class Book:
    """A Job whose indexes do pages, and what is known of them. A page is a file; each begin is a line."""

    client: Client
    folder: Path
    name: str
    queue: str | None
    seen: dict[str, int] = field(default_factory=dict)

    def begin(self, *, finishing: bool) -> None:
        script = (
            f"{FINISHING if finishing else ''} d={self.folder}/$JOB_COMPLETION_INDEX; mkdir -p $d; "
            f"for p in $(seq 1 {PAGES}); do [ -e $d/$p ] && continue; "
            f"echo $JOB_COMPLETION_INDEX $p >> {self.folder}/begun; sleep 0.7; touch $d/$p; "
            '[ -n "$stop" ] && exit 143; done; exit 0'
        )
        self.folder.mkdir()
        self.client.apply(one_card(TEAM), manager="tests", force=True)
        value = indexed(self.name, completions=VOLUMES, width=4, script=script, queue=self.queue)
        self.client.create(value, manager="tests")

    def width(self, pods: int) -> None:
        value = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": self.name, "namespace": TEAM}}
        self.client.apply({**value, "spec": {"parallelism": pods}}, manager="tests-window", force=True)

    @property
    def job(self) -> dict[str, Any]:
        return dict(self.client.get(JOB, self.name, TEAM) or {})

    def running(self) -> list[int]:
        """Indexes at work."""
        return sorted(self.at_work())

    def at_work(self) -> dict[int, str]:
        """The pods at work by index: their identities. Every pod that there was is remembered."""
        found = {}
        for each in self.client.listed(POD, TEAM):
            metadata = each["metadata"]
            if (metadata.get("ownerReferences") or [{}])[0].get("name") != self.name:
                continue
            index = int(metadata["annotations"]["batch.kubernetes.io/job-completion-index"])
            self.seen[metadata["uid"]] = index
            if each["status"].get("phase") == "Running" and not metadata.get("deletionTimestamp"):
                found[index] = metadata["uid"]
        return found

    @property
    def begun(self) -> list[str]:
        return (self.folder / "begun").read_text(encoding="ascii").splitlines()

    @property
    def done(self) -> int:
        return len([each for each in self.folder.glob("*/*") if each.is_file()])

    def status(self) -> str:
        told = self.job.get("status", {})
        shown = ("active", "terminating", "failed", "completedIndexes")
        return ", ".join(f"{key} {told[key]}" for key in shown if told.get(key))

    def quota(self) -> str:
        """What Kueue counts, and how many of the Job's Workloads there are."""
        if self.queue is None:
            return ""
        queue = self.client.get(CLUSTER_QUEUE, self.queue) or {}
        used = [
            resource["total"]
            for flavor in queue["status"].get("flavorsReservation") or ()
            for resource in flavor["resources"]
            if resource["name"] == "gpus"
        ]
        owned = [
            each
            for each in self.client.listed(WORKLOAD, TEAM)
            if each["metadata"]["ownerReferences"][0]["name"] == self.name
        ]
        live = sum(not condition(each, "Finished") for each in owned)
        return f"; quota in use {''.join(used) or 0}, Workloads {len(owned)}, live {live}"


@pytest.mark.parametrize("finishing", [True, False], ids=["finishing", "abrupt"])
def test_resized_under_plain_kubernetes(
    plane: Plane, nodes: None, tmp_path: Path, *, finishing: bool
) -> None:
    with moto() as store, team_on(plane, tmp_path, store, "default"):
        resized(Book(plane.client(), tmp_path / "pages", "plain", None), finishing=finishing)


@pytest.mark.parametrize("finishing", [True, False], ids=["finishing", "abrupt"])
def test_resized_under_kueue(with_kueue: Plane, tmp_path: Path, *, finishing: bool) -> None:
    with moto() as store, team_on(with_kueue, tmp_path, store, "kueue"):
        client = with_kueue.client()
        until(lambda: condition(client.get(CLUSTER_QUEUE, TEAM) or {}, "Active"), "the queue to be active")
        resized(Book(client, tmp_path / "pages", "elastic", TEAM), finishing=finishing)


def resized(book: Book, *, finishing: bool) -> None:
    """Up and down while it runs; then to its end, and what it came to."""
    book.begin(finishing=finishing)
    until(lambda: len(book.running()) == 4, "four workers", seconds=60)
    until(lambda: book.done >= 4, "a page each")
    print(f"\n{book.name}: 4 wide, {book.running()} run{book.quota()}")
    removed, was = 0, 4
    for width in STEPS:
        pods = book.at_work()
        before = set(pods)
        book.width(width)
        until(partial(_runs, book, width), f"{width} workers", seconds=60)
        until(lambda: not book.job["status"].get("terminating"), "the others to be gone", seconds=30)
        now = book.at_work()
        after = set(now)
        ended = set(map(int, _indexes(book.job["status"].get("completedIndexes", ""))))
        gone = before - after - ended
        removed += len(gone)
        print(f"  -> {width}: gone {sorted(gone)}, run {sorted(after)} ({book.status()}{book.quota()})")
        assert not book.job["status"].get("failed")
        anew = [index for index in before & after if pods[index] != now[index]]
        assert len(anew) <= max(0, was - width)
        was = width
    until(lambda: (book.running(), ending(book.job))[1], "the end", seconds=180)
    repeated = len(book.begun) - PAGES * VOLUMES
    print(
        f"  end: {book.status()}; {len(book.seen)} pods for {VOLUMES} indexes, {removed} cut, "
        f"{repeated} pages again"
    )
    assert ending(book.job) == "Complete"
    assert book.job["status"]["succeeded"] == VOLUMES
    assert not book.job["status"].get("failed")
    assert book.done == PAGES * VOLUMES
    assert repeated <= (0 if finishing else removed)
    book.client.delete(JOB, book.name, TEAM)
    until(lambda: not book.client.listed(CLAIM, TEAM), "the claims to be gone", seconds=30)


def _runs(book: Book, width: int) -> bool:
    return len(book.running()) == width


def _indexes(written: str) -> Iterator[int]:
    for part in filter(None, written.split(",")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)
