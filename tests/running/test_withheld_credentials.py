"""Programs that have no business with the bucket do not get its credentials, and nothing shows them."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from allotment.running.withheld import environment_below, secret_values, withhold, without_credentials
from tests.buckets.tiny_s3 import TinyS3
from tests.running.engine.harness import Repository

SECRET = "hardly-a-secret-but-one-all-the-same"
TOKEN = "a-token-of-a-session"
OURS = {
    "AWS_ACCESS_KEY_ID": "AKIDOFTHETEST",
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_SESSION_TOKEN": TOKEN,
    "AWS_REGION": "eu-north-1",
    "LANG": "C.UTF-8",
}
FOUND = "sorted(n for n in os.environ if n.startswith('AWS') and 'BUNDLE' not in n)"
PRINT = f"import os,sys; print({FOUND}, file=sys.stderr)"


@pytest.fixture(autouse=True)
def _nothing_withheld() -> Iterator[None]:
    yield
    withhold("./results")


@pytest.mark.parametrize(
    ("bucket", "left"),
    [
        ("s3://bucket/p", {"AWS_REGION", "LANG"}),
        ("./results", set(OURS)),
        ("file:///results", set(OURS)),
    ],
)
def test_only_a_bucket_with_credentials_has_some_to_withhold(bucket: str, left: set[str]) -> None:
    withhold(bucket)
    assert set(environment_below(OURS)) == set(without_credentials(bucket, OURS)) == left
    assert set(secret_values(bucket, OURS)) == ({SECRET, TOKEN} if left != set(OURS) else set())


def test_what_the_work_itself_asks_for_is_given() -> None:
    withhold("s3://bucket", given=["AWS_PROFILE"])
    assert environment_below({"AWS_PROFILE": "theirs", "AWS_SESSION_TOKEN": "ours"}) == {
        "AWS_PROFILE": "theirs"
    }


@pytest.fixture
def store() -> TinyS3:
    return TinyS3()


@pytest.fixture
def repository(tmp_path: Path, store: TinyS3) -> Iterator[Repository]:
    with store.serving() as endpoint:
        bucket = f"bucket: s3://bucket/here\nbucket_options: {{endpoint: '{endpoint}', allow_http: true}}\n"
        variables = {**OURS, "ALLOT_CACHE": str(tmp_path / "cache")}
        defaults = {"retries": 0}
        yield Repository(tmp_path, 1, 1, bucket=bucket, defaults=defaults, variables=variables).write()


def test_commands_preparations_and_gangs_start_without_them(repository: Repository, store: TinyS3) -> None:
    root = repository.root
    step = f'{{step: command, settings: {{run: [python3, -c, "{PRINT}; exit(3)", "{{page}}", "{{out}}"]}}}}'
    fill = f'{{step: command, settings: {{run: [python3, -c, "{PRINT}", "{{folder}}"]}}}}'
    (root / "pipelines" / "tally.yaml").write_text(f"gpu: {{cpu: 1}}\nprepare: {fill}\nsteps: [{step}]\n")
    (root / "gangs").mkdir()
    (root / "gangs" / "g.yaml").write_text(
        f'command: [python3, -c, "{PRINT}; exit(5)"]\nworkers: 1\ngpu: {{cpu: 1}}\n'
    )
    (root / "tallying.py").write_text("import sys\n")
    assert repository.allot("run", "c", "g").returncode == 1
    logs = {path.name: path.read_text() for path in root.glob("state/engines/*/logs/*.log")}
    assert set(logs) == {"c-0.log", "c-prepare.log", "g-0.log"}
    for name, log in logs.items():
        assert re.search(r"^\['AWS_REGION'\]$", log, re.MULTILINE), (name, log)


def test_a_step_in_the_worker_that_prints_them_prints_them_masked(
    repository: Repository, store: TinyS3
) -> None:
    (repository.root / "tallying.py").write_text(
        "import os\n\ndef create(settings, context):\n    def step(page, earlier):\n"
        "        print(os.environ)\n"
        "        raise RuntimeError(os.environ['AWS_SECRET_ACCESS_KEY'] + ' is refused')\n    return step\n"
    )
    ended = repository.allot("run", "c")
    status = repository.allot("status")
    said = [ended.stdout, ended.stderr, status.stdout, *(data.decode() for data in store.objects.values())]
    said += [path.read_text() for path in repository.root.glob("state/engines/*/logs/*.log")]
    assert [text for text in said if SECRET in text or TOKEN in text] == []
    assert any("••• is refused" in text for text in said)


def test_logs_are_their_users_alone(repository: Repository) -> None:
    repository.allot("run", "c")
    [engine] = repository.root.glob("state/engines/*")
    logs = [engine.parent, engine, engine / "logs", *(engine / "logs").iterdir()]
    assert [oct(stat.S_IMODE(path.stat().st_mode) & 0o077) for path in logs] == ["0o0"] * 4
