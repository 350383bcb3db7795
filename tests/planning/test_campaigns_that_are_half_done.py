"""Campaigns of which the bucket holds a part: what is left is planned, and what is given up is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from allotment.buckets.keys import RecipeKeys
from allotment.buckets.memory import MemoryBucket
from allotment.planning.plan.changes import changes_in_bucket
from allotment.planning.plan.plan import Becomes, Plan
from allotment.planning.plan.planning import plan_for
from allotment.planning.plan.question import Question
from allotment.planning.scenes.looking import look
from allotment.planning.scenes.scene import scene_for
from allotment.repository.model import Repository
from allotment.repository.recipe import recipe_of
from tests.planning.manifests import manifest, page
from tests.planning.scene_files import ARCHIVE, described, platform, repository

FOUR = ", ".join(f"'https://x.org/{number}.jpg'" for number in range(4))
VOLUMES = f"volumes: [{', '.join(f'{{id: {name}, images: [{FOUR}]}}' for name in 'abcd')}]\n"
ESTIMATE = "estimate: {page: 10s, load: 20s}\n"


def files(tmp_path: Path, volumes: str = VOLUMES) -> Repository:
    need = (
        f"image: registry.example.org/htr@sha256:{'0' * 64}\nsteps: [{{step: ocr}}]\ngpu: {{memory: 20Gi}}\n"
    )
    return repository(
        tmp_path, pipelines_read=need + ESTIMATE, campaigns_letters=f"pipeline: read\nwindow: 4\n{volumes}"
    )


def bucket(found: Repository, **volumes: str | int) -> MemoryBucket:
    """Volumes that are ``complete``, have ``failed``, or so many pages of which are done."""
    keys = RecipeKeys("archive", "read", recipe_of(found.pipelines["read"]))
    held = MemoryBucket()
    for name, state in volumes.items():
        volume = keys.volume(name)
        if state == "complete":
            held.objects[volume.manifest] = json.dumps(manifest([page()] * 4)).encode()
            held.objects[volume.complete_mark(4, 0)] = b""
        elif state == "failed":
            held.objects[volume.failed_mark(3)] = b""
        else:
            for number in range(1, int(state) + 1):
                held.objects[f"{volume.pages}{number:04d}.json"] = b"{}"
    return held


def planned(found: Repository, held: MemoryBucket) -> Plan:
    known = look(found, ARCHIVE, held)
    scene = scene_for(found, platform(), ARCHIVE, described(), scheduler="default", known=known)
    changes = changes_in_bucket(found, "the bucket", known.complete, failed=known.failed)
    return plan_for(scene, changes, Question(draws=2, risks=False), team="archive", processes=1)


@pytest.mark.parametrize(
    ("volumes", "words", "left", "pages"),
    [
        ({}, "4 volumes", 4, 16),
        ({"a": 3}, "4 volumes", 4, 13),
        ({"a": "complete", "b": 3}, "3 of 4 volumes are left", 3, 9),
        ({"a": "complete", "b": 4}, "3 of 4 volumes are left", 3, 9),
        (
            {"a": "complete", "b": "failed", "c": 1},
            "2 of 4 volumes are left; 1 volume failed, for `allot retry`",
            2,
            7,
        ),
    ],
    ids=["nothing", "begun", "complete and begun", "all but the manifest", "failed"],
)
def test_what_is_left_is_planned(
    tmp_path: Path, volumes: dict[str, str | int], words: str, left: int, pages: int
) -> None:
    found = files(tmp_path)
    told = planned(found, bucket(found, **volumes))
    (change,), (work,) = told.changes.changes, told.works
    is_new = words == "4 volumes"
    assert change.becomes is (Becomes.NEW if is_new else Becomes.CHANGED)
    assert "; ".join(change.words) == words
    assert (work.left, work.pages, work.finishes) == (left, pages, 1.0)


@pytest.mark.parametrize(
    ("volumes", "words"),
    [
        (dict.fromkeys("abcd", "complete"), "all 4 volumes are complete"),
        (
            {**dict.fromkeys("abc", "complete"), "d": "failed"},
            "3 of 4 volumes are complete; 1 volume failed, for `allot retry`",
        ),
        (dict.fromkeys("abcd", "failed"), "0 of 4 volumes are complete; 4 volumes failed, for `allot retry`"),
    ],
    ids=["complete", "one failed", "all failed"],
)
def test_where_nothing_is_left_there_is_nothing_to_do(
    tmp_path: Path, volumes: dict[str, str | int], words: str
) -> None:
    found = files(tmp_path)
    told = planned(found, bucket(found, **volumes))
    assert told.is_nothing
    assert "; ".join(told.changes.changes[0].words) == words
    assert told.is_kept


def test_more_pages_than_anybody_estimated_are_done_already(tmp_path: Path) -> None:
    found = files(tmp_path, "volumes: [{id: a, manifest: 'https://x.org/m'}]\n")
    (work,) = planned(found, bucket(found, a=900)).works
    assert (work.left, work.uncounted, work.finishes) == (1, 1, 1.0)
    assert work.start.p50 is not None
