"""An earlier platform's settings and record count only as files of the repository, and else are told."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from allotment.platform.find import BUILT_IN, look_for_platform
from allotment.repository.rendered import read_rendered


def out(path: Path) -> None:
    outside = path.parent.parent / "outside"
    outside.mkdir()
    (outside / "file").write_text("window: 3\n")
    path.symlink_to(outside / "file" if path.suffix else outside)


@pytest.mark.parametrize(
    ("lay", "rule"),
    [
        (out, "file-escapes"),
        (os.mkfifo, "not-a-file"),
        (lambda path: path.mkdir(), "not-a-file"),
        (lambda path: path.symlink_to("nowhere"), "not-a-file"),
    ],
)
def test_settings_that_are_no_file_are_told_and_not_read(
    tmp_path: Path, lay: Callable[[Path], None], rule: str
) -> None:
    root = tmp_path / "repository"
    root.mkdir()
    lay(root / "converter.yaml")
    found = look_for_platform(root, option=None, environ={}, system_file=tmp_path / "none")
    assert [finding.rule for finding in found.findings] == [rule]
    assert found.origin == BUILT_IN


@pytest.mark.parametrize(
    ("lay", "rule"), [(out, "file-escapes"), (lambda path: path.write_text(""), "record-unreadable")]
)
def test_a_record_that_is_no_folder_here_is_told(
    tmp_path: Path, lay: Callable[[Path], None], rule: str
) -> None:
    root = tmp_path / "repository"
    root.mkdir()
    lay(root / "rendered")
    assert [finding.rule for finding in read_rendered(root).findings] == [rule]


def test_a_file_of_the_record_that_leads_out_is_told(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    (root / "rendered" / "campaigns").mkdir(parents=True)
    (tmp_path / "there.yaml").write_text("a: 1\n")
    (root / "rendered" / "campaigns" / "c.yaml").symlink_to(tmp_path / "there.yaml")
    assert [finding.rule for finding in read_rendered(root).findings] == ["file-escapes"]
