"""`allot run` and the commands beside it, as a person uses them: real processes, real pages."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.running.engine.harness import Repository, eventually


def broken_step(repository: Repository) -> None:
    """A step that fails until a file named `mended` is there."""
    (repository.root / "tallying.py").write_text(
        "import os\n"
        "def create(settings, context):\n"
        "    def step(page, earlier):\n"
        "        if not os.path.exists('mended'):\n"
        "            raise RuntimeError('the model is not there')\n"
        "        return {'txt': page.data}\n"
        "    return step\n"
    )


def test_a_campaign_runs_to_its_end_and_a_second_run_does_nothing(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=2, pages=3).write()
    first = repository.allot("run", "campaigns/c.yaml")
    assert first.returncode == 0, first.stderr
    assert "c finished: 2 of 2 volumes complete, 6 pages in this run" in first.stdout
    assert first.stderr == ""
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "results").rglob("pages/*")}
    second = repository.allot("run", "c")
    assert second.returncode == 0
    assert "nothing left to do, 2 volumes complete" in second.stdout
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "results").rglob("pages/*")} == before
    assert repository.repeated() == 0


def test_a_campaign_is_found_by_its_file_from_anywhere(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=1, pages=1).write()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    repository.root = tmp_path
    ended = repository.allot("run", str(tmp_path / "campaigns" / "c.yaml"))
    assert ended.returncode == 0, ended.stderr
    assert len(repository.manifests()) == 1


def test_a_failed_volume_waits_for_retry_and_then_goes_on(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=2, pages=2, defaults={"retries": 0}).write()
    broken_step(repository)
    failed = repository.allot("run", "c")
    assert failed.returncode == 1
    assert "2 volumes failed" in failed.stdout
    assert "the model is not there" in failed.stdout
    assert "Traceback" not in failed.stdout + failed.stderr
    shown = repository.allot("results", "c").stdout
    assert "why: every page failed, page 0001: step tallying: RuntimeError: the model is not there" in shown
    listed = json.loads(repository.allot("results", "c", "-o", "json").stdout)["volumes"]
    assert {(volume["reason"], volume["state"]) for volume in listed} == {("all-pages-failed", "failed")}
    (tmp_path / "mended").touch()
    assert repository.allot("run", "c").returncode == 1, "a failure is remembered until somebody asks"
    assert "2 volumes will be tried again" in repository.allot("retry", "c").stdout
    mended = repository.allot("run", "c")
    assert mended.returncode == 0, mended.stdout
    assert "nothing has failed" in repository.allot("retry", "c").stdout


def test_a_campaign_whose_first_volumes_all_fail_alike_is_stopped(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=9, pages=1, window="2", defaults={"retries": 0}).write()
    broken_step(repository)
    ended = repository.allot("run", "c")
    assert ended.returncode == 1
    assert "its first 3 volumes all failed alike" in ended.stdout
    view = json.loads(repository.allot("status", "c", "-o", "json").stdout)["campaigns"][0]
    assert sum(volume["state"] == "failed" for volume in view["volumes"]) <= 4
    assert view["state"] == "stopped"


def test_a_need_that_this_machine_never_meets_is_refused_before_anything_starts(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=1, pages=1).write()
    (tmp_path / "pipelines" / "tally.yaml").write_text(
        "gpu: {memory: 4000Gi}\nsteps:\n  - step: tallying:create\n"
    )
    ended = repository.allot("run", "c")
    assert ended.returncode == 1
    assert "pipelines/tally.yaml:1:" in ended.stderr
    assert "never-fits: nothing on this machine will ever do" in ended.stderr
    assert not (tmp_path / "results").exists()


def test_a_fallback_is_taken_when_there_is_no_such_card(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=1, pages=1).write()
    (tmp_path / "pipelines" / "tally.yaml").write_text(
        "gpu: {memory: 4000Gi, fallback: [{cpu: 1}]}\nsteps:\n  - step: tallying:create\n"
    )
    assert repository.allot("run", "c").returncode == 0


def test_whoever_changes_the_scans_of_a_complete_volume_hears_of_it(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=2, pages=2).write()
    assert repository.allot("run", "c").returncode == 0
    (tmp_path / "scans" / "v0" / "p000.txt").write_text("other words, and more of them")
    (tmp_path / "scans" / "v0" / "p009.txt").write_text("one more page")
    again = repository.allot("run", "c")
    assert again.returncode == 0
    assert "c/v0 warning: its folder scans/v0 has other files now" in again.stdout
    assert "(1 new, 1 changed)" in again.stdout
    assert "c/v1 warning" not in again.stdout
    assert "1 new, 1 changed" in repository.allot("results", "c").stdout


def test_another_folder_under_the_name_of_a_complete_volume_is_noticed(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=2, pages=2).write()
    assert repository.allot("run", "c").returncode == 0
    (tmp_path / "campaigns" / "d.yaml").write_text(
        "pipeline: tally\nvolumes:\n  - {id: v0, folder: scans/v1}\n"
    )
    (tmp_path / "scans" / "v1" / "p001.txt").write_text("words that differ")
    assert "d/v0 warning: its folder scans/v1 has other files" in repository.allot("run", "d").stdout


def test_pages_that_cannot_be_read_are_told_of_ever_after(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=1, pages=3).write()
    (tmp_path / "tallying.py").write_text(
        "from allotment.running.steps import PageRefused\n"
        "def create(settings, context):\n"
        "    def step(page, earlier):\n"
        "        if page.number == 2:\n"
        "            raise PageRefused('it is torn')\n"
        "        return {'txt': page.data}\n"
        "    return step\n"
    )
    first = repository.allot("run", "c")
    assert first.returncode == 0
    for said in (first.stdout, repository.allot("run", "c").stdout, repository.allot("status", "c").stdout):
        assert "1 page could not be read" in said
    shown = repository.allot("results", "c").stdout
    assert "could not be read: 0002 (p001.txt): it is torn" in shown
    assert "of each page: tallying.txt" in shown
    (listed,) = json.loads(repository.allot("results", "c", "-o", "json").stdout)["volumes"]
    failed = {"page": "0002", "source": "p001.txt", "reason": "refused", "message": "it is torn"}
    assert (listed["state"], listed["failed_pages"]) == ("complete", [failed])
    assert all(key.endswith("tallying.txt") for key in listed["outputs"])
    for words in (("retry", "c"), ("retry", "c", "v0")):
        told = repository.allot(*words)
        assert told.returncode == 0
        assert "v0 is complete, but for 1 page; it is not read again" in told.stdout
        assert "give them to a volume with a new id" in told.stdout


def test_below_a_repository_it_is_said_where_the_repository_is(tmp_path: Path) -> None:
    Repository(tmp_path, volumes=1, pages=1).write()
    ended = Repository(tmp_path / "scans").allot("status")
    assert ended.returncode == 2
    assert "add -C .." in ended.stderr


def test_stop_ends_a_run_after_the_page_in_flight_and_the_next_run_goes_on(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=4, pages=20, seconds=0.05).write()
    engine = repository.start("run", "c")
    assert eventually(lambda: len(repository.executions()) > 3)
    stopped = repository.allot("stop", "c")
    assert stopped.returncode == 0, stopped.stderr
    assert engine.wait(timeout=60) == 130
    assert repository.repeated() == 0
    assert "stopped" in repository.allot("status", "c").stdout
    assert repository.allot("stop", "c").returncode == 1
    assert repository.allot("run", "c").returncode == 0
    assert repository.repeated() == 0


def test_two_campaigns_share_by_lane_and_stop_takes_one_of_them(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=8, pages=10, seconds=0.05, window="1").write()
    repository.campaign("a", range(4))
    repository.campaign("b", range(4, 8), extra="priority: interactive\n")
    engine = repository.start("run", "a", "b")
    assert eventually(lambda: len(repository.executions()) > 3)
    first = repository.executions()[0].volume
    if len(os.sched_getaffinity(0)) == 1:
        assert first in {"v4", "v5", "v6", "v7"}, "the lane of higher value goes first"
    assert repository.allot("stop", "a").returncode == 0
    assert engine.wait(timeout=60) == 130
    done = json.loads(repository.allot("status", "-o", "json").stdout)["campaigns"]
    states = {view["name"]: view["state"] for view in done}
    assert states["b"] == "finished"
    assert states["a"] == "stopped"


def test_suspend_in_the_file_holds_a_campaign_until_the_file_says_false(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=3, pages=20, seconds=0.05).write()
    engine = repository.start("run", "c")
    assert eventually(lambda: len(repository.executions()) > 3)
    repository.campaign("c", range(3), extra="suspend: true\n")
    assert engine.wait(timeout=60) == 0
    assert "suspended" in repository.allot("status", "c").stdout
    held = repository.allot("run", "c")
    assert (held.returncode, "suspended" in held.stdout) == (0, True)
    assert "go on with: `suspend: false` in campaigns/c.yaml, then allot run c" in held.stdout
    repository.campaign("c", range(3))
    assert repository.allot("run", "c").returncode == 0
    assert repository.repeated() == 0


def test_a_changed_window_holds_while_it_runs(tmp_path: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor runs one volume at once, whatever the window")
    repository = Repository(tmp_path, volumes=4, pages=12, seconds=0.05, window="1").write()
    engine = repository.start("run", "c")
    assert eventually(lambda: len(repository.executions()) > 3)
    assert len({run.pid for run in repository.executions()}) == 1
    repository.window = "2"
    repository.campaign("c", range(4))
    assert engine.wait(timeout=60) == 0
    runs = [run for run in repository.executions() if run.ended is not None]
    assert any(
        one.pid != other.pid and one.begun < other.begun < (one.ended or 0.0)
        for one in runs
        for other in runs
    )


def test_interrupted_once_it_finishes_its_pages_and_twice_it_ends_at_once(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=2, pages=4, seconds=30).write()
    engine = repository.start("run", "c")
    assert eventually(lambda: len(repository.executions()) > 0)
    engine.send_signal(signal.SIGINT)
    assert eventually(lambda: "once more ends at once" in (tmp_path / "output.log").read_text())
    engine.send_signal(signal.SIGINT)
    assert engine.wait(timeout=20) == 130
    assert eventually(lambda: not repository.processes())
    assert eventually(lambda: not repository.taken())


def test_packed_volumes_load_their_steps_once(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=6, pages=2, pack=3).write()
    assert repository.allot("run", "c").returncode == 0
    assert len(repository.manifests()) == 6
    assert len({run.pid for run in repository.executions()}) == 2


def test_logs_and_results_show_what_there_is(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=2, pages=2).write()
    before = repository.allot("logs", "v0")
    assert (before.returncode, "has not been started yet" in before.stderr) == (1, True)
    assert "nothing yet" in repository.allot("results", "c").stdout
    repository.allot("run", "c")
    assert "is complete" in repository.allot("logs", "v0").stdout
    shown = repository.allot("results", "c").stdout
    assert "v0 complete: 2 pages in results/" in shown
    assert "volume 1 page 0 åäö" in repository.allot("results", "c", "v1", "--text").stdout
    listed = json.loads(repository.allot("results", "c", "-o", "json").stdout)
    for volume in listed["volumes"]:
        assert all((tmp_path / "results" / key).is_file() for key in volume["outputs"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run",), "no campaign is named"),
        (("run", "d"), "known: `c`"),
        (("run", "pipelines/tally.yaml"), "is no campaign's file"),
        (("logs", "v9"), "no campaign has a volume `v9`"),
        (("logs", "v0", "--campaign", "nope"), "known: `c`"),
        (("results", "c", "v9"), "campaign `c` has no volume `v9`"),
        (("retry", "c", "v9"), "campaign `c` has no volume `v9`"),
        (("status", "--platform", "nope.yaml"), "there is no platform file at nope.yaml"),
        (("run", "c", "--team", "nope"), "has no team `nope`"),
    ],
)
def test_a_wrong_call_is_refused_in_words(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    repository = Repository(tmp_path, volumes=1, pages=1).write()
    ended = repository.allot(*words)
    assert ended.returncode == 2, ended.stdout
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


def test_outside_a_repository_every_command_says_so(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    for words in (("run", "c"), ("status",), ("stop",), ("results", "c")):
        ended = repository.allot(*words)
        assert ended.returncode == 2
        assert "no repository of campaigns" in ended.stderr


def test_a_broken_file_starts_nothing(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=1, pages=1).write()
    with (tmp_path / "campaigns" / "c.yaml").open("a") as file:
        file.write("windw: 3\n")
    ended = repository.allot("run", "c")
    assert ended.returncode == 1
    assert "did you mean `window`?" in ended.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("extra", "where"),
    [
        ("steps: [{step: command, settings: {run: []}}]\n", "pipelines/tally.yaml:2:"),
        (
            "steps: [{step: checksum}]\nprepare: {step: command, settings: {run: [fetch]}}\n",
            "pipelines/tally.yaml:3:",
        ),
    ],
)
def test_what_a_check_calls_an_error_is_not_started(tmp_path: Path, extra: str, where: str) -> None:
    repository = Repository(tmp_path, volumes=1, pages=1).write()
    (tmp_path / "pipelines" / "tally.yaml").write_text(f"gpu: {{cpu: 1}}\n{extra}")
    for command in (("check",), ("run", "c")):
        ended = repository.allot(*command)
        assert ended.returncode == 1
        assert where in ended.stdout + ended.stderr
        assert "error step-settings" in ended.stdout + ended.stderr
    assert not (tmp_path / "results").exists()


def test_a_bucket_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=1, pages=1).write()
    (tmp_path / "results").write_text("not a folder")
    ended = repository.allot("run", "c")
    assert ended.returncode == 3
    assert "results" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_with_json_logs_every_line_is_one_object_and_says_more_than_its_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = Repository(tmp_path, volumes=1, pages=2).write()
    repository.campaign("d", range(1, 2))  # a folder that is not there is a warning
    monkeypatch.setenv("ALLOT_LOG", "json")
    ended = repository.allot("run", "c", "d")
    assert ended.returncode == 1
    said = [json.loads(line) for line in ended.stdout.splitlines()]
    warned = [json.loads(line) for line in ended.stderr.splitlines()]
    assert [(line["level"], line["kind"], line["data"]["rule"]) for line in warned] == [
        ("warning", "finding", "missing-folder")
    ]
    assert all(line["message"] != line.get("kind") for line in said)
    pages = {line["message"] for line in said if line.get("kind") == "page.done"}
    assert pages == {f"c/v0/000{number}: a page's record is in the bucket" for number in (1, 2)}
    first, second = (line for line in said if line.get("kind") == "summary")
    assert first["message"].startswith("c finished: 1 of 1 volume complete")
    assert second["data"] | {"lines": []} == {"volumes": 1, "complete": 0, "failed": 1, "lines": []}
    assert second["id"] == "local/d"
    refused = repository.allot("run", "nobody")
    assert refused.returncode == 2
    assert "there is no such file" in json.loads(refused.stderr)["message"]
    monkeypatch.setenv("ALLOT_LOG", "jsn")
    refused = repository.allot("run", "c")
    assert refused.returncode == 2
    assert "ALLOT_LOG says `jsn`\n  it is `json` or `text`, or not set" in refused.stderr


def test_what_a_changed_recipe_leaves_behind_is_said_until_all_is_done_anew(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=2, pages=1).write()
    assert "recipe" not in repository.allot("run", "c").stdout
    (before,) = (path.name for path in (tmp_path / "results" / "local" / "tally").iterdir())
    repository.seconds = 0.02
    repository.write()
    for words in (("status", "c"), ("results", "c"), ("run", "c")):
        said = repository.allot(*words).stdout
        assert f"2 volumes are complete under recipe {before}; this is recipe " in said, words
    for words in (("status", "c"), ("results", "c"), ("run", "c")):
        assert "under recipe" not in repository.allot(*words).stdout, words
