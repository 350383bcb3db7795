"""`allot why`: one sentence first, the funnel, what would help; names and files; text and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from allotment.cli import invoke

FLEET = "2 nodes of 4 x H100-SXM, 4 x L4"
FILES = {
    "pipelines/eighty.yaml": "steps:\n  - step: checksum\ngpu: {memory: 80Gi}\n",
    "pipelines/cut.yaml": "steps:\n  - step: checksum\ngpu: {memory: 9Gi, sharing: mig}\n",
    "pipelines/falls.yaml": "steps:\n  - step: checksum\ngpu: {memory: 80Gi, fallback: [{cpu: 1}]}\n",
    "pipelines/letters.yaml": "steps:\n  - step: checksum\n",
    "campaigns/letters.yaml": "pipeline: eighty\nvolumes:\n  - {id: a, folder: scans}\n",
    "fleets/web.yaml": "command: [sleep, '1']\ngpu: {card: L4, count: 8}\n",
    "gangs/train.yaml": "command: [sleep, '1']\nworkers: 5\ngpu: {card: L4}\n",
    "scans/1.txt": "",
}
CLAIM: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "made-by-hand"},
    "spec": {
        "spec": {
            "devices": {
                "requests": [
                    {
                        "name": "gpu",
                        "exactly": {
                            "deviceClassName": "gpu.nvidia.com",
                            "selectors": [
                                {
                                    "cel": {
                                        "expression": "device.capacity['gpu.nvidia.com'].memory"
                                        ".isGreaterThan(quantity('80Gi'))"
                                    }
                                }
                            ],
                        },
                    }
                ]
            }
        }
    },
}


H100S = "8 x H100-SXM-80: memory is 79.64Gi (81559Mi)"
L4S = "4 x L4: memory is 22.49Gi (23034Mi)"


class Said:
    """Runs `allot why` and keeps what it said."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys
        self.out = self.err = ""

    def __call__(self, *words: str) -> int:
        code = invoke(["why", *words])
        self.out, self.err = self.capsys.readouterr()
        return code


@pytest.fixture
def allot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Said:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ALLOT_PLATFORM", raising=False)
    monkeypatch.setenv("ALLOT_LEDGER", str(tmp_path / "ledger"))
    monkeypatch.setenv("ALLOT_STATE", str(tmp_path / "state"))
    return Said(capsys)


def test_the_sentence_comes_first_then_the_funnel_then_what_helps(allot: Said) -> None:
    assert allot("eighty", "--describe", FLEET) == 0
    assert allot.out.splitlines() == [
        f"eighty: it will never fit here: none of 12 devices have at least 80Gi of memory: {H100S}; {L4S}",
        "  asked for: a card of at least 80Gi (pipeline), of the described fleet",
        "",
        "  12 devices",
        "  12 are whole NVIDIA cards",
        "   0 have at least 80Gi of memory",
        "       -8 H100-SXM-80: memory is 79.64Gi (81559Mi)",
        "       -4 L4: memory is 22.49Gi (23034Mi)",
        "",
        "  what would make it fit (each was tried):",
        "  1. write `memory: 79.64Gi` (asked: at least 80Gi, and no card here has more) -> gpu-0 of node-1",
    ]


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("letters", "campaign", "at least 80Gi"),
        ("pipelines/letters.yaml", "pipeline", "it makes no claim"),
        ("web", "fleet", "8 are asked for, and only 4 would do"),
        ("train", "gang", "5 are to start together, and there is room for 4"),
        ("gangs/train.yaml", "gang", "5 are to start together"),
        ("cut", "pipeline", "none of 12 devices are partitions of cards"),
    ],
)
def test_a_name_is_a_campaign_a_fleet_a_gang_or_a_pipeline(
    allot: Said, name: str, kind: str, says: str
) -> None:
    assert allot(name, "--describe", FLEET) == 0, allot.err
    assert says in allot.out
    allot(name, "--describe", FLEET, "-o", "json")
    (answer,) = json.loads(allot.out)["answers"]
    assert answer["kind"] == kind


def test_what_makes_no_claim_is_told_and_not_explained(allot: Said) -> None:
    assert allot("pipelines/letters.yaml", "--describe", FLEET) == 0
    assert allot.out == "letters: it needs no device: on a cluster it makes no claim\n"


def test_another_way_to_share_is_proposed_where_it_fits(allot: Said) -> None:
    allot("cut", "--describe", FLEET)
    assert "1. write `sharing: whole` (asked: mig), which gives 1 x H100-SXM-80 of 79.64Gi" in allot.out


def test_a_file_of_claims_needs_no_repository(allot: Said, tmp_path: Path) -> None:
    (tmp_path / "claim.yaml").write_text(yaml.safe_dump(CLAIM))
    assert allot("claim.yaml", "--describe", FLEET) == 0, allot.err
    assert "made-by-hand: it will never fit here" in allot.out
    assert "isGreaterThan(quantity('79.64Gi'))` instead of `device.capacity" in allot.out
    assert allot("claim.yaml", "--devices", "claim.yaml") == 0
    assert "there are no cards at all" in allot.out


def test_as_json_each_step_has_its_clause_and_what_it_lost(allot: Said) -> None:
    allot("eighty", "--describe", FLEET, "-o", "json")
    said = json.loads(allot.out)
    assert (said["format_version"], said["world"]) == (1, "the described fleet")
    (answer,) = said["answers"]
    assert (answer["state"], answer["cause"]["kind"]) == ("never", "clause")
    step = answer["alternatives"][0]["funnel"][-1]
    assert (step["stage"], step["left"]) == ("memory", 0)
    assert "compareTo(quantity('80Gi')) >= 0" in step["expression"]
    assert step["lost"][0] == {
        "devices": 8,
        "card": "H100-SXM-80",
        "why": "memory is 79.64Gi (81559Mi)",
        "nodes": ["node-1", "node-2"],
    }
    change = answer["changes"][0]
    assert (change["kind"], change["fits_now"], change["node"]) == ("memory", True, "node-1")


def test_what_is_proposed_can_be_written_into_the_file_and_then_it_fits(allot: Said) -> None:
    Path("pipelines/eighty.yaml").write_text("steps:\n  - step: checksum\ngpu: {memory: 79.64Gi}\n")
    assert allot("eighty", "--describe", FLEET) == 0
    assert allot.out.startswith("eighty: it fits: 8 of 12 devices would do")
    Path("pipelines/cut.yaml").write_text("steps:\n  - step: checksum\ngpu: {memory: 9Gi, sharing: whole}\n")
    assert allot("cut", "--describe", FLEET) == 0
    assert allot.out.startswith("cut: it fits: ")


def test_on_this_machine_a_fallback_to_cores_counts_and_the_run_is_told(allot: Said) -> None:
    assert allot("falls") == 0
    assert allot.out.startswith("falls: it fits: ")
    Path("campaigns/more.yaml").write_text("pipeline: falls\nvolumes:\n  - {id: a, folder: scans}\n")
    Path("platform.yaml").write_text("engine: local\nbucket: ./results\n")
    assert allot("more") == 0, allot.err
    assert "  its run: waiting, 0 of 1 volume" in allot.out


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["eigty"], 2, "did you mean `eighty`?"),
        (["nowhere.yaml"], 2, "there is no file nowhere.yaml"),
        (["platform.yaml"], 1, "this is no API object"),
    ],
)
def test_what_is_not_there_is_refused_with_the_closest(
    allot: Said, words: list[str], code: int, says: str
) -> None:
    Path("platform.yaml").write_text("engine: local\n")
    assert allot(*words, "--describe", FLEET) == code
    assert says in allot.err


def test_text_from_outside_steers_no_terminal(allot: Said, tmp_path: Path) -> None:
    claim = yaml.safe_dump(CLAIM).replace("'80Gi'", "'80Gi') || device.driver == '\\\\x1b[2J'")
    (tmp_path / "claim.yaml").write_text(claim)
    allot("claim.yaml", "--describe", FLEET)
    assert "\x1b" not in allot.out
