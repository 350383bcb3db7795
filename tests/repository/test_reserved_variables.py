"""A pipeline sets no variable that its runner lives by; fleets and gangs set none of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.platform.model import Platform
from allotment.repository import load_repository

RESERVED = [
    "http_proxy",
    "HTTPS_PROXY",
    "All_Proxy",
    "AWS_ENDPOINT_URL",
    "AWS_SECRET_ACCESS_KEY",
    "ALLOT_STATE",
    "PATH",
    "PYTHONPATH",
    "LD_PRELOAD",
    "HOME",
    "SSL_CERT_FILE",
]
FREE = ["LANG", "HF_HOME", "PYTHONHASHSEED", "PATHS", "OMP_NUM_THREADS", "MY_AWS_KEY"]
VALUES = ["value", "{secret: hub, key: token}"]


def found(root: Path, file: str, text: str) -> list[tuple[int | None, str, str]]:
    (root / file).parent.mkdir(parents=True)
    (root / file).write_text(text)
    loaded = load_repository(root, Platform())
    return [
        (each.position.line, each.rule, each.message)
        for each in loaded.findings
        if each.rule == "reserved-variable"
    ]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("name", RESERVED)
def test_a_pipeline_is_refused_with_the_name_and_why(tmp_path: Path, name: str, value: str) -> None:
    text = f"steps: [{{step: checksum}}]\nenv:\n  {name}: {value}\n"
    [(line, _, message)] = found(tmp_path, "pipelines/p.yaml", text)
    assert line == 3
    assert message.startswith(f"`{name}` may not be set here: it ")


@pytest.mark.parametrize("name", FREE)
def test_other_variables_are_free(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, "pipelines/p.yaml", f"steps: [{{step: checksum}}]\nenv:\n  {name}: v\n") == []


@pytest.mark.parametrize(("name", "refused"), [("ALLOT_RANK", True), ("PATH", False), ("AWS_REGION", False)])
def test_a_gang_keeps_its_own_environment_but_for_ours(tmp_path: Path, name: str, *, refused: bool) -> None:
    text = f"command: [train]\nworkers: 1\nenv:\n  {name}: v\n"
    assert bool(found(tmp_path, "gangs/g.yaml", text)) == refused
