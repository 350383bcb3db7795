"""The example of each way to share a card checks clean, prints what is stored, and Kubernetes takes it."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from allotment.cli import invoke
from allotment.devices.validation import Server, validate
from allotment.needs.ways import WAYS

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "ways"
CALLS = {
    line.split()[2]: shlex.split(line)[1:]
    for line in (EXAMPLES / "README.md").read_text().splitlines()
    if line.startswith("    allot claim ")
}
VERSIONS = ("1.34", "1.35", "1.36", "1.37")  # resource.k8s.io/v1 is there from 1.34 on


@pytest.fixture(autouse=True)
def there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.delenv("ALLOT_PLATFORM", raising=False)


def stored(way: str) -> dict[str, Any]:
    value = yaml.safe_load((EXAMPLES / "manifests" / f"{way}.yaml").read_text())
    assert isinstance(value, dict)
    return value


def test_every_way_has_a_pipeline_a_campaign_and_a_manifest() -> None:
    assert list(CALLS) == list(WAYS)
    for way in WAYS:
        for path in (f"pipelines/{way}.yaml", f"campaigns/{way}-books.yaml", f"manifests/{way}.yaml"):
            assert (EXAMPLES / path).is_file()


def test_nothing_is_wrong_with_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["check", "--strict"]) == 0
    assert "7 pipelines and 7 campaigns are right" in capsys.readouterr().out


def test_without_the_measurement_the_four_that_need_it_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    (tmp_path / "measured.yaml").unlink()
    monkeypatch.chdir(tmp_path)
    assert invoke(["check", "mps", "fraction", "whole"]) == 1
    told = [line.split()[0] for line in capsys.readouterr().out.splitlines() if " not-measured: " in line]
    assert [each.partition(":")[0] for each in told] == ["pipelines/fraction.yaml", "pipelines/mps.yaml"]


@pytest.mark.parametrize("way", WAYS)
def test_the_manifest_is_the_one_that_is_stored(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(CALLS[way]) == 0
    assert capsys.readouterr().out == (EXAMPLES / "manifests" / f"{way}.yaml").read_text()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("way", WAYS)
def test_kubernetes_takes_what_is_made_for_its_version(
    way: str, version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = list(CALLS[way])
    place = words.index("--platform") + 1
    platform = yaml.safe_load(Path(words[place]).read_text())
    platform["versions"]["kubernetes"] = version
    words[place] = str(tmp_path / "cluster.yaml")
    Path(words[place]).write_text(yaml.safe_dump(platform))
    assert invoke(words) == 0
    value = yaml.safe_load(capsys.readouterr().out)
    assert kubernetes_validate.validate(value, version, strict=True) == version
    verdict = validate(value["kind"], value, server=Server.of(version))
    assert verdict.problems == ()
    if version >= "1.36":
        assert verdict.dropped == ()


def test_a_field_that_kubernetes_does_not_know_would_be_found() -> None:
    value = stored("whole")
    value["spec"]["spec"]["devices"]["wishes"] = []
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(value, "1.36", strict=True)


@pytest.mark.parametrize("way", WAYS)
def test_what_it_costs_in_isolation_is_said_in_plain_words(way: str) -> None:
    text = (EXAMPLES / "manifests" / f"{way}.yaml").read_text()
    assert (WAYS[way].keeps_apart in text) is (way != "whole")
    assert ("not kept apart in hardware" in text) is WAYS[way].measured
