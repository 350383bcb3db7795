"""Hosts, templates and folders of object stores that the platform names, and those that it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.documents import read_text
from allotment.platform.file import platform_of
from allotment.platform.model import Platform, Sources
from allotment.platform.networks import network_to_name
from allotment.repository import load_repository
from allotment.repository.model import PrefixSource

HEAD = "pipeline: read\nvolumes:\n"
STORE = "s3://scans/in"


def found(root: Path, volumes: str, sources: Sources) -> list[str]:
    """What is found about a campaign, as `rule@line:column`."""
    for name, text in (
        ("pipelines/read", "steps: [{step: checksum}]\n"),
        ("campaigns/books", HEAD + volumes),
    ):
        path = root / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    loaded = load_repository(root, Platform(sources=sources))
    volume = loaded.repository.campaigns.get("books")
    if volume is not None and isinstance(source := volume.volumes[0].source, PrefixSource):
        assert source.prefix == STORE + "/a"
    return [f"{one.rule}@{one.position.line}:{one.position.column}" for one in loaded.findings]


@pytest.mark.parametrize(
    ("volumes", "sources", "expected"),
    [
        ("  - a\n", Sources("https://a.se/{ref}", ("a.se",)), []),
        ("  - a\n", Sources("https://a.se/{ref}"), ["host-not-allowed@3:5"]),
        ("  - a\n  - {id: b, images: ['https://a.se/1']}\n", Sources("https://a.se/{ref}", ("a.se",)), []),
        (
            "  - {id: b, images: ['https://b.se/1']}\n  - a\n",
            Sources("https://a.se/{ref}", ("b.se",)),
            ["host-not-allowed@4:5"],
        ),
        ("  - {id: a, manifest: 'http://a.se/m'}\n", Sources(hosts=("a.se",)), []),
        ("  - {id: a, manifest: 'http://a.se:81/m'}\n", Sources(hosts=("a.se",)), ["host-not-allowed@3:23"]),
        (
            "  - {id: a, manifest: 'http://127.0.0.1:8765/m'}\n",
            Sources(hosts=("http://127.0.0.1:8765",)),
            ["host-not-allowed@3:23"],
        ),
        (
            "  - {id: a, manifest: 'http://127.0.0.1:8765/m'}\n",
            Sources(hosts=("http://127.0.0.1:8765",), private=("127.0.0.0/8",)),
            [],
        ),
        ("  - {id: a, manifest: 'https://8.8.8.8/m'}\n", Sources(hosts=("8.8.8.8",)), []),
        ("  - a\n", Sources("https://10.0.0.1/{ref}", ("10.0.0.1",)), ["host-not-allowed@3:5"]),
        ("  - {id: a, folder: s3://scans/in/a}\n", Sources(buckets=(STORE,)), []),
        ("  - {id: a, folder: s3://scans/in/a/}\n", Sources(buckets=(STORE + "/",)), []),
        ("  - {id: a, folder: s3://scans/inner}\n", Sources(buckets=(STORE,)), ["bucket-not-allowed@3:21"]),
        ("  - {id: a, folder: s3://scans/in/a}\n", Sources(), ["bucket-not-allowed@3:21"]),
        ("  - {id: a, folder: s3://scans/in/../b}\n", Sources(buckets=(STORE,)), ["folder-escapes@3:21"]),
        ("  - {id: a, folder: s3://scans//in}\n", Sources(buckets=(STORE,)), ["bad-folder@3:21"]),
        ("  - {id: a, folder: 'file:///etc'}\n", Sources(buckets=(STORE,)), ["bucket-not-allowed@3:21"]),
        ("  - {id: a, folder: 'gs://scans/in'}\n", Sources(buckets=(STORE,)), ["bad-folder@3:21"]),
    ],
)
def test_pages_come_from_where_the_platform_says(
    tmp_path: Path, volumes: str, sources: Sources, expected: list[str]
) -> None:
    assert found(tmp_path, volumes, sources) == expected


def test_the_platform_names_hosts_networks_and_folders_of_object_stores() -> None:
    text = "sources: {hosts: ['http://a.se:8080'], private: [10.0.0.0/8, 'fd00::/8'], buckets: [s3://scans/in]}\n"
    platform, findings = platform_of(read_text(text, name="platform.yaml"))
    assert findings == []
    assert platform.sources == Sources(
        None, ("http://a.se:8080",), ("10.0.0.0/8", "fd00::/8"), ("s3://scans/in",)
    )


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("sources: {hosts: ['*.a.se']}\n", "bad-name"),
        ("sources: {private: [10.0.0.1/8]}\n", "bad-text"),
        ("sources: {private: [all]}\n", "bad-text"),
        ("sources: {buckets: [scans]}\n", "bad-folder"),
        ("sources: {buckets: ['s3://scans/../x']}\n", "folder-escapes"),
    ],
)
def test_what_the_platform_cannot_mean_is_refused(text: str, rule: str) -> None:
    _, findings = platform_of(read_text(text, name="platform.yaml"))
    assert [one.rule for one in findings] == [rule]


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("127.0.0.1", "127.0.0.0/8"),
        ("10.1.2.3", "10.0.0.0/8"),
        ("172.20.0.1", "172.16.0.0/12"),
        ("192.168.1.1", "192.168.0.0/16"),
        ("169.254.169.254", "169.254.169.254/32"),
        ("::1", "::1/128"),
        ("fd12::1", "fc00::/7"),
    ],
)
def test_the_network_that_would_allow_an_address_is_named(address: str, network: str) -> None:
    assert network_to_name(address) == network
