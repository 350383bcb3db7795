"""`allot devices lint` as a person meets it."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from allotment.cli import invoke
from allotment.devices.describe import parse_description
from allotment.errors import EXIT_FINE, EXIT_REFUSED, EXIT_USAGE

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run_lint(*words: str) -> tuple[int, str, str]:
        code = invoke(["devices", "lint", *words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run_lint


def dumped(text: str, **changed: str) -> str:
    items = [published.to_dict() for published in parse_description(text).slices]
    whole = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1)
    for old, new in changed.items():
        whole = whole.replace(old, new)
    return whole


def test_a_clean_fleet_has_nothing_odd(run: Run) -> None:
    code, out, _ = run("--describe", "8 x H100-SXM, 1 x A100-40 mig=1g.5gb*7")
    assert (code, out) == (EXIT_FINE, "nothing odd: 2 slices with 15 devices\n")


def test_a_finding_has_place_rule_evidence_and_what_to_do(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "slices.json"
    path.write_text(dumped("1 x L4").replace("23034Mi", "0"))
    code, out, _ = run(str(path))
    first, seen, closing = out.splitlines()
    assert code == EXIT_FINE
    assert first.startswith(f"{path}:")
    assert " warning zero-memory: device `gpu-0`: memory 0 is published" in first
    assert seen == "    gpu-0: NVIDIA L4, memory 0"
    assert closing.startswith("1 warning in 1 slice with 1 device; `allot explain RULE`")
    assert run(str(path), "--strict")[0] == EXIT_REFUSED


def test_a_pipe_is_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    data = dumped("1 x L4").replace("23034Mi", "0").encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    code, out, _ = run("-", "-o", "json")
    told = json.loads(out)
    assert code == EXIT_FINE
    assert told["summary"] == {"errors": 0, "warnings": 1, "notes": 0, "files": 1, "slices": 1, "devices": 1}
    (finding,) = told["findings"]
    assert (finding["file"], finding["rule"]) == ("standard input", "zero-memory")
    assert finding["evidence"] == ["gpu-0: NVIDIA L4, memory 0"]
    assert set(told["rules"]) == {"zero-memory"}


def test_an_error_makes_it_fail(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "slices.json"
    path.write_text(dumped("1 x L4").replace('"gpu-0"', '"GPU 0"'))
    code, out, _ = run(str(path))
    assert code == EXIT_REFUSED
    assert " error api-limit: " in out


@pytest.mark.parametrize("words", [["missing.yaml"], ["-", "--describe", "1 x L4"], ["--unknown"]])
def test_wrong_calls(run: Run, words: list[str]) -> None:
    assert run(*words)[0] == EXIT_USAGE


def test_this_machine_is_looked_at_without_a_file(run: Run) -> None:
    code, out, _ = run()
    assert code == EXIT_FINE
    assert "slice" in out


def test_slices_are_held_to_a_version_of_kubernetes(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "slices.json"
    path.write_text(dumped("1 x H100-SXM mig=on-demand"))
    assert "gated-field" not in run(str(path), "--kubernetes", "1.36")[1]
    code, out, _ = run(str(path), "--kubernetes", "v1.35.2", "--strict")
    assert code == EXIT_REFUSED
    assert "Kubernetes 1.35 takes `sharedCounters` out" in out


def test_what_is_no_version_is_refused(run: Run) -> None:
    code, _, told = run("--kubernetes", "newest")
    assert code == EXIT_USAGE
    assert "newest is no version of Kubernetes" in told


def test_a_file_is_named_as_by_other_commands(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "slices.json"
    path.write_text(dumped("1 x L4"))
    assert run("--devices", str(path)) == run(str(path))


def test_a_named_pipe_is_read(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(dumped("1 x L4"),))
    writer.start()
    code, out, _ = run(str(path))
    writer.join()
    assert (code, out) == (EXIT_FINE, "nothing odd: 1 slice with 1 device\n")


def test_the_empty_device_is_an_empty_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    assert run(os.devnull)[0] == run(str(tmp_path / "empty"))[0]
    assert "not-a-file" not in run(os.devnull)[1]


@pytest.mark.parametrize(("version", "nearest"), [("1.30", "1.34"), ("1.38", "1.37")])
def test_a_version_that_is_not_known_is_decided_as_the_nearest_and_said(
    version: str, nearest: str, run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "slices.json"
    path.write_text(dumped("1 x L4"))
    code, out, _ = run(str(path), "--kubernetes", version)
    assert code == EXIT_FINE
    told = f"Kubernetes {version} is not known here, only 1.34 to 1.37; decided as {nearest}"
    assert f" warning unknown-kubernetes: {told}" in out.splitlines()[0]
    assert run(str(path), "--kubernetes", version, "--strict")[0] == EXIT_REFUSED
    assert run(str(path), "--kubernetes", nearest, "--strict")[0] == EXIT_FINE


def test_a_field_that_a_server_takes_out_is_told_once_an_object(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "slices.json"
    path.write_text(dumped("1 x H100-SXM mig=on-demand"))
    found = json.loads(run(str(path), "--kubernetes", "1.35", "-o", "json")[1])["findings"]
    (devices,) = [each for each in found if "consumesCounters" in each["message"]]
    assert " places of this object)" in devices["message"]
    assert len(devices["evidence"]) == 8
    assert devices["evidence"][-1].startswith("… and ")


def test_a_list_without_a_list_is_an_error(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "list.yaml"
    path.write_text("{apiVersion: v1, kind: List, items: 5}\n")
    code, out, _ = run(str(path))
    assert code == EXIT_REFUSED
    assert " error no-object: `items` of a list of objects is no list" in out
