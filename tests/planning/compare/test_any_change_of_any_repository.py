"""Whatever `--with` says of whatever repository: a column is made, or it is refused in words."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.devices.describe import parse_description
from allotment.errors import AllotmentError
from allotment.planning.compare.changing import CHANGES, Files, changes_of
from allotment.planning.compare.column_files import column_files
from allotment.planning.scenes.scene import scene_for
from allotment.planning.scenes.values import Place
from allotment.platform.file import scan_platform
from allotment.platform.model import SCHEDULERS
from allotment.platform.need import SHARING
from allotment.repository import load_repository

EXAMPLES = Path(__file__).parent.parent.parent.parent / "examples"
REPOSITORIES = (
    ("ways", "platform.yaml"),
    ("cluster", "cluster.yaml"),
    ("compare/a-range/archive", "../cluster.yaml"),
    ("compare/a-range/laboratory", "../cluster.yaml"),
    ("compare/served-model/readers", "../cluster.yaml"),
    ("compare/small-models/archive", "../cluster.yaml"),
)
FLEETS = ("2 nodes of 4 x H100-SXM", "1 x L4", "2 x A100-80 mig=1g.10gb*7", "0")
NUMBERS = ("0", "1", "-1", "2.5", "nan", "inf", "1e9", "1e400", "9" * 30, "1_000", "1,5", "٣", "0x10", "")
AMOUNTS = ("8Gi", "0Gi", "9999Ti", "0.5", "1e-9", "0.0001")
OTHERS = (
    "none",
    "null",
    "2..8",
    "8..2",
    "..",
    "10m",
    "on",
    "off",
    "1.36",
    "v1.37.2",
    "0.20",
    "{a: b}",
    "a;b",
)
VALUES = st.one_of(
    st.sampled_from((*NUMBERS, *AMOUNTS, *OTHERS, *SHARING, *FLEETS)),
    st.lists(st.sampled_from(SHARING), max_size=3).map(",".join),
    st.text(max_size=8),
)
KEYS = st.sampled_from((*sorted(CHANGES), "scheduler", ""))
NAMES = ("", ".kueue", ".kai", ".kubernetes", ".archive", ".nobody", ".")


@cache
def files_of(repository: str, platform: str) -> tuple[Files, str]:
    root = EXAMPLES / repository
    found, findings = scan_platform(root / platform, platform)
    assert not findings
    place = Place(parse_description("2 nodes of 2 x A100-80"), "here")
    return Files(load_repository(root, found).checked(), found, place), next(iter(found.teams))


def named(files: Files) -> st.SearchStrategy[str]:
    repository = files.repository
    own = (*repository.pipelines, *repository.campaigns, *repository.fleets, *files.platform.teams)
    return st.sampled_from((*NAMES, *(f".{name}" for name in own)))


@pytest.mark.parametrize(("repository", "platform"), REPOSITORIES)
@settings(max_examples=40, deadline=None)
@given(data=st.data(), scheduler=st.sampled_from(SCHEDULERS))
def test_a_column_is_made_or_refused_in_words(
    repository: str, platform: str, scheduler: str, data: st.DataObject
) -> None:
    files, team = files_of(repository, platform)
    change = st.builds("{}{}={}".format, KEYS, named(files), VALUES)
    text = ";".join(data.draw(st.lists(change, min_size=1, max_size=2)))
    said = refusal(files, team, text, scheduler)
    assert "invalid literal" not in said
    assert "Error" not in said


def refusal(files: Files, team: str, changes: str, scheduler: str) -> str:
    """The words by which the column is refused, or none where its scene is made."""
    try:
        made = column_files(files, changes_of(changes))
        scene_for(made.repository, made.platform, made.platform.teams[team], made.place, scheduler=scheduler)
    except AllotmentError as error:
        return error.what
    return ""
