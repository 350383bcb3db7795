"""Names, labels and messages of a cluster may hold anything: none of it reaches a terminal as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from allotment.cli import cluster as of_cluster
from allotment.cli import cluster_doctor as of_doctor
from allotment.cli import invoke
from allotment.cli.commands import apply as of_apply
from allotment.kubernetes.client import Client
from allotment.kubernetes.kinds import kind_of
from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.custom_kinds import KAI, KUEUE
from allotment.kubernetes.testing.store import Key
from allotment.kubernetes.testing.transport import FakeTransport
from tests.kubernetes.follow.told import NAMES, SITUATIONS

EVIL: Final = "\x1b]0;x\x07\x9b2J\u202e"
KEPT: Final = frozenset(
    {
        "apiVersion", "kind", "type", "status", "uid", "phase", "time", "completedIndexes", "failedIndexes",
        "resourceVersion", "kubernetes", "completionMode", "expression", "stopPolicy", "reason", "why",
        "queueingStrategy", "schedulerName", "driver", "device", "string", "version", "value", "cel",
    }
)  # fmt: skip
LABELS: Final = frozenset({"allotment/campaign", "allotment/team", "kueue.x-k8s.io/queue-name"})


def evil(value: Any, key: str = "") -> Any:
    """The value with what steers a terminal behind every text that is nobody's word."""
    if isinstance(value, dict):
        return {name: evil(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [evil(each, key) for each in value]
    is_word = key in KEPT or key.endswith(("Time", "Timestamp", "At"))
    return value + EVIL if isinstance(value, str) and value[:1].isalpha() and not is_word else value


def evil_object(value: dict[str, Any]) -> dict[str, Any]:
    if value["kind"] in {"ConfigMap", "ResourceSlice", "DeviceClass"}:
        return value
    found: dict[str, Any] = evil(value)
    for part in ("labels", "annotations"):
        for name, text in value["metadata"].get(part, {}).items():
            found["metadata"][part][name] = text + EVIL if name in LABELS else text
    return found


def evil_file(name: str, path: Path) -> str:
    told = yaml.safe_load((SITUATIONS / f"{name}.yaml").read_text())
    told["items"] = [evil_object(each) for each in told["items"]]
    told["cluster"] = str(told.get("cluster", "c")) + EVIL
    path.write_text(json.dumps(told))
    return str(path)


def shows(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    code = invoke(words)
    told = capsys.readouterr()
    text = told.out + told.err
    assert code in {0, 1, 2, 3}
    for char in EVIL:
        assert char.isprintable() or char not in text, (words, text)
    return text


@pytest.mark.parametrize("name", NAMES)
def test_a_snapshot_is_told_without(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = evil_file(name, tmp_path / "s.json")
    shown = shows(capsys, "status", "--snapshot", file)
    assert "\\x1b" in shown
    for words in (("queues",), ("devices",), ("why", f"letters{EVIL}")):
        shows(capsys, *words, "--snapshot", file)


@pytest.mark.parametrize("name", ["quota", "running", "kai-over-limit"])
def test_a_cluster_is_told_without(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    server = FakeApiServer(kinds=(*KUEUE, *KAI))
    told = json.loads(Path(evil_file(name, tmp_path / "s.json")).read_text())
    for each in told["items"]:
        kind, metadata = kind_of(each), each["metadata"]
        key = Key((kind.group, kind.plural), metadata.get("namespace", ""), metadata["name"])
        server.store.put(key, each)
    for module in (of_cluster, of_apply, of_doctor):
        monkeypatch.setattr(module, "client_for", lambda _: Client(FakeTransport(server)))
    (tmp_path / "config").write_text(
        "contexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n"
        "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n"
    )
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    for words in (("status",), ("queues",), ("devices",), ("doctor",)):
        shows(capsys, *words, "--cluster=")
