"""The command that compares: what it says and how it ends, for folders that are whole, partial or broken."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.conformance import __main__ as command
from tests.conformance.floors import FILE, read_floors
from tests.conformance.suites import SUITES

RUN = {
    "envType": "stored",
    "expression": "device.driver == 'a'",
    "features": {"consumableCapacity": True},
    "device": {"driver": "a"},
    "name": "by driver",
}
RIGHT = {"listTypeAttributes": False, "outputType": "bool", "match": True, "actualCost": 3}
FLOORS = {suite.name: 100.0 for suite in SUITES}

Call = Callable[..., Result]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Calls the command for a folder with one case, whose answer is that of ``RIGHT`` and ``cases``."""

    def called(*arguments: str, known: str = "", floor: float = 100.0, **differing: object) -> Result:
        data = tmp_path / "data"
        (data / "cel").mkdir(parents=True, exist_ok=True)
        case = RUN | {"actual": [RIGHT | differing]}
        cases = json.dumps({"cases": [case], "feature_combinations": []})
        (data / "cel" / "cel_cases.json").write_text(cases)
        rates = "\n".join(f'"{name}" = {rate}' for name, rate in (FLOORS | {"cel/cases": floor}).items())
        floors = tmp_path / "conformance.toml"
        floors.write_text(f"[floors]\n{rates}\n{known}")
        words = ["--data", str(data), "--floors", str(floors), *arguments]
        return CliRunner().invoke(command.main, words)

    monkeypatch.delenv("ALLOT_CONFORMANCE", raising=False)
    return called


@pytest.fixture
def estimate(call: Call) -> int:
    """What Allotment estimates for the one expression; the folder is made right with it."""
    told = json.loads(call("-o", "json").stdout)
    (difference,) = told["suites"][0]["differences"]
    assert difference["feature"] == "estimate"
    return int(difference["found"])


def test_a_folder_that_agrees(call: Call, estimate: int) -> None:
    ended = call(maxCost=estimate)
    assert ended.exit_code == 0
    assert ended.stdout.splitlines()[-1] == "5 of 5 agree"
    assert "cel/cases" in ended.stdout
    assert "not in the folder: cel/cel_cases_extra.json" in ended.stdout


def test_a_difference_is_below_the_floor(call: Call, estimate: int) -> None:
    ended = call("--failures", "1", maxCost=estimate, match=False)
    assert ended.exit_code == 1
    assert "cel/cases is below its floor: 60%, not 100%" in ended.stdout
    assert "  expected  False\n  found     True\n" in ended.stdout
    assert ended.stdout.splitlines()[-1] == "3 of 5 agree"


def test_a_lower_floor_holds_a_difference(call: Call, estimate: int) -> None:
    assert call(maxCost=estimate, match=False, floor=60).exit_code == 0
    assert call(maxCost=estimate, match=False, floor=60.1).exit_code == 1


KNOWN = '[[known]]\nsuite = "cel/cases"\ncase = "by driver lists=False [0]"\nreason = "the moon is full"\n'


def test_a_known_difference_is_told_with_its_reason(call: Call, estimate: int) -> None:
    ended = call(known=KNOWN, maxCost=estimate, match=False)
    assert ended.exit_code == 0
    assert ended.stdout.splitlines()[-1] == "3 of 5 agree"
    assert "known to differ: cel/cases by driver lists=False [0]: the moon is full" in ended.stdout
    assert "not known" not in ended.stdout


def test_a_known_difference_does_not_hide_another(call: Call, estimate: int) -> None:
    ended = call(known=KNOWN, maxCost=estimate + 1, match=False)
    assert ended.exit_code == 1
    assert "cel/cases is below its floor: 66.66%, not 100%" in ended.stdout


def test_a_known_difference_that_has_gone_is_told(call: Call, estimate: int) -> None:
    ended = call(known=KNOWN, maxCost=estimate)
    assert ended.exit_code == 0
    assert "agrees now, take it out of conformance.toml: cel/cases by driver" in ended.stdout


def test_files_that_nothing_reads_are_named(call: Call, tmp_path: Path) -> None:
    (tmp_path / "data" / "moon").mkdir(parents=True)
    (tmp_path / "data" / "moon" / "moon_cases.json").write_text("{}")
    (tmp_path / "data" / "README.md").write_text("what this is")
    ended = call()
    assert "not read by this version: moon/moon_cases.json\n" in ended.stdout


def test_several_processes_share_a_suite(call: Call, tmp_path: Path, estimate: int) -> None:
    run = {"expression": "true", "outputType": "bool", "maxCost": 0, "evals": []}
    runs = [{"envType": "stored", "features": {}, "results": [run] * 9}]
    path = tmp_path / "data" / "cel" / "cel_cases_extra.json"
    path.write_text(json.dumps({"devices": [], "runs": runs}))
    told = json.loads(call("-o", "json", maxCost=estimate).stdout)
    assert {each["suite"]: (each["pass"], each["fail"]) for each in told["suites"]} == {
        "cel/cases": (5, 0),
        "cel/extra": (18, 0),
    }


def test_a_file_without_cases_is_named(tmp_path: Path) -> None:
    (tmp_path / "dra").mkdir()
    (tmp_path / "dra" / "dra_fuzz_cases.jsonl.gz").write_bytes(gzip.compress(b""))
    ended = CliRunner().invoke(command.main, ["--data", str(tmp_path)])
    assert ended.exit_code == 2
    assert "dra_fuzz_cases.jsonl.gz holds no case of dra/scenarios" in ended.output


def test_a_file_of_two_suites_is_named_once_where_it_is_missing(call: Call, estimate: int) -> None:
    (line,) = [each for each in call(maxCost=estimate).output.split("\n\n") if "not in the folder" in each]
    assert line.count("slices") == 1


def test_a_folder_without_a_known_file(tmp_path: Path) -> None:
    ended = CliRunner().invoke(command.main, ["--data", str(tmp_path)])
    assert ended.exit_code == 1
    assert "has none of the files that are read" in ended.stderr
    assert ended.stdout.splitlines()[-1] == "0 of 0 agree"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("cel/cel_cases.json", b"{", "cel_cases.json is not JSON: "),
        ("cel/cel_cases.json", b"\xff", "cel_cases.json cannot be read: "),
        ("cel/cel_cases.json", b"[]", "cel_cases.json is not what the suite cel/cases reads: TypeError"),
        ("cel/cel_cases.json", b'{"cases": [{}]}', "reads: KeyError: 'actual' (cel.py:"),
        ("cel/cel_cases_extra.json", b"{", "cel_cases_extra.json is not JSON: "),
        ("dra/dra_fuzz_cases.jsonl.gz", b"{", "dra_fuzz_cases.jsonl.gz cannot be read: Not a gzipped file"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    path = tmp_path / name
    path.parent.mkdir()
    path.write_bytes(content)
    ended = CliRunner().invoke(command.main, ["--data", str(tmp_path)])
    assert ended.exit_code == 2
    assert words in ended.stderr
    assert ended.stdout == ""


@pytest.mark.parametrize(
    ("floors", "words"),
    [
        ("[floors", "conformance.toml cannot be read: "),
        ("[floors]\nmoon = 1\n", "for the suite"),
        ("floors = 1\n", "floors must be a table"),
        ("[floors]\nslices = 101\n", "must be a number from 0 to 100, not 101"),
        ("[floors]\nslices = true\n", "must be a number from 0 to 100, not True"),
        ("[[known]]\nsuite = 1\n", "must be a table of texts"),
        ('[[known]]\nsuite = "slices"\ncase = "a"\n', "has suite, case, reason and perhaps feature"),
        ('[[known]]\nsuite = "moon"\ncase = "a"\nreason = "b"\n', "is of no suite: 'moon'"),
        ('[[known]]\nsuite = "slices"\ncase = "a"\nreason = " "\n', "needs one line that says why"),
    ],
)
def test_floors_that_cannot_be_used(tmp_path: Path, floors: str, words: str) -> None:
    path = tmp_path / "conformance.toml"
    rates = "".join(f'"{name}" = {rate}\n' for name, rate in FLOORS.items())
    path.write_text(floors if "floors" in floors else f"[floors]\n{rates}{floors}")
    ended = CliRunner().invoke(command.main, ["--data", str(tmp_path), "--floors", str(path)])
    assert ended.exit_code == 2
    assert words in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "no folder is named; name the folder of cases: make conformance DATA=folder"),
        (("--data", "no-such-folder"), "no-such-folder is not a folder"),
        (("--data", ".", "--only", "moon"), "'moon' is not one of 'cel'"),
        (("--data", ".", "--failures", "many"), "'many' is not a valid integer"),
    ],
)
def test_a_wrong_call(arguments: tuple[str, ...], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ALLOT_CONFORMANCE", raising=False)
    ended = CliRunner().invoke(command.main, list(arguments))
    assert ended.exit_code == 2
    assert words in ended.stderr


def test_every_suite_can_be_loaded_and_has_a_floor() -> None:
    assert len({suite.name for suite in SUITES}) == len(SUITES)
    assert all(callable(suite.load()) for suite in SUITES)
    read_floors(FILE, (suite.name for suite in SUITES))
