"""`allot retry` says which command tries again, by where the platform's work runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.buckets.keys import RecipeKeys
from allotment.buckets.once import PatientBucket
from allotment.cli import invoke
from allotment.cli.opened import open_repository
from allotment.errors import EXIT_FINE
from allotment.running.attempts import begin_attempt, end_attempt, read_history
from allotment.running.endings import Ended
from allotment.running.marks import mark_failed

PLATFORMS = {
    "local": "engine: local\nbucket: ./results\n",
    "kubernetes": "engine: kubernetes\nbucket: ./results\nteams: {archive: {namespace: archive}}\n",
}
IMAGE = "registry.example.org/htr/reader@sha256:" + "3f" * 32


def failed_for_good(root: Path, platform: Path) -> None:
    """A volume of the campaign that has failed, as its runner leaves it in the bucket."""
    opened, _ = open_repository(root, platform=platform, team=None, campaigns=["letters"])
    work = opened.work("letters")
    bucket = PatientBucket(opened.bucket(create=True), sleep=lambda _: None)
    keys = RecipeKeys(work.team, work.pipeline, work.recipe).volume("a")
    number = begin_attempt(bucket, keys, read_history(bucket, keys, done=0), done=0, measured={})
    end_attempt(bucket, keys, number, Ended.PERMANENT, reason="torn", message="torn", measured={})
    mark_failed(bucket, keys, number)


@pytest.mark.parametrize(
    ("engine", "command"),
    [("local", "allot run letters"), ("kubernetes", "allot apply --again letters")],
)
def test_what_tries_again_is_the_command_of_the_engine(
    engine: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for place, text in {
        "pipelines/sums.yaml": f"image: {IMAGE}\nsteps: [{{step: checksum}}]\n",
        "campaigns/letters.yaml": "pipeline: sums\nvolumes: [{id: a, folder: scans/a}]\n",
        "there.yaml": PLATFORMS[engine],
    }.items():
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(text)
    platform = tmp_path / "there.yaml"
    failed_for_good(tmp_path, platform)
    words = ["retry", "letters", "-C", str(tmp_path), "--platform", str(platform)]
    assert invoke(words) == EXIT_FINE
    assert capsys.readouterr().out == f"1 volume will be tried again: {command}\n"
