"""Earlier files by git: which commit, which files, and nothing of a hostile repository's is run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from allotment.repository.git import Git, NotComparedError

FOLDERS = ("campaigns", "pipelines")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    return {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CEILING_DIRECTORIES": str(tmp_path)}


class Repo:
    """A git repository with a person in it."""

    def __init__(self, root: Path, environ: dict[str, str]) -> None:
        self.root, self.environ = root, environ
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        person = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
        answer = subprocess.run(
            ["git", *person, *words],
            cwd=self.root,
            env=self.environ,
            check=True,
            capture_output=True,
            text=True,
        )
        return answer.stdout.strip()

    def commit(self, files: dict[str, str | None]) -> str:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.unlink()
            else:
                path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-qm", "x")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path, environ: dict[str, str]) -> Repo:
    return Repo(tmp_path / "r", environ)


def test_files_where_the_branch_left_the_main_one(repo: Repo) -> None:
    left = repo.commit({"campaigns/a.yaml": "1", "campaigns/b.yaml": "1", "other/c.yaml": "1", "d.yaml": "1"})
    repo.git("checkout", "-qb", "change")
    repo.commit({"campaigns/a.yaml": "2", "campaigns/new.yaml": "1", "campaigns/deep/e.yaml": "1"})
    repo.git("checkout", "-q", "main")
    repo.commit({"campaigns/a.yaml": "3"})
    repo.git("checkout", "-q", "change")
    earlier = Git(repo.root, repo.environ).earlier(FOLDERS)
    assert earlier.name == f"main at {left[:10]}"
    assert earlier.changed == {"campaigns/a.yaml": b"1"}
    assert earlier.unchanged == {"campaigns/b.yaml"}
    named = Git(repo.root, repo.environ).earlier(FOLDERS, "HEAD~1")
    assert (named.name, named.changed) == (f"HEAD~1 at {left[:10]}", {"campaigns/a.yaml": b"1"})


def test_uncommitted_changes_count_and_so_does_what_is_gone(repo: Repo) -> None:
    repo.commit({"campaigns/a.yaml": "1", "campaigns/b.yaml": "1"})
    (repo.root / "campaigns/a.yaml").write_text("2")
    (repo.root / "campaigns/b.yaml").unlink()
    earlier = Git(repo.root, repo.environ).earlier(FOLDERS)
    assert earlier.changed == {"campaigns/a.yaml": b"1", "campaigns/b.yaml": b"1"}


def test_a_repository_in_a_folder_of_another(tmp_path: Path, environ: dict[str, str]) -> None:
    repo = Repo(tmp_path / "all", environ)
    repo.commit({"ours å/campaigns/a.yaml": "1", "campaigns/b.yaml": "1"})
    (repo.root / "ours å/campaigns/a.yaml").write_text("2")
    assert Git(repo.root / "ours å", environ).earlier(FOLDERS).changed == {"campaigns/a.yaml": b"1"}


def test_the_main_branch_is_that_of_the_origin(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"campaigns/a.yaml": "1"})
    clone = Repo(tmp_path / "clone", repo.environ)
    clone.git("remote", "add", "origin", str(repo.root))
    clone.git("fetch", "-q", "origin")
    clone.git("reset", "-q", "--hard", "origin/main")
    clone.commit({"campaigns/a.yaml": "2"})
    earlier = Git(clone.root, clone.environ).earlier(FOLDERS)
    assert earlier.name.startswith("origin/main at ")
    assert earlier.changed == {"campaigns/a.yaml": b"1"}


def test_links_within_the_repository_are_followed_and_others_left_out(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text("secret")
    (repo.root / "campaigns").mkdir()
    (repo.root / "campaigns/link.yaml").symlink_to("../shared.yaml")
    (repo.root / "campaigns/out.yaml").symlink_to(tmp_path / "secret.yaml")
    (repo.root / "campaigns/gone.yaml").symlink_to("nothing.yaml")
    (repo.root / "campaigns/loop.yaml").symlink_to("loop.yaml")
    repo.commit({"shared.yaml": "1", "campaigns/z.yaml": "1"})
    (repo.root / "campaigns/z.yaml").write_text("2")
    earlier = Git(repo.root, repo.environ).earlier(FOLDERS)
    assert earlier.changed == {"campaigns/link.yaml": b"1", "campaigns/z.yaml": b"1"}


def shallow(repo: Repo, tmp_path: Path) -> Repo:
    repo.commit({"campaigns/a.yaml": "1"})
    repo.commit({"campaigns/a.yaml": "2"})
    repo.git("branch", "old", "HEAD~1")
    clone = Repo(tmp_path / "clone", repo.environ)
    for branch in ("main", "old"):
        clone.git("fetch", "-q", "--depth=1", f"file://{repo.root}", f"{branch}:refs/remotes/origin/{branch}")
    clone.git("reset", "-q", "--hard", "origin/main")
    return clone


def test_where_nothing_can_be_compared_it_is_said_why(repo: Repo, tmp_path: Path) -> None:
    with pytest.raises(NotComparedError, match="in no git repository"):
        Git(tmp_path / "home", repo.environ).earlier(FOLDERS)
    with pytest.raises(NotComparedError, match="no commit yet"):
        Git(repo.root, repo.environ).earlier(FOLDERS)
    clone = shallow(repo, tmp_path)
    with pytest.raises(NotComparedError, match="no common commit") as refused:
        Git(clone.root, repo.environ).earlier(FOLDERS, "origin/old")
    assert "fetch-depth: 0" in refused.value.hint
    repo.git("branch", "-m", "main", "trunk")
    with pytest.raises(NotComparedError, match="no main branch") as refused:
        Git(repo.root, repo.environ).earlier(FOLDERS)
    assert refused.value.expected
    with pytest.raises(NotComparedError, match="not installed"):
        Git(repo.root, {**repo.environ, "PATH": str(tmp_path)}, program="git-of-nobody").earlier(FOLDERS)


@pytest.mark.parametrize("base", ["nothing", "-x", "--output=x", "HEAD:campaigns", "a\nb", "", "HEAD^{tree}"])
def test_what_names_no_commit_is_refused(repo: Repo, base: str) -> None:
    repo.commit({"campaigns/a.yaml": "1"})
    with pytest.raises(NotComparedError, match="git knows no"):
        Git(repo.root, repo.environ).earlier(FOLDERS, base)
    assert not (repo.root / "x").exists()


def trap(tmp_path: Path) -> tuple[Path, Path]:
    """A program that leaves a mark when it is run."""
    mark, program = tmp_path / "mark", tmp_path / "trap"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    return program, mark


@pytest.mark.parametrize(
    "setting",
    ["core.fsmonitor", "core.pager", "diff.external", "core.sshCommand", "core.editor", "filter.x.smudge",
     "filter.x.clean", "diff.x.textconv", "credential.helper", "gpg.program", "core.askPass"],
)  # fmt: skip
def test_no_program_of_a_repositorys_configuration_is_run(repo: Repo, tmp_path: Path, setting: str) -> None:
    program, mark = trap(tmp_path)
    repo.commit({"campaigns/a.yaml": "1", ".gitattributes": "* filter=x diff=x\n"})
    repo.git("config", setting, str(program))
    (repo.root / "campaigns/a.yaml").write_text("2")
    for hook in ("post-index-change", "reference-transaction", "pre-auto-gc", "post-checkout"):
        (repo.root / ".git/hooks").mkdir(exist_ok=True)
        (repo.root / f".git/hooks/{hook}").symlink_to(program)
    assert Git(repo.root, repo.environ).earlier(FOLDERS).changed == {"campaigns/a.yaml": b"1"}
    assert not mark.exists()


def test_missing_objects_are_not_fetched(repo: Repo, tmp_path: Path) -> None:
    program, mark = trap(tmp_path)
    repo.commit({"campaigns/a.yaml": "1"})
    digest = repo.git("rev-parse", "HEAD:campaigns/a.yaml")
    (repo.root / "campaigns/a.yaml").write_text("2")
    (repo.root / ".git/objects" / digest[:2] / digest[2:]).unlink()
    for name, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", f"ext::{program}"),
        ("remote.origin.promisor", "true"),
        ("protocol.ext.allow", "always"),
        ("remote.origin.uploadpack", str(program)),
    ):
        repo.git("config", name, value)
    with pytest.raises(NotComparedError, match=r"git lacks|git failed") as refused:
        Git(repo.root, repo.environ).earlier(FOLDERS)
    assert not refused.value.expected
    assert not mark.exists()


def test_a_repository_hidden_in_a_folder_is_not_used(tmp_path: Path, environ: dict[str, str]) -> None:
    hidden = Repo(tmp_path / "hidden", environ)
    hidden.commit({"campaigns/a.yaml": "1"})
    folder = tmp_path / "folder"
    (hidden.root / ".git").rename(folder)
    with pytest.raises(NotComparedError):
        Git(folder, environ).earlier(FOLDERS)


def test_variables_of_the_caller_do_not_lead_elsewhere(repo: Repo, tmp_path: Path) -> None:
    program, mark = trap(tmp_path)
    repo.commit({"campaigns/a.yaml": "1"})
    other = Repo(tmp_path / "other", repo.environ)
    other.commit({"campaigns/b.yaml": "1"})
    (repo.root / "campaigns/a.yaml").write_text("2")
    environ = {
        **repo.environ,
        "GIT_DIR": str(other.root / ".git"),
        "GIT_WORK_TREE": str(other.root),
        "GIT_INDEX_FILE": "/nowhere",
        "GIT_EXTERNAL_DIFF": str(program),
        "GIT_PAGER": str(program),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(program),
        "GIT_TRACE": str(mark),
    }
    assert Git(repo.root, environ).earlier(FOLDERS).changed == {"campaigns/a.yaml": b"1"}
    assert not mark.exists()


@pytest.mark.parametrize(
    ("script", "said"),
    [("exec cat /dev/zero", "more than 1,000 bytes"), ("cat /dev/zero > /dev/null & wait", "longer than")],
)
def test_a_git_that_does_not_end_is_ended(tmp_path: Path, script: str, said: str) -> None:
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    git = Git(tmp_path, {"PATH": os.environ["PATH"]}, program=str(program), seconds=0.2, most_bytes=1000)
    with pytest.raises(NotComparedError, match=said) as refused:
        git.earlier(FOLDERS)
    assert not refused.value.expected


def test_pipes_and_huge_files_on_the_disk_do_not_hold_it_up(repo: Repo) -> None:
    repo.commit({"campaigns/a.yaml": "1", "campaigns/b.yaml": "1"})
    for name in ("a", "b"):
        (repo.root / f"campaigns/{name}.yaml").unlink()
    os.mkfifo(repo.root / "campaigns/a.yaml")
    with (repo.root / "campaigns/b.yaml").open("wb") as file:
        file.truncate(2**40)
    earlier = Git(repo.root, repo.environ).earlier(FOLDERS)
    assert set(earlier.changed) == {"campaigns/a.yaml", "campaigns/b.yaml"}


def test_where_a_clone_comes_from(repo: Repo, tmp_path: Path) -> None:
    git = Git(repo.root, repo.environ)
    assert git.remote() is None
    assert Git(tmp_path, repo.environ).remote() is None
    assert Git(repo.root, repo.environ, program="no-such-program").remote() is None
    repo.git("remote", "add", "origin", "git@example.org:team/campaigns.git")
    assert git.remote() == "git@example.org:team/campaigns.git"


def test_a_broken_configuration_is_told_as_what_it_is(repo: Repo) -> None:
    repo.commit({"campaigns/a.yaml": "x"})
    with (repo.root / ".git" / "config").open("a") as file:
        file.write("[broken\n")
    with pytest.raises(NotComparedError, match=r"git failed: fatal: bad config line \d+") as caught:
        Git(repo.root, repo.environ).earlier(FOLDERS)
    assert not caught.value.expected


def test_a_damaged_commit_is_not_taken_for_none(repo: Repo) -> None:
    commit = repo.commit({"campaigns/a.yaml": "x"})
    path = repo.root / ".git" / "objects" / commit[:2] / commit[2:]
    path.chmod(0o600)
    path.write_bytes(b"garbage")
    with pytest.raises(NotComparedError, match="git cannot read its newest commit: ") as caught:
        Git(repo.root, repo.environ).earlier(FOLDERS)
    assert not caught.value.expected
    assert "git fsck" in caught.value.hint
