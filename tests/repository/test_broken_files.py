"""Each kind of fault in a file is found exactly once, by its rule, at the line and column of the fault."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from allotment.platform.file import scan_platform
from allotment.platform.model import Platform, Sources
from allotment.repository import load_repository
from allotment.repository.rules import RULES

READ = "steps:\n  - step: ocr\n"
DIGEST = "registry.example.org/htr@sha256:" + "0123456789abcdef" * 4
PLATFORM = Platform(sources=Sources(template="scans/{ref}"))


@dataclass(frozen=True)
class Broken:
    """A file with one fault, and where it is: ``rule@line:column``."""

    fault: str
    file: str
    text: str | bytes
    found: str


def campaign(fault: str, text: str | bytes, found: str, *, name: str = "books.yaml") -> Broken:
    return Broken(fault, f"campaigns/{name}", text, found)


def pipeline(fault: str, text: str | bytes, found: str, *, name: str = "other.yaml") -> Broken:
    return Broken(fault, f"pipelines/{name}", text, found)


def platform(fault: str, text: str, found: str) -> Broken:
    return Broken(fault, "platform.yaml", text, found)


HEAD = "pipeline: read\nvolumes:\n"
CARD = READ + "gpu:\n"

BROKEN = [
    # the text
    campaign("Latin-1", "pipeline: read\nvolumes:\n  - åå-\xe5\n".encode("latin-1"), "not-utf8@3:5"),
    campaign("UTF-16", "pipeline: read\n".encode("utf-16"), "not-utf8@1:1"),
    campaign("a bad byte after a byte order mark", b"\xef\xbb\xbfab: \xff\n", "not-utf8@1:5"),
    campaign("too large", b"#" * (32 * 1024 * 1024 + 1), "file-too-large@1:1"),
    campaign("empty", "", "file-empty@1:1"),
    campaign("nothing but a comment", "# later\n", "file-empty@1:1"),
    campaign("control character", "pipeline: re\x1bad\nvolumes: [R1]\n", "control-character@1:13"),
    campaign(
        "a line end that editors do not show",
        "pipeline: read # \u2028volumes: [R1]\n",
        "hidden-line-end@1:18",
    ),
    campaign("tab in front", "pipeline: read\nvolumes:\n\t- R1\n", "yaml-tab@3:1"),
    campaign("open bracket", "volumes: [R1, R2\npipeline: read\n", "yaml-syntax@1:10"),
    campaign("open quote", 'pipeline: "read\nvolumes: [R1]\n', "yaml-syntax@1:11"),
    campaign("key without space", "pipeline:read\nvolumes:\n  - R1\n", "yaml-syntax@1:9"),
    campaign("later key without space", "pipeline: read\nwindow:8\nvolumes: [R1]\n", "yaml-syntax@2:1"),
    campaign("colon in a text", "pipeline: read: it\nvolumes: [R1]\n", "yaml-syntax@1:15"),
    campaign("wrong indent", "pipeline: read\n volumes: [R1]\n", "yaml-syntax@2:2"),
    campaign("mixed list and mapping", "pipeline: read\nvolumes:\n  - R1\n  R2: x\n", "yaml-syntax@4:3"),
    campaign("text in backticks", "pipeline: `read`\nvolumes: [R1]\n", "yaml-syntax@1:11"),
    pipeline("comparison without quotes", "gpu:\n  memory: >40Gi\nsteps: []\n", "yaml-syntax@2:11"),
    campaign("alias", "pipeline: &p read\nvolumes: [R1]\n", "yaml-anchor@1:11"),
    campaign("tag", "pipeline: !!python/name:os.system read\nvolumes: [R1]\n", "yaml-tag@1:11"),
    campaign("two documents", "pipeline: read\nvolumes: [R1]\n---\nwindow: 1\n", "several-documents@3:1"),
    campaign("nested deeply", "volumes: " + "[" * 100, "nested-too-deep@1:73"),
    campaign("list as key", "pipeline: read\nvolumes: [R1]\n? [a, b]\n: c\n", "key-not-text@3:3"),
    campaign("duplicate key", "pipeline: read\nwindow: 1\nvolumes: [R1]\nwindow: 2\n", "duplicate-key@4:1"),
    campaign("a list as file", "- pipeline: read\n", "wrong-type@1:1"),
    campaign("a text as file", "\n\nread\n", "wrong-type@3:1"),
    # what YAML reads
    campaign("octal id", HEAD + "  - 0012345\n", "yaml-trap@3:5"),
    campaign("id in sixties", HEAD + "  - 1:20\n", "yaml-trap@3:5"),
    campaign("id with a zero at its end", HEAD + "  - {id: 1.10, folder: scans/a}\n", "yaml-trap@3:10"),
    campaign("Norway", HEAD + "  - {id: no, folder: scans/a}\n", "yaml-trap@3:10"),
    campaign("a date", HEAD + "  - 1890-05-01\n", "yaml-trap@3:5"),
    campaign("number with exponent", HEAD + "  - 1e3\n", "yaml-trap@3:5"),
    campaign("new octal", HEAD + "  - 0o7\n", "yaml-trap@3:5"),
    campaign("tilde", HEAD + "  - ~\n", "yaml-trap@3:5"),
    campaign("infinity", HEAD + "  - .inf\n", "yaml-trap@3:5"),
    campaign("true", HEAD + "  - true\n", "yaml-trap@3:5"),
    campaign("yes for true", "suspend: yes\n" + HEAD + "  - R1\n", "yaml-trap@1:10"),
    campaign("octal window", "window: 010\n" + HEAD + "  - R1\n", "yaml-trap@1:9"),
    campaign("key that is a boolean", "on: x\n" + HEAD + "  - R1\n", "yaml-trap@1:1"),
    pipeline("number as a variable's value", READ + "env:\n  LEVEL: 3\n", "yaml-trap@4:10"),
    pipeline("infinity in settings", READ + "    settings: {rate: .inf}\n", "yaml-trap@3:22"),
    # keys and types
    campaign("misspelt key", "piplines: read\n" + HEAD + "  - R1\n", "unknown-key@1:1"),
    campaign("missing pipeline", "window: 1\nvolumes: [R1]\n", "missing-key@1:1"),
    campaign("pipeline without a value", "pipeline:\nvolumes: [R1]\n", "no-value@1:1"),
    campaign("no volumes", "pipeline: read\nvolumes: []\n", "empty-list@2:10"),
    campaign("volumes as a mapping", "pipeline: read\nvolumes:\n  R1: x\n", "wrong-type@3:3"),
    campaign("empty entry", HEAD + "  - R1\n  -\n", "no-value@4:4"),
    campaign("list as volume", HEAD + "  - [R1]\n", "wrong-type@3:5"),
    campaign("suspend in quotes", 'suspend: "true"\n' + HEAD + "  - R1\n", "wrong-type@1:10"),
    pipeline("steps as a mapping", "steps:\n  step: ocr\n", "wrong-type@2:3"),
    pipeline("step as a text", "steps:\n  - ocr\n", "wrong-type@2:5"),
    pipeline("settings as a list", READ + "    settings: []\n", "wrong-type@3:15"),
    # windows
    campaign("true as window", "window: true\n" + HEAD + "  - R1\n", "wrong-type@1:9"),
    campaign("window in quotes", 'window: "5"\n' + HEAD + "  - R1\n", "wrong-type@1:9"),
    campaign("window of nothing", "window: 0\n" + HEAD + "  - R1\n", "out-of-range@1:9"),
    campaign("window with a fraction", "window: 2.5\n" + HEAD + "  - R1\n", "wrong-type@1:9"),
    campaign("min above max", "window: {min: 3, max: 2}\n" + HEAD + "  - R1\n", "bad-range@1:15"),
    campaign("window without max", "window: {min: 3}\n" + HEAD + "  - R1\n", "missing-key@1:9"),
    campaign("pack of nothing", "pack: 0\n" + HEAD + "  - R1\n", "out-of-range@1:7"),
    # names
    campaign("unknown pipeline", "pipeline: raed\nvolumes: [R1]\n", "unknown-pipeline@1:11"),
    campaign("unknown lane", "priority: bluk\n" + HEAD + "  - R1\n", "unknown-lane@1:11"),
    campaign("id with a space", HEAD + "  - R 1\n", "bad-name@3:5"),
    campaign("id with a dot in front", HEAD + "  - .hidden\n", "bad-name@3:5"),
    campaign("id too long", HEAD + f"  - R1\n  - {'a' * 64}\n", "bad-name@4:5"),
    campaign("reserved id", HEAD + "  - {id: cache, folder: scans/a}\n", "bad-name@3:10"),
    campaign(
        "same volume twice", HEAD + "  - R1\n  - R2\n  - {id: R1, folder: scans/a}\n", "duplicate-volume@5:10"
    ),
    campaign("upper-case name", HEAD + "  - R1\n", "bad-name@1:1", name="Books.yaml"),
    campaign("name of a part", HEAD + "  - R1\n", "bad-name@1:1", name="books-part2.yaml"),
    campaign("name of a status", HEAD + "  - R1\n", "bad-name@1:1", name="books-status.yaml"),
    campaign("name too long", HEAD + "  - R1\n", "bad-name@1:1", name="b" * 64 + ".yaml"),
    campaign("wrong ending", HEAD + "  - R1\n", "wrong-extension@1:1", name="books.yml"),
    pipeline("id too long", READ, "bad-name@1:1", name="p" * 53 + ".yaml"),
    pipeline("reserved pipeline", READ, "bad-name@1:1", name="events.yaml"),
    # sources
    campaign("folder above", HEAD + "  - {id: a, folder: ../scans}\n", "folder-escapes@3:21"),
    campaign("absolute folder", HEAD + "  - {id: a, folder: /etc}\n", "folder-escapes@3:21"),
    campaign("folder through a link", HEAD + "  - {id: a, folder: scans/out}\n", "folder-escapes@3:21"),
    campaign("backslash", HEAD + "  - {id: a, folder: 'scans\\a'}\n", "bad-folder@3:21"),
    campaign("control character in a folder", HEAD + '  - {id: a, folder: "a\\x07"}\n', "bad-folder@3:21"),
    campaign("a file as folder", HEAD + "  - {id: a, folder: scans/page.png}\n", "not-a-folder@3:21"),
    campaign("no source", HEAD + "  - {id: a}\n", "one-of@3:5"),
    campaign(
        "two sources", HEAD + "  - {id: a, folder: scans/a, images: ['https://h.se/1']}\n", "one-of@3:30"
    ),
    campaign("no id", HEAD + "  - {folder: scans/a}\n", "missing-key@3:5"),
    campaign("host not named", HEAD + "  - {id: a, manifest: https://h.se/m}\n", "host-not-allowed@3:23"),
    campaign("no address", HEAD + "  - {id: a, images: ['ftp://h.se/1']}\n", "bad-address@3:22"),
    campaign(
        "password in an address", HEAD + "  - {id: a, manifest: https://u:p@h.se/}\n", "secret-in-file@3:23"
    ),
    # needs
    pipeline("image by tag", f"image: {DIGEST.partition('@')[0]}:1.2\n" + READ, "image-not-pinned@1:8"),
    pipeline("short digest", "image: htr@sha256:abc\n" + READ, "bad-image@1:8"),
    pipeline("no steps", "steps: []\n", "empty-list@1:8"),
    pipeline("unknown step", "steps:\n  - step: orc\n", "unknown-step@2:11"),
    pipeline("unknown size", READ + "size: lagre\n", "unknown-size@3:7"),
    pipeline("bare number as memory", CARD + "  memory: 40\n", "bad-quantity@4:11"),
    pipeline("number without unit", CARD + '  memory: "40"\n', "bad-quantity@4:11"),
    pipeline("unit that does not exist", CARD + "  memory: 40GB\n", "bad-quantity@4:11"),
    pipeline("reversed range", CARD + "  memory: 40Gi..20Gi\n", "bad-range@4:11"),
    pipeline("half a range", CARD + "  memory: 20Gi..\n", "bad-quantity@4:11"),
    pipeline("no cards", CARD + "  count: 0\n", "out-of-range@4:10"),
    pipeline("cores and card", CARD + "  memory: 8Gi\n  cpu: 2\n", "cpu-and-card@4:3"),
    pipeline("fallback as mapping", CARD + "  fallback: {cpu: 1}\n", "wrong-type@4:13"),
    pipeline("fallback of a fallback", CARD + "  fallback: [{cpu: 1, fallback: []}]\n", "unknown-key@4:23"),
    pipeline("bad fallback", CARD + "  fallback:\n    - cpu: 1\n    - cpu: x\n", "wrong-type@6:12"),
    pipeline("half a core", READ + "resources: {cpu: 500n0}\n", "bad-quantity@3:18"),
    pipeline("bad variable", READ + "env: {A-B: x}\n", "bad-name@3:7"),
    pipeline("unknown level", READ + "topology: {require: rack}\n", "unknown-topology@3:21"),
    # the platform
    platform("format of the future", "format: 2\n", "unknown-format@1:9"),
    platform("unknown engine", "engine: kuberntes\n", "unknown-word@1:9"),
    platform("no lanes", "lanes: {}\n", "empty-list@1:8"),
    platform("release as a number", "versions: {kueue: 0.19}\n", "yaml-trap@1:19"),
    platform("limit below quota", "teams:\n  a: {queue: {quota: 4, limit: 2}}\n", "bad-range@2:32"),
    platform("default size that is none", "default_size: large\n", "unknown-size@1:15"),
    platform("template without place", "sources: {template: scans/all}\n", "bad-template@1:21"),
    platform(
        "template that lets a volume name the host",
        "sources: {template: 'https://{ref}/'}\n",
        "bad-template@1:21",
    ),
    platform("secret in options", "bucket_options: {secret_access_key: x}\n", "secret-in-file@1:18"),
    platform("bad duration", "defaults: {minimum_runtime: 10 minutes}\n", "bad-duration@1:29"),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository without any fault, beside a folder that is not its own."""
    repository = tmp_path / "repository"
    for folder in ("pipelines", "campaigns", "scans/a", "scans/R1", "scans/R2"):
        (repository / folder).mkdir(parents=True)
    (repository / "pipelines/read.yaml").write_text(READ)
    (repository / "scans/page.png").write_bytes(b"")
    (tmp_path / "elsewhere").mkdir()
    (repository / "scans/out").symlink_to(tmp_path / "elsewhere")
    return repository


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.fault)
def test_a_fault_is_found_once_at_its_place(broken: Broken, root: Path) -> None:
    path = root / broken.file
    path.write_bytes(broken.text if isinstance(broken.text, bytes) else broken.text.encode())
    if broken.file == "platform.yaml":
        findings = scan_platform(path, str(path))[1]
    else:
        findings = list(load_repository(root, PLATFORM).findings)
    told = [f"{found.rule}@{found.position.line}:{found.position.column}" for found in findings]
    assert told == [broken.found], [str(finding) for finding in findings]
    assert os.path.relpath(findings[0].position.file, root) == broken.file
    assert findings[0].rule in RULES
    assert findings[0].message
    assert findings[0].hint


def test_there_are_more_than_fifty_different_faults() -> None:
    assert len({broken.fault + broken.file for broken in BROKEN}) == len(BROKEN) > 50


def test_the_repository_of_these_tests_has_no_fault_of_its_own(root: Path) -> None:
    (root / "campaigns/books.yaml").write_text(HEAD + "  - R1\n  - {id: a, folder: scans/a}\n")
    assert load_repository(root, PLATFORM).findings == ()
