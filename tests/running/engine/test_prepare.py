"""`prepare` by `allot run`: once for a recipe, no device held, killed at will, told once when it fails."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.running.engine.harness import Repository, eventually

MODELS = """
import os, time

def fetch(settings, context):
    with open("prepared", "a") as file:
        file.write(f"{os.getpid()} {os.environ.get('TOKEN', '')}\\n")
    if settings.get("fails"):
        raise RuntimeError("the hub does not answer " + os.environ.get("TOKEN", ""))
    if settings.get("bad"):
        from allotment.running.prepare import PrepareSettingsError
        raise PrepareSettingsError("there is no model of that name")
    if settings.get("hang"):
        while not os.path.exists("go-on"):
            time.sleep(0.01)
    (context.folder / "deep").mkdir()
    (context.folder / "deep" / "weights").write_text("w" * 100)

def create(settings, context):
    weights = (context.cache / "deep" / "weights").read_text()
    return lambda page, earlier: {"txt": f"{len(weights)} {context.cache}".encode()}
"""


def repository(
    folder: Path, settings: str = "{}", env: str = "", retries: int = 1, volumes: int = 2
) -> Repository:
    made = Repository(
        folder, volumes=volumes, pages=2, defaults={"retries": retries, "grace_seconds": 5}
    ).write()
    (folder / "models.py").write_text(MODELS)
    (folder / "pipelines" / "tally.yaml").write_text(
        f"gpu: {{cpu: 1}}\n{env}prepare: {{step: 'models:fetch', settings: {settings}}}\n"
        "steps:\n  - step: models:create\n"
    )
    os.environ["ALLOT_CACHE"] = str(folder / "cache")
    return made


@pytest.fixture(autouse=True)
def _cache_of_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOT_CACHE", "to be set")


def times_prepared(made: Repository) -> int:
    path = made.root / "prepared"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_a_recipe_is_prepared_once_and_its_steps_get_the_folder(tmp_path: Path) -> None:
    made = repository(tmp_path)
    made.campaign("d", range(1))
    ended = made.allot("run", "c", "d")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert times_prepared(made) == 1
    assert all(data.startswith(b"100 ") for key, data in made.outputs().items() if key.endswith(".txt"))
    (made.root / "again").mkdir()
    os.environ["ALLOT_CACHE"] = str(tmp_path / "another")
    made.campaign("e", range(2))
    os.unlink(next(tmp_path.rglob("manifest.json")))
    assert made.allot("run", "e").returncode == 0
    assert times_prepared(made) == 1, "another machine fetches what was made"


def test_no_device_is_held_while_it_prepares_and_a_kill_is_harmless(tmp_path: Path) -> None:
    made = repository(tmp_path, "{hang: true}")
    engine = made.start("run", "c")
    assert eventually(lambda: times_prepared(made) == 1)
    assert made.taken() == []
    assert eventually(lambda: "preparing" in made.allot("status", "c").stdout)
    os.kill(made.workers(engine.pid)[0], signal.SIGKILL)
    assert eventually(lambda: times_prepared(made) == 2), "it is begun anew"
    engine.kill()
    engine.wait(timeout=30)
    assert eventually(lambda: not made.processes())
    (tmp_path / "go-on").touch()
    ended = made.allot("run", "c")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert times_prepared(made) == 3


@pytest.mark.parametrize(
    ("settings", "times", "said"),
    [
        ("{fails: true}", 2, "the hub does not answer •••; this was the last attempt that is allowed"),
        ("{bad: true}", 1, "prepare models:fetch: there is no model of that name"),
    ],
)
def test_a_failure_stops_the_campaign_and_is_told_once(
    tmp_path: Path, settings: str, times: int, said: str
) -> None:
    secrets = tmp_path / "secrets" / "hub"
    secrets.mkdir(parents=True)
    (secrets / "token").touch(mode=0o600)
    (secrets / "token").write_text("s3cr3t-token\n")
    made = repository(tmp_path, settings, "env:\n  TOKEN: {secret: hub, key: token}\n")
    os.environ["ALLOT_SECRETS"] = str(tmp_path / "secrets")
    try:
        ended = made.allot("run", "c")
    finally:
        del os.environ["ALLOT_SECRETS"]
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "could not be prepared" in ended.stdout
    assert said in ended.stdout
    assert times_prepared(made) == times
    assert "s3cr3t-token" in (tmp_path / "prepared").read_text()
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.name not in {"prepared", "token"}:
            assert b"s3cr3t-token" not in path.read_bytes(), path
    assert made.taken() == []


def test_stop_ends_a_preparation(tmp_path: Path) -> None:
    made = repository(tmp_path, "{hang: true}")
    engine = made.start("run", "c")
    assert eventually(lambda: times_prepared(made) == 1)
    assert made.allot("stop", "c").returncode == 0
    assert engine.wait(timeout=30) == 130
    assert made.processes() == []


def test_a_stop_that_a_preparation_makes_another_error_of_is_still_a_stop(tmp_path: Path) -> None:
    made = repository(tmp_path, "{hang: true}")
    wrapped = MODELS.replace("            time.sleep(0.01)\n", "            wait()\n")
    wait = "def wait():\n    try:\n        time.sleep(60)\n    except BaseException as error:\n"
    (tmp_path / "models.py").write_text(f"{wrapped}\n{wait}        raise ImportError('broken') from error\n")
    engine = made.start("run", "c")
    assert eventually(lambda: times_prepared(made) == 1)
    assert made.allot("stop", "c").returncode == 0
    assert engine.wait(timeout=30) == 130
    said = (tmp_path / "output.log").read_text()
    assert "could not be prepared" not in said, said


def test_what_a_program_said_last_is_told_and_all_of_it_is_found_by_the_campaigns_name(
    tmp_path: Path,
) -> None:
    made = repository(tmp_path, retries=0)
    script = "echo first; echo the hub is closed >&2; (sleep 600 &) ; exit 3"
    (tmp_path / "pipelines" / "tally.yaml").write_text(
        "gpu: {cpu: 1}\n"
        f"prepare: {{step: command, settings: {{run: [sh, -c, '{script}', '{{folder}}']}}}}\n"
        "steps:\n  - step: models:create\n"
    )
    made.campaign("d", range(1))
    ended = made.allot("run", "c")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "the program `sh` ended with exit code 3: first | the hub is closed" in ended.stdout
    assert f"(its log: {tmp_path}/state/engines/" in ended.stdout
    assert "c waits" not in ended.stdout[ended.stdout.index("c stopped") :]
    for name in ("c", "d"):
        shown = made.allot("logs", name)
        assert "the hub is closed\n" in shown.stdout
        assert shown.stderr.endswith("/logs/c-prepare.log\n")
    assert not made.processes()
