"""What `allot init` leaves behind: a repository that checks clean, written over nothing of others."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest
from PIL import Image

from allotment.cli import invoke
from allotment.errors import UsageError, WorldError
from allotment.platform.find import find_platform
from allotment.repository.load import load_repository
from allotment.repository.model import FolderSource
from allotment.starter.write import starter_files, write_starter


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("starter") / "campaigns"
    write_starter(target)
    return target


def files_under(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_files_are_the_same_every_time(starter: Path) -> None:
    assert {str(name): content for name, content in starter_files()} == files_under(starter)


def test_every_page_has_a_text_and_every_volume_a_few_pages(starter: Path) -> None:
    scans = sorted(path.relative_to(starter / "scans").with_suffix("") for path in starter.glob("scans/*/*"))
    texts = sorted(path.relative_to(starter / "truth").with_suffix("") for path in starter.glob("truth/*/*"))
    assert scans == texts
    assert {len(list(volume.iterdir())) for volume in (starter / "scans").iterdir()} <= {2, 3}
    assert all("å" in (starter / "truth" / volume).read_text() for volume in ("brev-1887/page-1.txt",))


def test_the_pages_are_small_grey_images_that_are_not_all_alike(starter: Path) -> None:
    pages = [path.read_bytes() for path in sorted(starter.glob("scans/*/*.png"))]
    assert len(set(pages)) == len(pages) == 8
    for page in pages:
        assert len(page) < 60_000
        assert Image.open(io.BytesIO(page)).mode == "L"


def test_the_repository_has_no_findings(starter: Path) -> None:
    platform, origin = find_platform(starter, option=None, environ={})
    assert platform.engine == "local"
    assert "platform.yaml" in origin
    loaded = load_repository(starter, platform)
    assert [str(finding) for finding in loaded.findings] == []
    assert sorted(loaded.repository.campaigns) == ["checksums", "letters"]
    assert sorted(loaded.repository.pipelines) == ["checksum", "read"]
    folders = {
        volume.source.folder
        for campaign in loaded.repository.campaigns.values()
        for volume in campaign.volumes
        if isinstance(volume.source, FolderSource)
    }
    assert len(folders) == 3
    assert all((starter / str(folder)).is_dir() for folder in folders)


def test_the_readme_is_short_and_names_what_is_there(starter: Path) -> None:
    readme = (starter / "README.md").read_text()
    assert len(readme.splitlines()) <= 20
    for name in ("pipelines/", "campaigns/", "scans/", "truth/", "platform.yaml"):
        assert f"`{name}`" in readme
        assert (starter / name).exists()


def test_results_are_not_kept_in_git_and_pull_requests_are_checked(starter: Path) -> None:
    assert (starter / ".gitignore").read_text().split() == ["/results/"]
    workflow = (starter / ".github/workflows/check.yml").read_text()
    assert "on: pull_request" in workflow
    assert "- run: allot check" in workflow


def test_a_folder_fresh_from_git_will_do(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert PurePosixPath("README.md") in write_starter(tmp_path)


# ---- what is there stays -----------------------------------------------------------------------------------


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / "b").write_text("mine too")
    with pytest.raises(UsageError) as refused:
        write_starter(tmp_path)
    assert "is not empty (it has README.md and 1 more), and nothing is ever overwritten" in str(refused.value)
    assert f"allot init {tmp_path}/my-archive" in str(refused.value)
    assert files_under(tmp_path) == {"README.md": b"mine", "b": b"mine too"}


def test_a_file_of_that_name_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes"
    file.write_text("mine")
    with pytest.raises(UsageError, match="there is a file of that name"):
        write_starter(file)
    assert file.read_text() == "mine"


def test_a_link_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "gone")
    with pytest.raises(UsageError, match="leads nowhere"):
        write_starter(link)


def test_a_disk_that_is_full_is_the_worlds_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "here")

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(WorldError, match="here: the starter repository could not be written: No space left"):
        write_starter(tmp_path / "new")


# ---- the command -------------------------------------------------------------------------------------------


def test_init_says_what_to_type_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "two words"
    assert invoke(["init", str(target)]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"wrote 24 files to {target}, 8 of them scanned pages\n")
    assert said.endswith(f"next:\n  cd '{target}'\n  allot check\n  allot run campaigns/*.yaml\n")


def test_init_here_needs_no_cd(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke(["init", "."]) == 0
    assert "cd" not in capsys.readouterr().out.split()


def test_init_names_what_the_ocr_step_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert invoke(["init", str(tmp_path / "new")]) == 0
    assert "pip install 'allotment[ocr] @ git+https://" in capsys.readouterr().out


def test_init_over_something_is_a_usage_error_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").write_text("")
    assert invoke(["init", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "nothing is ever overwritten" in said
    assert f"allot init {tmp_path}/my-archive\n" in said
    (tmp_path / "my-archive").mkdir()
    assert invoke(["init", str(tmp_path)]) == 2
    assert f"allot init {tmp_path}/my-archive-2\n" in capsys.readouterr().err


def test_the_written_repository_passes_allot_check(starter: Path) -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "allotment.cli", "check"], cwd=starter, capture_output=True, text=True
    )
    assert (checked.returncode, checked.stderr) == (0, ""), checked.stdout + checked.stderr
