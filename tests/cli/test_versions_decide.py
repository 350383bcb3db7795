"""A cluster of an older Kubernetes: `claim`, `why` and `check` give one answer, and name what is off."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.cli import invoke

GATE = "DRAPartitionableDevices (on by default from Kubernetes 1.36)"
ON_DEMAND = "1 x H100-SXM mig=on-demand"


@pytest.mark.parametrize("need", ["{memory: 9Gi, sharing: mig}", "{memory: 40Gi}"])
@pytest.mark.parametrize("command", ["claim", "why", "check"])
def test_cards_cut_on_demand_never_do_where_their_gate_is_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, need: str
) -> None:
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines/p.yaml").write_text(f"gpu: {need}\nsteps: [{{step: checksum}}]\n")
    (tmp_path / "site.yaml").write_text(
        "engine: kubernetes\nscheduler: default\nversions: {kubernetes: '1.34'}\nteams: {a: {}}\n"
    )
    words = [command, "p", "-C", str(tmp_path), "--platform", str(tmp_path / "site.yaml")]
    invoke([*words, "--describe", ON_DEMAND, "-o", "text"])
    out = capsys.readouterr().out
    assert GATE in out
    assert "Kubernetes 1.34" in out
    assert "it fits" not in out
    assert "never enough" not in out
