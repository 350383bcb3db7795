"""The file of a snapshot: sorted, the same bytes, read back as it was, and told of where it is wrong."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from allotment.cli.rules import RULES
from allotment.documents import Limits
from allotment.errors import AllotmentError, FindingsError, WorldError
from allotment.kubernetes.cluster.block_yaml import block_yaml, text_of
from allotment.kubernetes.cluster.file import snapshot_text, time_of
from allotment.kubernetes.cluster.file_reading import SECRETS, read_file, snapshot_of
from allotment.kubernetes.cluster.packed import unpacked
from allotment.kubernetes.cluster.snapshot import Missing, Snapshot, key_of
from allotment.kubernetes.kinds import CLUSTER_QUEUE, CONFIG_MAP, EVENT, JOB, NODE, POD, WORKLOAD, Object

NOW = 1_796_000_000.0
TIME = "2026-11-30T00:53:20Z"


def read(data: str | bytes, otherwise: float = 0.0) -> Snapshot:
    whole = data.encode() if isinstance(data, str) else data
    return snapshot_of(whole, name="cluster.yaml", otherwise=otherwise)


def job(name: str, **rest: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "team", "uid": f"u-{name}"}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, **rest}


def told(data: str) -> list[str]:
    with pytest.raises(FindingsError) as raised:
        read(data)
    assert {finding.rule for finding in raised.value.findings} <= RULES.keys()
    return [str(finding) for finding in raised.value.findings]


WHOLE = Snapshot(
    time=NOW,
    objects=(
        job("b"),
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "oak"},
            "status": {"capacity": {"cpu": "4"}},
        },
        job("a", spec={"parallelism": 3, "suspend": False, "template": {"spec": {"containers": []}}}),
    ),
    name="prod",
    version="1.36",
    missing=(Missing(WORKLOAD, "not served"), Missing(CLUSTER_QUEUE, "forbidden")),
    partly=(Missing(JOB, "forbidden outside of namespace team"),),
    notes=("it was taken on a Monday",),
)


def test_a_snapshot_is_sorted_and_says_what_a_list_does_not() -> None:
    assert snapshot_text(WHOLE).splitlines()[:25] == [
        "apiVersion: v1",
        "kind: List",
        "format_version: 1",
        'time: "2026-11-30T00:53:20Z"',
        "cluster: prod",
        'kubernetes: "1.36"',
        "missing:",
        "- apiVersion: kueue.x-k8s.io/v1beta2",
        "  kind: ClusterQueue",
        "  why: forbidden",
        "- apiVersion: kueue.x-k8s.io/v1beta2",
        "  kind: Workload",
        "  why: not served",
        "partly:",
        "- apiVersion: batch/v1",
        "  kind: Job",
        "  why: forbidden outside of namespace team",
        "notes:",
        "- it was taken on a Monday",
        "items:",
        "- apiVersion: batch/v1",
        "  kind: Job",
        "  metadata:",
        "    name: a",
        "    namespace: team",
    ]


def test_a_snapshot_is_read_back_as_it_was() -> None:
    back = read(snapshot_text(WHOLE))
    assert sorted(back.objects, key=key_of) == sorted(WHOLE.objects, key=key_of)
    assert (back.time, back.name, back.version, back.notes) == (NOW, "prod", "1.36", WHOLE.notes)
    assert set(back.missing) == set(WHOLE.missing)
    assert back.partly == WHOLE.partly
    assert snapshot_text(back) == snapshot_text(WHOLE)
    assert back.lacks(WORKLOAD) == "not served"


def test_the_order_of_objects_and_of_keys_makes_no_difference() -> None:
    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(each) for key, each in reversed(value.items())}
        return value

    other = Snapshot(NOW, tuple(turned(each) for each in reversed(WHOLE.objects)), name="prod")
    same = Snapshot(NOW, WHOLE.objects, name="prod")
    assert snapshot_text(other) == snapshot_text(same)


ODD = (
    "", "no", "1:20", "0x1f", "2026-11-30", "~", "null", "- a", "a: b", "a #b", "'", '"', "\t", "\x85", "<<",
    "\u2028", "\ufeff", "é", "😀", "=", "&a", "*a", "!t", "? x", "|", "a\nb\n", " a ", "a  b", "%YAML", "@x"
)  # fmt: skip
TEXTS = st.text(st.characters(codec="utf-8")) | st.sampled_from(ODD)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS | st.floats(-1e300, 1e300),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(TEXTS, below, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4))
def test_whatever_an_object_says_is_read_back(value: dict[str, Any]) -> None:
    item = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "x"}, "spec": value}
    assert read(snapshot_text(Snapshot(NOW, (item,), name="c"))).objects == (item,)


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4))
def test_every_reader_of_yaml_reads_the_same(value: dict[str, Any]) -> None:
    assert yaml.load(block_yaml(value), Loader=yaml.CSafeLoader) == value


def test_a_key_of_any_length_is_read_back() -> None:
    value = {"k" * 5000: {"below": [{"k" * 3000: "x"}, [["y"]]]}}
    assert yaml.load(block_yaml(value), Loader=yaml.CSafeLoader) == value


def test_what_utf_8_cannot_hold_is_replaced() -> None:
    assert text_of("a\ud800b") == '"a\ufffdb"'


@pytest.mark.parametrize(
    ("text", "plain"),
    [("Running", True), ("gpu.nvidia.com", True), ("no", False), ("16Gi", False), ("a: b", False)],
)
def test_only_what_nobody_mistakes_is_written_without_quotes(text: str, *, plain: bool) -> None:
    assert (text_of(text) == text) is plain


LIST = """\
apiVersion: v1
kind: List
metadata: {resourceVersion: ""}
items:
- apiVersion: v1
  kind: Pod
  metadata:
    name: p
    namespace: n
    creationTimestamp: "2026-02-03T04:05:06Z"
    annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}
    managedFields: [{manager: kubectl}]
  spec:
    containers: [{name: c, image: i, env: [{name: TOKEN, value: hidden}], command: [x]}]
    volumes: [{name: v, secret: {secretName: s}}]
  status: {phase: Running, podIP: 10.0.0.1}
- apiVersion: v1
  kind: Secret
  metadata: {name: s}
  data: {token: aGlkZGVu}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: others}
  data: {password: hidden}
"""


def test_any_list_of_kubectl_is_a_snapshot_without_what_is_nobodys_business() -> None:
    snapshot = read(LIST)
    (pod,) = snapshot.objects
    assert pod["spec"] == {"containers": [{"name": "c", "image": "i"}]}
    assert pod["metadata"] == {"name": "p", "namespace": "n", "creationTimestamp": "2026-02-03T04:05:06Z"}
    assert pod["status"] == {"phase": "Running"}
    assert snapshot.of(CONFIG_MAP) == ()
    assert "hidden" not in snapshot_text(snapshot)
    assert snapshot.time == time_of("2026-02-03T04:05:06Z")
    assert snapshot.notes == (
        (
            "it does not say when it was taken, and its age is not known: it tells only when objects were "
            "created (nodes tell more, and `allot snapshot` writes it down)"
        ),
        SECRETS,
    )
    assert snapshot.name == "cluster.yaml"


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: v1\nkind: Node\nmetadata: {name: oak}\n",
        "kind: NodeList\napiVersion: v1\nitems: [{metadata: {name: oak}}]\n",
        "---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: oak}}\n",
        (
            '{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "NodeList", '
            '"items": [{"metadata": {"name": "oak", "creationTimestamp": null}}]}]}'
        ),
    ],
    ids=["object", "typed list", "stream", "list in a list"],
)
def test_objects_come_in_many_forms(text: str) -> None:
    snapshot = read(text, otherwise=NOW)
    assert snapshot.of(NODE) == ({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "oak"}},)
    assert snapshot.time == NOW
    assert not snapshot.is_dated
    assert "its age is not known" in snapshot.notes[0]


HEARTBEAT = """
apiVersion: v1
kind: Node
metadata: {name: oak, creationTimestamp: "2026-01-01T00:00:00Z"}
status:
  conditions:
  - {type: Ready, status: "True", lastHeartbeatTime: "2026-05-01T10:00:00Z"}
"""
LEASE = """
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: oak, namespace: kube-node-lease}
spec: {renewTime: "2026-05-01T10:04:58.123456Z"}
"""
FIELDS = """
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata:
  name: s
  creationTimestamp: "2026-01-01T00:00:00Z"
  managedFields: [{manager: driver, time: "2026-04-01T00:00:00Z"}]
"""
ENDED = """
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: n, deletionTimestamp: "2036-01-01T00:00:00Z"}
status:
  phase: Succeeded
  containerStatuses: [{state: {terminated: {finishedAt: "2026-05-02T00:00:00Z"}}}]
"""


@pytest.mark.parametrize(
    ("text", "time"),
    [
        pytest.param(HEARTBEAT, "2026-05-01T10:00:00Z", id="heartbeat of a node"),
        pytest.param(f"{HEARTBEAT}---{LEASE}", "2026-05-01T10:04:58.123456Z", id="lease"),
        pytest.param(FIELDS, "2026-04-01T00:00:00Z", id="fields that were written"),
        pytest.param(f"{HEARTBEAT}---{ENDED}", "2026-05-02T00:00:00Z", id="a pod that is left out"),
    ],
)
def test_a_file_that_does_not_say_when_is_as_old_as_the_newest_time_in_it(text: str, time: str) -> None:
    snapshot = read(text)
    assert snapshot.time == time_of(time)
    assert snapshot.is_dated
    assert snapshot.notes == (
        f"it does not say when it was taken: {time}, the newest time in it, is assumed",
    )


def test_a_file_of_unknown_age_stays_one_when_it_is_written_down() -> None:
    undated = read("apiVersion: v1\nkind: Node\nmetadata: {name: oak}\n")
    back = read(snapshot_text(undated))
    assert (back.is_dated, back.notes) == (False, undated.notes)


def changed(old: str, new: str) -> str:
    text = snapshot_text(WHOLE)
    assert old in text
    return text.replace(old, new, 1)


JOB_A = "  kind: Job\n  metadata:\n    name: a"
WRONG = {
    "newer": (
        changed("format_version: 1", "format_version: 2"),
        "cluster.yaml:3:17 error unknown-format: the snapshot is of format 2, and this version reads 1 to 1",
    ),
    "no version": (changed("format_version: 1", "format_version: x"), "cluster.yaml:3:17 error wrong-type"),
    "key": (
        changed("partly:", "partially:"),
        "cluster.yaml:14:1 error unknown-key: `partially` is no key of a snapshot (did you mean `partly`?)",
    ),
    "time": (changed(f'"{TIME}"', '"yesterday"'), "cluster.yaml:4:7 error bad-text: `yesterday` is no time"),
    "no zone": (changed(TIME, TIME.removesuffix("Z")), "bad-text"),
    "kind": (
        changed("kind: ClusterQueue", "kind: ClusterQueu"),
        (
            "cluster.yaml:8:3 error unknown-word: `ClusterQueu` of `kueue.x-k8s.io/v1beta2` is no kind that "
            "is read from clusters (did you mean `ClusterQueue`?)"
        ),
    ),
    "why": (changed("  why: forbidden\n", ""), "missing-key"),
    "kind's key": (
        changed(JOB_A, JOB_A.replace("kind", "knd")),
        "cluster.yaml:21:3 error no-object: this is no API object: `kind` is missing (is it written as `knd`",
    ),
    "name": (changed(JOB_A, JOB_A.replace("name", "nam")), "the Job has no name (is it written as `nam`?)"),
    "twice": (
        changed("    name: b", "    name: a"),
        "two of Job `a`: the other one begins at cluster.yaml:21:3",
    ),
    "spec": (changed("  spec:\n", "  spec: []\n  rest:\n"), "wrong-type: `items[0].spec` must be a mapping"),
    "items": (changed("items:", "itms:"), "did you mean `items`?"),
    "no items": ("apiVersion: v1\nkind: List\n", "the List has no `items`"),
    "no object": ("[]\n", "this is no API object"),
    "nothing": ("", "file-empty"),
    "no YAML": ("a: [", "yaml-syntax"),
}


@pytest.mark.parametrize(("text", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told_at_its_place(text: str, words: str) -> None:
    assert any(words in each for each in told(text)), told(text)


def test_the_same_object_twice_is_one() -> None:
    text = snapshot_text(WHOLE)
    assert len(read(text + "---\n" + text).objects) == len(WHOLE.objects)


KAI_SNAPSHOT = {
    "config": {"actions": "allocate"},
    "schedulerParams": {"schedulerName": "kai-scheduler"},
    "rawObjects": {
        "pods": [
            {
                "metadata": {"name": "p", "namespace": "n", "creationTimestamp": "2026-02-03T04:05:06Z"},
                "spec": {"containers": [{"name": "c", "resources": {}}], "nodeName": "oak"},
                "status": {"phase": "Running"},
            }
        ],
        "nodes": [{"metadata": {"name": "oak", "creationTimestamp": None}, "status": {}}],
        "queues": [{"metadata": {"name": "q"}, "spec": {"resources": {"gpu": {"quota": 1, "limit": -1}}}}],
        "podGroups": [{"metadata": {"name": "g", "namespace": "n"}}],
        "configMaps": [{"metadata": {"name": "m", "namespace": "n"}, "data": {"password": "hidden"}}],
        "bindRequests": None,
        "storageClasses": [{"metadata": {"name": "fast"}}],
        "resourceSlices": [],
        "fromTheFuture": [{"metadata": {"name": "x"}}],
    },
    "discovery": {"serverVersion": {"major": "1", "minor": "36+"}, "resources": None},
}


def zipped(value: bytes, name: str = "snapshot.json") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, value)
    return file.getvalue()


@pytest.mark.parametrize("pack", [zipped, gzip.compress, bytes], ids=["zip", "gzip", "plain"])
def test_the_snapshot_of_kais_scheduler_is_read(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "kai.zip"
    path.write_bytes(pack(json.dumps(KAI_SNAPSHOT).encode()))
    snapshot = read_file(path)
    assert [(each["apiVersion"], each["kind"]) for each in snapshot.objects] == [
        ("v1", "Node"),
        ("v1", "Pod"),
        ("scheduling.run.ai/v2alpha2", "PodGroup"),
        ("scheduling.run.ai/v2", "Queue"),
    ]
    assert snapshot.version == "1.36"
    assert snapshot.lacks(JOB) == "not in what KAI's scheduler saw"
    assert snapshot.lacks(POD) is None
    assert read(snapshot_text(snapshot)).objects == snapshot.objects


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (zipped(b"{}", "other.txt"), "holds no `snapshot.json`, but `other.txt`"),
        (zipped(b"{}")[:-30], "zip file cannot be unpacked"),
        (gzip.compress(b"x" * 1000)[:-20], "gzip file cannot be unpacked: it ends in the middle"),
        (b"\x1f\x8bnothing", "gzip file cannot be unpacked"),
        (gzip.compress(b"x" * 5000), "unpacked, the snapshot has more than 4,000 bytes"),
        (zipped(b"x" * 5000), "unpacked, the snapshot has more than 4,000 bytes"),
    ],
    ids=["other-file", "zip-cut", "gzip-cut", "no-gzip", "gzip-long", "zip-long"],
)
def test_what_cannot_be_unpacked_is_told(data: bytes, words: str) -> None:
    with pytest.raises(AllotmentError) as raised:
        unpacked(data, "kai.zip", Limits(bytes=4000))
    assert words in str(raised.value)


def test_a_file_that_cannot_be_read_is_the_worlds_fault(tmp_path: Path) -> None:
    with pytest.raises(WorldError):
        read_file(tmp_path / "none.yaml")


def test_objects_are_found_by_name_kind_and_owner() -> None:
    owned: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "team", "ownerReferences": [{"uid": "u-a"}]},
    }
    snapshot = Snapshot(NOW, (*WHOLE.objects, owned))
    assert list(snapshot.owned(POD, "u-a")) == [owned]
    assert list(snapshot.owned(POD, "u-a", "other")) == []
    assert snapshot.named(JOB, "a", "team") == WHOLE.objects[2]
    assert snapshot.named(JOB, "a", "other") is None
    assert snapshot.lacks(EVENT) is None
