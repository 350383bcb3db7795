"""`allot devices lint` as a person meets it."""

from __future__ import annotations

import io
import json
import sys
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
