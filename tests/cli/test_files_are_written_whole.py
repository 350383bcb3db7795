"""What a command writes into a file is whole or not there, and what stood there is not lost."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import click
import pytest

from allotment.cli import invoke
from allotment.cli.shared import write_out
from allotment.cli.writing import hold_writable, write_whole
from allotment.errors import WorldError


def test_a_file_keeps_its_rights_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text("old")
    path.chmod(0o640)
    write_out("new", path)
    assert path.read_text() == "new\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_where_a_disk_is_full_the_old_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "plan.json"
    path.write_text("old")

    def full(self: Path, _: bytes) -> int:
        self.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(WorldError, match="No space left on device"):
        write_whole(path, b"new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("old")
    link = tmp_path / "link"
    link.symlink_to("there")
    write_whole(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "there").read_text() == "new"


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    path, got = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: got.append(path.read_text()))
    reader.start()
    write_whole(path, b"new")
    reader.join()
    assert got == ["new"]


def test_a_folder_that_is_not_there_is_told_before_anything_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WorldError, match="there is no folder"):
        hold_writable(Path("nowhere/plan.json"))
    hold_writable(None)
    hold_writable(Path("plan.json"))
    for command in ("plan", "compare"):
        assert invoke([command, "--out", "nowhere/plan.json"]) == 3
        assert "there is no folder" in capsys.readouterr().err


def test_standard_output_that_takes_nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(click, "echo", full)
    with pytest.raises(WorldError, match="standard output: it cannot be written: No space left"):
        write_out("words", None)
