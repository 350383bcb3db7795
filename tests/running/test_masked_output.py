"""Nothing that anybody prints below a worker has a secret in it: cut anywhere, by any program."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.running.masked_output import MaskedPipe
from tests.running.engine.harness import Repository, eventually

MASK = b"***"
SECRET = "s3cr3t-token"

values = st.lists(st.binary(min_size=4, max_size=6), min_size=1, max_size=3, unique=True)
few = st.lists(st.text("ab", min_size=4, max_size=6).map(str.encode), min_size=1, max_size=3, unique=True)


@given(st.one_of(values, few), st.lists(st.one_of(st.binary(max_size=9), st.just(b"aba"), st.just(b"bab"))))
def test_wherever_the_output_is_cut_it_is_masked_as_if_it_were_whole(
    secrets: list[bytes], pieces: list[bytes]
) -> None:
    longest_first = sorted(secrets, key=lambda value: (-len(value), value))
    pipe = MaskedPipe(longest_first, b"")
    shown = b"".join(pipe.pass_on(piece) for piece in pieces) + pipe.end()
    left = b"".join(pieces)
    assert len(shown) <= len(left)
    if not any(value in left for value in secrets):
        assert shown == left
    with_mask = MaskedPipe(longest_first, b"\xff\xfe\xfd")
    shown = b"".join(with_mask.pass_on(piece) for piece in pieces) + with_mask.end()
    assert all(value not in shown for value in secrets if not set(value) & set(b"\xff\xfe\xfd"))


def test_what_cannot_be_the_beginning_of_a_secret_is_not_held_back() -> None:
    pipe = MaskedPipe([b"abcdef", b"abcd"], MASK)
    assert pipe.pass_on(b"now, at once: 3 %\r") == b"now, at once: 3 %\r"
    assert pipe.pass_on(b"it is ab") == b"it is "
    assert pipe.pass_on(b"cd") == b""
    assert pipe.pass_on(b"e") == b""
    assert pipe.pass_on(b"f!") == MASK + b"!"
    assert pipe.pass_on(b"abcd") == b""
    assert pipe.end() == MASK


ENV = "env:\n  TOKEN: {secret: hub, key: token}\n"
STEP = """
import os, subprocess, sys

def create(settings, context):
    def step(page, earlier):
        subprocess.run(["sh", "-c", "echo child $TOKEN; echo errors $TOKEN >&2"])
        os.write(1, b"raw " + os.environb[b"TOKEN"] + b"\\n")
        return {"txt": b"x"}
    return step
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    folder = tmp_path / "secrets" / "hub"
    folder.mkdir(parents=True)
    (folder / "token").touch(mode=0o600)
    (folder / "token").write_text(SECRET)
    monkeypatch.setenv("ALLOT_SECRETS", str(tmp_path / "secrets"))
    monkeypatch.setenv("ALLOT_CACHE", str(tmp_path / "cache"))
    repository = Repository(tmp_path, volumes=1, pages=1).write()
    (tmp_path / "talking.py").write_text(STEP)
    (tmp_path / "say.py").write_text(
        "import os, sys\nprint('out', os.environ['TOKEN'])\n"
        "print('err', os.environ['TOKEN'], file=sys.stderr)\n"
        "open(os.path.join(sys.argv[1], 'made'), 'w').close()\n"
    )
    return repository


def said(repository: Repository) -> str:
    """Everything that was left anywhere, but for the secret's own file and what the test wrote."""
    files = (path for path in repository.root.rglob("*") if path.is_file() and path.name != "token")
    return "".join(path.read_text(errors="replace") for path in files)


def test_what_steps_preparations_and_their_programs_print_is_masked(repository: Repository) -> None:
    (repository.root / "pipelines" / "tally.yaml").write_text(
        f"gpu: {{cpu: 1}}\n{ENV}"
        f"prepare: {{step: command, settings: {{run: [{sys.executable}, say.py, '{{folder}}']}}}}\n"
        "steps:\n"
        f"  - step: command\n    settings: {{run: [{sys.executable}, say.py, '{{out}}', '{{page}}']}}\n"
        "  - step: talking:create\n"
    )
    ended = repository.allot("run", "c")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    everything = said(repository)
    assert SECRET not in everything + ended.stdout + ended.stderr
    for words in ("child •••", "errors •••", "raw •••"):
        assert words in everything
    assert everything.count("out •••") == everything.count("err •••") == 2
    assert not repository.processes()


def test_what_a_gang_prints_is_masked_to_its_last_line(repository: Repository) -> None:
    (repository.root / "gangs").mkdir()
    (repository.root / "gangs" / "train.yaml").write_text(
        f"command: [{sys.executable}, say.py, '.']\nworkers: 1\ngpu: {{cpu: 1}}\n{ENV}"
    )
    ended = repository.allot("run", "train")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    everything = said(repository)
    assert SECRET not in everything
    assert "out •••" in everything
    assert "the program ended with exit code 0" in everything


def test_a_worker_that_is_killed_leaves_nobody_who_masks(repository: Repository) -> None:
    (repository.root / "fleets").mkdir()
    (repository.root / "fleets" / "web.yaml").write_text(
        f"command: [sh, -c, 'echo out $TOKEN; exec sleep 600']\ngpu: {{cpu: 1}}\n{ENV}"
    )
    engine = repository.start("run", "web")
    assert eventually(lambda: "out •••" in said(repository))
    engine.kill()
    engine.wait(30)
    assert eventually(lambda: not repository.processes())
    assert SECRET not in said(repository)
    assert not repository.taken()
