"""Whatever is done to a file, `allot check` answers with findings: no traceback, no hang.

Files are mutated by a seeded generator: bytes and lines are cut, doubled, swapped and replaced by what YAML
and our formats care about. Each mutant is bounded in the CPU that its check may take.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from allotment.cli.checking import check
from allotment.cli.rules import RULES
from allotment.platform.find import FILE_NAME
from allotment.repository.rules import RULES as FILE_RULES

CPU_SECONDS = 2.0
PIPELINE = """\
image: registry.example.org/htr@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
steps:
  - step: 'books.models:read'
    settings: {language: sv, scale: 1.5, deep: {a: [1, 2, {b: c}]}}
  - {step: checksum, settings: {}}
prepare: {step: 'books.models:fetch'}
gpu:
  memory: 20Gi..40Gi
  count: 2
  card: [A100-80, 'cc>=8.0']
  sharing: [mig, whole]
  fallback:
    - {memory: ">8Gi"}
    - cpu: 4
resources: {cpu: 500m, memory: 4Gi, workdir: 512Mi}
env: {LANG: sv, TOKEN: {secret: hub, key: token}}
max_seconds: 60
"""
CAMPAIGN = """\
# å comment
pipeline: read
window: {min: 1, max: 8}
priority: bulk
suspend: false
pack: 2
volumes:
  - R0001203
  - "0012345"
  - {id: letters-1, manifest: "https://iiif.example.org/1/manifest.json"}
  - id: letters-2
    images: [https://iiif.example.org/1.jpg, https://iiif.example.org/2.jpg]
  - {id: åäö-3, folder: skanningar/brev-3}
  - {id: letters-4, folder: "scans/letters 4"}
"""
PLATFORM = """\
format: 1
engine: local
bucket: ./results
teams: {transcription: {queue: {quota: 4, weight: 1, limit: null}}}
lanes: {bulk: {value: 0, preemptible: true}, idle: {value: -10}}
defaults: {window: 20, minimum_runtime: 10m}
sizes: {large: {gpu: {memory: ">40Gi"}, resources: {cpu: 4}}}
sources: {template: "https://iiif.example.org/{ref}/manifest", hosts: [iiif.example.org]}
topology: [{name: rack, label: example.org/rack}]
"""
FILES = {"pipelines/read.yaml": PIPELINE, "campaigns/books.yaml": CAMPAIGN, "platform.yaml": PLATFORM}
PIECES = [
    *(
        b"&a ",
        b"*a",
        b"!!python/object:os.system ",
        b"<<: ",
        b"? ",
        b"- ",
        b": ",
        b"---\n",
        b"...\n",
        b"%YAML 1.1\n",
    ),
    *(
        b"\t",
        b"\r",
        b"\x00",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98\x80",
    ),
    *(
        b"0012",
        b"1:20",
        b"1e999",
        b".inf",
        b"no",
        b"~",
        b"2024-13-45",
        b"0x",
        b"9" * 5000,
        b"-1",
        b"1_0",
        b"''",
    ),
    *(
        b"[" * 70,
        b"{a: " * 70,
        b"[" * 5000,
        b'"',
        b"'",
        b"|\n",
        b">40Gi",
        b"#",
        b"\\",
        b"`",
        b"@",
        b"{",
        b"}",
        b"]",
    ),
    *(
        b"../../etc",
        b"/",
        b"https://h@[::1",
        b"cache",
        b"{ref}",
        b"$(id)",
        b"40GB",
        b"a" * 3000,
        b"null",
        b"{}",
    ),
]

Mutation = Callable[[random.Random, bytes], bytes]


def _insert(chance: random.Random, data: bytes) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.choice(PIECES) + data[place:]


def _replace(chance: random.Random, data: bytes) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.choice(PIECES) + data[place + chance.randrange(1, 12) :]


def _cut(chance: random.Random, data: bytes) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + data[place + chance.randrange(1, 40) :]


def _flip(chance: random.Random, data: bytes) -> bytes:
    place = chance.randrange(max(1, len(data)))
    return data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]


def _double_line(chance: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    place = chance.randrange(len(lines)) if lines else 0
    return b"".join([*lines[: place + 1], *lines[place:]])


def _swap_lines(chance: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    chance.shuffle(lines)
    return b"".join(lines)


def _repeat(chance: random.Random, data: bytes) -> bytes:
    start = chance.randrange(len(data) + 1)
    return (
        data[:start] + data[start : start + chance.randrange(1, 30)] * chance.randrange(2, 300) + data[start:]
    )


def _value(chance: random.Random, data: bytes) -> bytes:
    """A scalar after a colon or in a list becomes something else that YAML reads as a value."""
    words = data.split(b" ")
    words[chance.randrange(len(words))] = chance.choice(PIECES)
    return b" ".join(words)


MUTATIONS: tuple[Mutation, ...] = (
    *(_insert, _replace, _cut, _flip, _double_line, _repeat, _value, _value, _value),
    _swap_lines,
)


def mutant(chance: random.Random, text: str) -> bytes:
    data = text.encode()
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        data = chance.choice(MUTATIONS)(chance, data)
    return data


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("ALLOT_PLATFORM", raising=False)
    for folder in ("pipelines", "campaigns", "scans"):
        (tmp_path / folder).mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def answers(root: Path, seeds: range) -> None:
    """Check a mutant of each seed; a failure names the seed, and the mutant lies in the folder."""
    for seed in seeds:
        chance = random.Random(seed)
        name = chance.choice(list(FILES))
        (root / name).write_bytes(mutant(chance, FILES[name]))
        began = time.process_time()
        try:
            checked = check(root, (), platform=None, team=None)
        except Exception as error:
            raise AssertionError(f"seed {seed}, {root / name}: {error!r}") from error
        assert time.process_time() - began < CPU_SECONDS, f"seed {seed}, {root / name}"
        for finding in checked.findings:
            assert finding.rule in RULES, seed
            if finding.rule == "before-not-checked":
                continue
            _assert_points_into(root, Path(finding.position.file), finding.position.line, seed)
        (root / name).write_text(FILES[name])


def _assert_points_into(root: Path, path: Path, line: int, seed: int) -> None:
    """A finding's file is one of ours, and its line exists (the end of a file counts as one more)."""
    assert path in {root / name for name in FILES}, seed
    data = path.read_bytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    assert 1 <= line <= data.count(b"\n") + 1, seed


def test_the_files_themselves_are_nearly_right(root: Path) -> None:
    checked = check(root, (), platform=None, team=None)
    of_files = [finding for finding in checked.findings if finding.rule in FILE_RULES]
    assert of_files.pop().rule == "before-not-checked"
    assert [(Path(finding.position.file).name, finding.rule) for finding in of_files] == [
        ("books.yaml", "bad-name"),
        ("books.yaml", "missing-folder"),
    ]
    assert (root / FILE_NAME).exists()


def test_500_mutated_files_are_answered_with_findings(root: Path) -> None:
    answers(root, range(500))


@pytest.mark.soak
@pytest.mark.parametrize("part", range(20))
def test_10_000_mutated_files_are_answered_with_findings(root: Path, part: int) -> None:
    answers(root, range(1000 + part * 500, 1500 + part * 500))
