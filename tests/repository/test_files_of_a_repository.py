"""Which files are read, which are told of, and what names on a command line mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.errors import Severity, UsageError, WorldError
from allotment.platform.model import Platform
from allotment.repository import load_repository
from allotment.repository.select import selected_files

STEPS = "steps: [{step: ocr}]\n"
BOOKS = "pipeline: read\nvolumes: [{id: a, folder: scans/a}]\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    for folder in ("pipelines", "campaigns", "scans/a"):
        (root / folder).mkdir(parents=True)
    (root / "pipelines/read.yaml").write_text(STEPS)
    (root / "pipelines/other.yaml").write_text("steps: []\n")
    (root / "campaigns/books.yaml").write_text(BOOKS)
    return root


def found(root: Path, *only: str) -> list[tuple[str, str]]:
    paths = [root / path for path in only] or None
    loaded = load_repository(root, Platform(), only=paths)
    return [(Path(finding.position.file).name, finding.rule) for finding in loaded.findings]


def test_of_named_files_only_these_and_their_pipelines_are_read(root: Path) -> None:
    loaded = load_repository(root, Platform(), only=[root / "campaigns/books.yaml"])
    assert (set(loaded.repository.pipelines), set(loaded.repository.campaigns)) == ({"read"}, {"books"})
    assert found(root, "pipelines/other.yaml") == [("other.yaml", "empty-list")]
    assert found(root) == [("other.yaml", "empty-list")]


def test_files_that_look_like_ours_are_told_of(root: Path, tmp_path: Path) -> None:
    (root / "pipelines/other.yaml").unlink()
    (tmp_path / "elsewhere.yaml").write_text(STEPS)
    (root / "pipelines/link.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    (root / "pipelines/within.yaml").symlink_to(root / "pipelines/read.yaml")
    (root / "campaigns/old.yml").write_text(BOOKS)
    (root / "campaigns/LOUD.YAML").write_text(BOOKS)
    (root / "campaigns/.hidden.yaml").write_text("x")
    (root / "campaigns/README.md").write_text("x")
    (root / "campaigns/2024").mkdir()
    (root / "campaigns/2024/deep.yaml").write_text(BOOKS)
    (root / "campaigns/folder.yaml").mkdir()
    (root / "fleets").mkdir()
    (root / "fleets/web.yaml").write_text("x")
    assert found(root) == [
        ("deep.yaml", "file-not-read"),
        ("LOUD.YAML", "wrong-extension"),
        ("folder.yaml", "not-a-file"),
        ("old.yml", "wrong-extension"),
        ("web.yaml", "wrong-type"),
        ("link.yaml", "file-escapes"),
    ]
    assert found(root, "campaigns/old.yml") == [("old.yml", "wrong-extension")]
    by_file = {Path(f.position.file).name: f.severity for f in load_repository(root, Platform()).findings}
    assert by_file["deep.yaml"] is Severity.WARNING


def test_a_folder_that_leads_out_is_not_read(root: Path, tmp_path: Path) -> None:
    (root / "campaigns").rename(tmp_path / "elsewhere")
    (root / "campaigns").symlink_to(tmp_path / "elsewhere")
    (root / "pipelines/other.yaml").unlink()
    assert found(root) == [("campaigns", "file-escapes")]


def test_a_file_that_is_not_there_is_refused_with_the_nearest(root: Path) -> None:
    with pytest.raises(UsageError) as caught:
        load_repository(root, Platform(), only=[root / "campaigns/bokos.yaml"])
    assert "did you mean `books`?" in str(caught.value)


@pytest.mark.parametrize("path", ["elsewhere.yaml", "repository/scans/a", "campaigns/books.yaml"])
def test_a_file_outside_is_refused(root: Path, tmp_path: Path, path: str) -> None:
    with pytest.raises(UsageError, match="no file of the repository"):
        load_repository(root, Platform(), only=[tmp_path / path])


def test_a_folder_that_cannot_be_read_is_the_worlds_fault(root: Path) -> None:
    (root / "campaigns").rename(root / "moved")
    (root / "campaigns").write_text("no folder")
    with pytest.raises(WorldError, match="not a directory"):
        load_repository(root, Platform())


def test_words_mean_names_files_or_folders(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "campaigns/read.yaml").write_text(BOOKS)
    books, read = root / "campaigns/books.yaml", root / "pipelines/read.yaml"
    assert selected_files(root, ["books"]) == [books]
    assert selected_files(root, ["read"]) == [root / "campaigns/read.yaml", read]
    assert selected_files(root, ["campaigns/books.yaml", "books", str(books)]) == [books]
    assert selected_files(root, ["pipelines/"]) == [root / "pipelines/other.yaml", read]
    assert len(selected_files(root, [str(root)])) == 4
    monkeypatch.chdir(root / "campaigns")
    assert selected_files(Path(".."), ["books.yaml"]) == [Path("../campaigns/books.yaml")]


def test_a_word_that_means_nothing_is_refused_with_the_nearest(root: Path) -> None:
    with pytest.raises(UsageError, match="did you mean `books`"):
        selected_files(root, ["boks"])
