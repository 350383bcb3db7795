"""`allot claim`: valid YAML with the answer in comments, text, JSON, and clear refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from allotment.cli import invoke

FLEET = "2 nodes of 8 x H100-SXM, 4 x L4"
PIPELINES = {
    "big": "gpu: {memory: 40Gi}",
    "eighty": "gpu: {memory: 80Gi}",
    "falls": "gpu: {memory: 80Gi, fallback: [{memory: 20Gi}, {cpu: 2}]}",
    "kind": "gpu: {card: large}",
    "plain": "",
    "wrong": "gpu: {card: h100}",
}


class Said:
    """Runs `allot claim` and keeps what it said."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys
        self.out = self.err = ""

    def __call__(self, *words: str) -> int:
        code = invoke(["claim", *words])
        self.out, self.err = self.capsys.readouterr()
        return code


@pytest.fixture
def allot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Said:
    (tmp_path / "pipelines").mkdir()
    for name, gpu in PIPELINES.items():
        (tmp_path / f"pipelines/{name}.yaml").write_text(f"steps:\n  - step: checksum\n{gpu}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ALLOT_PLATFORM", raising=False)
    monkeypatch.setenv("ALLOT_LEDGER", str(tmp_path / "ledger"))
    return Said(capsys)


def platform(engine: str, more: str = "") -> None:
    Path("site.yaml").write_text(
        f"engine: {engine}\ncards:\n  large: {{card: H100-SXM, class: gpu-large}}\n{more}"
    )


def expression(template: dict[str, Any]) -> list[str]:
    exact = template["spec"]["spec"]["devices"]["requests"][0]["exactly"]
    return [each["cel"]["expression"] for each in exact["selectors"]]


def test_the_template_is_yaml_and_what_is_said_stands_in_its_comments(allot: Said) -> None:
    assert allot("big", "--describe", FLEET) == 0
    template = yaml.safe_load(allot.out)
    assert (template["kind"], template["metadata"]["name"]) == ("ResourceClaimTemplate", "big")
    assert expression(template) == [
        "device.capacity['gpu.nvidia.com'].?memory.orValue(quantity('0')).compareTo(quantity('40Gi')) >= 0"
    ]
    said = [line for line in allot.out.splitlines() if line.startswith("#")]
    assert said[:2] == [
        "# big: a card of at least 40Gi",
        "# the described fleet: 16 of 20 devices would do (16 x NVIDIA H100 80GB HBM3): 16 pods at once",
    ]


def test_the_same_call_prints_the_same_bytes(allot: Said) -> None:
    allot("falls", "--describe", FLEET)
    first = allot.out
    allot("falls", "--describe", FLEET)
    assert allot.out == first


def test_text_says_what_stands_in_the_way_and_what_would_fit(allot: Said) -> None:
    assert allot("eighty", "--describe", FLEET, "-o", "text") == 0
    answer = (
        "the described fleet: nothing here will ever do: the nearest is gpu-0 of node-1 (NVIDIA H100 80GB "
        "HBM3): it has 79.64Gi (81559Mi) of memory, and at least 80Gi is asked for; write `memory: 79.64Gi`, "
        "and 16 devices would do"
    )
    assert allot.out.splitlines()[:6] == [
        "eighty: a card of at least 80Gi",
        answer,
        "",
        "  20 devices",
        "  20 are whole NVIDIA cards",
        "   0 have at least 80Gi of memory  (-20)",
    ]


def test_json_holds_the_template_and_the_explanation(allot: Said) -> None:
    assert allot("falls", "--describe", "4 x L4", "-o", "json") == 0
    data = json.loads(allot.out)
    assert data["format_version"] == 1
    assert data["template"]["metadata"]["name"] == "falls"
    assert data["explanation"]["pods_now"] == 4
    assert data["given_up"] == [
        "the fallback to processors is dropped on a cluster: its pods wait for a card"
    ]
    assert "never-fits" not in allot.out


def test_without_a_world_it_is_this_machine_and_processors_are_devices(allot: Said) -> None:
    assert allot("plain", "-o", "json") == 0
    data = json.loads(allot.out)
    assert data["world"].startswith("this machine (")
    (request,) = data["template"]["spec"]["spec"]["devices"]["requests"]
    assert request["exactly"]["deviceClassName"] == "cpu.allotment"


def test_a_pipeline_without_a_need_makes_no_claim_on_a_cluster(allot: Said) -> None:
    assert allot("plain", "--describe", FLEET) == 0
    assert allot.out == "# plain: it needs no device: on a cluster it makes no claim\n"
    assert yaml.safe_load(allot.out) is None


def test_on_a_cluster_the_platforms_class_is_asked_for_and_here_what_cards_report(allot: Said) -> None:
    platform("kubernetes")
    assert allot("kind", "--platform", "site.yaml", "--describe", FLEET, "-o", "json") == 0
    data = json.loads(allot.out)
    exact = data["template"]["spec"]["spec"]["devices"]["requests"][0]["exactly"]
    assert (exact["deviceClassName"], exact.get("selectors")) == ("gpu-large", None)
    assert data["explanation"]["pods_now"] == 16
    platform("local")
    assert allot("kind", "--platform", "site.yaml", "--describe", FLEET) == 0
    assert expression(yaml.safe_load(allot.out)) == [
        "device.attributes['gpu.nvidia.com'].?productName.orValue('') == 'NVIDIA H100 80GB HBM3'"
    ]


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (["bg"], 2, "there is no pipeline `bg`"),
        (["pipelines/no.yaml"], 2, "there is no pipeline `pipelines/no.yaml`"),
        (["wrong"], 1, "unknown-card: `h100` names several cards"),
        (["big", "--describe", "8 x"], 2, "--describe"),
        (["big", "--devices", "none.yaml"], 2, "there is no file none.yaml"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_printed(
    allot: Said, words: list[str], code: int, error: str
) -> None:
    assert allot(*words) == code
    assert error in allot.err
    assert allot.out == ""


def test_a_pipeline_is_named_by_its_file_too(allot: Said) -> None:
    assert allot("pipelines/big.yaml", "--describe", FLEET) == 0
    assert "name: big" in allot.out


def test_check_with_a_world_refuses_what_nothing_in_it_can_meet(
    allot: Said, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["check", "eighty", "--describe", FLEET]) == 1
    out, _ = capsys.readouterr()
    assert "pipelines/eighty.yaml:3:15 error never-fits: nothing in the described fleet will ever do" in out
    assert "write `memory: 79.64Gi`, and 16 devices would do" in out
    assert invoke(["check", "big", "falls", "--describe", FLEET]) == 0


@pytest.mark.parametrize(
    ("gpu", "counted"),
    [
        ("{sharing: time-slicing}", "2 such claims at once"),
        ("{sharing: mps}", "2 such claims at once"),
        ("{sharing: whole}", "2 pods at once"),
    ],
)
def test_of_a_claim_that_pods_share_claims_are_counted(allot: Said, gpu: str, counted: str) -> None:
    platform("kubernetes", "sharing: [whole, time-slicing, mps]\n")
    Path("pipelines/plain.yaml").write_text(f"steps:\n  - step: checksum\ngpu: {gpu}\n")
    assert allot("plain", "--platform", "site.yaml", "--describe", "2 x L4", "-o", "text") == 0
    assert allot.out.splitlines()[1].endswith(f": {counted}")


def test_one_value_of_memory_is_advised(allot: Said) -> None:
    assert allot("eighty", "--describe", "1 x H100-SXM mig=on-demand", "-o", "text") == 0
    assert "`memory: 79.25Gi`" in allot.out
    assert "`memory: 79.64Gi`" not in allot.out
