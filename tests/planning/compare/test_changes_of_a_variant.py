"""What `--with key=value` makes of the files, and how it refuses what it does not know."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from allotment.devices.describe import parse_description
from allotment.errors import UsageError
from allotment.planning.compare.changing import Files, changed, changes_of
from allotment.planning.compare.column_files import column_files
from allotment.planning.scenes.values import Place
from allotment.platform.model import Platform, Queue, Team
from allotment.platform.need import Need
from allotment.repository.model import Campaign, FolderSource, Pipeline, Repository, StepCall, Volume, Window

OCR = Pipeline("ocr", (StepCall("ocr"),), gpu=Need())
BOOKS = Campaign("books", "ocr", (Volume("v1", FolderSource("scans/v1")),))
FILES = Files(
    Repository(Path("archive"), {"ocr": OCR}, {"books": BOOKS}),
    Platform(teams={"archive": Team("archive", queue=Queue(4.0))}),
    Place(parse_description("1 x L4"), "here"),
    ((Repository(Path("lab"), {"ocr": OCR}, {"maps": BOOKS}), Team("archive")),),
)


def test_each_change_is_made_to_what_the_files_say() -> None:
    files = FILES
    for change in changes_of(
        "quota.archive=2.5; limit.archive=none; sharing=fraction,whole; share=0.25; window=2..8"
    ):
        files = changed(files, change)
    queue, pipeline = files.platform.teams["archive"].queue, files.repository.pipelines["ocr"]
    assert queue == Queue(2.5, 1, None)
    assert pipeline.gpu is not None
    assert (pipeline.gpu.sharing, pipeline.gpu.share) == (("fraction", "whole"), 0.25)
    assert files.repository.campaigns["books"].window == Window(2, 8)
    assert files.beside[0][0].campaigns["maps"].window == Window(2, 8)
    assert files.beside[0][1].queue == queue
    assert "fraction" in files.platform.sharing


@pytest.mark.parametrize(
    ("change", "read"),
    [
        ("window=8", lambda files: files.repository.campaigns["books"].window == Window(1, 8)),
        (
            "pack.maps=4",
            lambda files: (
                (files.repository.campaigns["books"].pack, files.beside[0][0].campaigns["maps"].pack)
                == (1, 4)
            ),
        ),
        ("describe=2 nodes of 8 x L4", lambda files: len(list(files.place.world.devices())) == 16),
        ("versions.kueue=0.20", lambda files: files.platform.versions.kueue == "0.20"),
        ("minimum_runtime=1m", lambda files: files.platform.defaults.minimum_runtime == 60),
        ("controller=off", lambda files: not files.controller),
        ("weight.archive=3", lambda files: files.platform.teams["archive"].queue.weight == 3),
    ],
)
def test_every_key_changes_its_own(change: str, read) -> None:  # type: ignore[no-untyped-def]
    assert read(changed(FILES, change))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("qouta.archive=2", "did you mean `quota`"),
        ("quota.lab=2", "no team `lab`"),
        ("quota.archive=much", "quota.TEAM=4"),
        ("sharing=halves", "no way to share"),
        ("quota=2", "of which team"),
        ("quota.archive=-4", "must be 0 or more"),
        ("quota.archive=nan", "must be a number"),
        ("quota.archive=1e400", "must be a number"),
        ("weight.archive=-1", "must be 0 or more"),
        ("weight.archive=none", "must be a number"),
        ("window=0", "must be from 1"),
        ("window=1e9", "must be a whole number"),
        ("window=8..2", "at least 8 and at most 2"),
        ("pack=10001", "from 1 to 10,000"),
        ("share=2", "between 0 and 1"),
        ("sharing.plays=mig", "no pipeline, fleet or gang `plays`"),
        ("versions.kueue=abc", "`abc` is no release"),
        ("versions.kubernetes=1.10", "1.34 to 1.37"),
        ("minimum_runtime.archive=1m", "of no one in particular"),
        ("window.plays=2", "no campaign `plays`"),
        ("versions.helm=3", "kubernetes, kueue or kai"),
        ("controller=maybe", "on or off"),
        ("window", "no change that is known"),
    ],
)
def test_what_is_not_known_is_refused_with_what_to_write(change: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        changed(FILES, change)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ("quota.archive=8; quota.archive=9", "twice"),
        ("limit.archive=3", "of `archive`, the limit (3) is below the quota (4)"),
        ("quota.archive=9; limit.archive=8", "the limit (8) is below the quota (9)"),
        ("sharing=fraction", "nothing says how much"),
        ("share=0.5", "no part of a card"),
        ("sharing=mig; share=0.5", "no part of a card"),
    ],
)
def test_what_changes_come_to_is_held_to_what_files_are_held_to(changes: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        column_files(FILES, changes_of(changes))
    assert words in str(caught.value)
    assert changes in str(caught.value)


@pytest.mark.parametrize("changes", ["share=0.5; sharing=fraction", "sharing=fraction; share=0.5"])
def test_the_order_of_changes_is_nothing(changes: str) -> None:
    need = column_files(FILES, changes_of(changes)).repository.pipelines["ocr"].gpu
    assert need is not None
    assert (need.sharing, need.share) == (("fraction",), 0.5)


def test_a_share_goes_with_the_way_that_took_it() -> None:
    shared = column_files(FILES, ("sharing=fraction", "share=0.5"))
    need = column_files(shared, ("sharing=whole",)).repository.pipelines["ocr"].gpu
    assert need is not None
    assert need.share is None


def test_a_configuration_goes_with_the_way_that_it_is_for() -> None:
    need = Need(sharing=("mps",), config={"mps": {"threads": 25}})
    repository = Repository(Path("archive"), {"ocr": replace(OCR, gpu=need)})
    found = column_files(replace(FILES, repository=repository, beside=()), ("sharing=time-slicing",))
    assert found.repository.pipelines["ocr"].gpu == Need(sharing=("time-slicing",))
