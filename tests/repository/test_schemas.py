"""JSON Schemas: right files pass, broken ones do not, and no right file is ever refused by one."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from allotment.cli import invoke
from allotment.documents import scan_text
from allotment.documents.checking import Check
from allotment.documents.document import Document
from allotment.platform.file import platform_of
from allotment.platform.model import Platform
from allotment.repository.campaign_file import read_campaign
from allotment.repository.pipeline_file import read_pipeline
from allotment.repository.schemas import RECORDS, schema_of
from allotment.repository.schemas.words import DEFAULTS, WORDS
from allotment.repository.standing_files import read_fleet, read_gang
from allotment.repository.steps import installed_steps

SEED = Path(__file__).parent / "seed"
IMAGE = "registry.example.org/read@sha256:" + "0" * 64
OF_FOLDER = {"pipelines": "pipeline", "campaigns": "campaign", "fleets": "fleet", "gangs": "gang"}
RIGHT = {
    "pipeline": f"""\
image: {IMAGE}
steps:
  - step: 'books.models:read'
    settings: {{language: sv, deep: {{a: [1, 2]}}}}
  - {{step: checksum}}
prepare: {{step: 'books.models:fetch'}}
gpu:
  memory: 20Gi..40Gi
  count: 2
  card: [A100-80, 'cc>=8.0']
  same: pcie-root
  sharing: [mig, whole]
  config: {{mps: {{threads: 50, pinned_memory: 4Gi}}}}
  fallback:
    - {{memory: ">8Gi", card: hopper}}
    - cpu: 4
resources: {{cpu: 500m, memory: 4Gi, workdir: 512Mi}}
topology: {{prefer: rack}}
env: {{LANG: sv, EMPTY: "", TOKEN: {{secret: hub, key: token}}}}
max_seconds: 60
""",
    "campaign": """\
pipeline: read
window: {min: 1, max: 8}
priority: ""
suspend: false
pack: 2
volumes:
  - R0001203
  - {id: letters-1, manifest: "https://iiif.example.org/1/manifest.json"}
  - id: letters-2
    images: [https://iiif.example.org/1.jpg]
  - {id: letters-3, folder: skanningar/brev åäö/}
  - {id: letters-4, folder: s3://scans/letters-4}
""",
    "fleet": f"""\
image: {IMAGE}
command: [serve, --port, "80", ""]
replicas: {{min: 0, max: 3}}
gpu: {{share: 0.5, sharing: fraction}}
priority: idle
preemptible: true
""",
    "gang": "command: [train]\nworkers: 4\nmin: 2\nduration: 1h30m\ngpu: null\n",
    "platform": """\
format: 1
engine: local
bucket: s3://results/pages
bucket_options: {endpoint: "https://s3.example.org", path_style: true}
teams: {reading: {repository: null, queue: {quota: 1.5, limit: null}}}
lanes: {bulk: {value: 0}, idle: {value: -10, preemptible: true}}
defaults: {window: 20, minimum_runtime: 10m, grace_seconds: 120}
sizes: {large: {gpu: {memory: ">40Gi"}, resources: {cpu: 4}}}
default_size: null
cards: {a100-80: {card: A100-80, class: gpu-a100-80}}
sources: {template: "https://iiif.example.org/{ref}/manifest", hosts: [iiif.example.org, "http://x.local:80"]}
topology: [{name: rack, label: example.org/rack}]
images: [registry.example.org/htr]
runner: {image: null}
prices: {currency: EUR, hour: {a100-80: 1.5}}
""",
}


def starter() -> Iterator[tuple[str, str]]:
    """The kinds and texts of the files that `allot init` writes."""
    root = resources.files("allotment.starter").joinpath("repository")
    yield "platform", root.joinpath("platform.yaml").read_text()
    for folder, kind in OF_FOLDER.items():
        if root.joinpath(folder).is_dir():
            yield from ((kind, file.read_text()) for file in root.joinpath(folder).iterdir())


def readme() -> Iterator[tuple[str, str]]:
    """The examples of pipelines and campaigns in the README and in the pages on files."""
    root = Path(__file__).parents[2]
    text = "".join((root / name).read_text() for name in ("README.md", "docs/files.md"))
    for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL):
        first = block.removeprefix("# pipelines/read.yaml\n")
        kind = (
            "campaign" if "volumes:" in block else "pipeline" if first.startswith(("gpu:", "steps:")) else ""
        )
        if kind:
            yield kind, block


def seed() -> Iterator[tuple[str, str]]:
    """The files of an earlier platform's repository."""
    for folder in ("pipelines", "campaigns"):
        yield from ((OF_FOLDER[folder], path.read_text()) for path in sorted((SEED / folder).glob("*.yaml")))


def document_of(text: str) -> Document | None:
    document, findings = scan_text(text, name="x.yaml")
    return document if not findings else None


def is_right(kind: str, document: Document) -> bool:
    """Whether the reader of this kind finds no error, under a platform that knows every name."""
    platform = Platform(
        unread=frozenset({"lanes", "topology", "sizes", "sharing", "sources"}), sharing=("whole", "mig")
    )
    check = Check(document)
    if kind == "platform":
        return not platform_of(document)[1]
    if kind == "pipeline":
        read_pipeline(check, "x", Path("x"), platform=platform, steps=installed_steps)
    elif kind == "campaign":
        read_campaign(check, "x", Path("x"), platform=platform, root=Path("/nowhere"))
    elif kind == "fleet":
        read_fleet(check, "x", Path("x"), platform)
    else:
        read_gang(check, "x", Path("x"), platform)
    return not check.failed


def schema_errors(kind: str, value: Any) -> list[str]:
    return [error.message for error in Draft202012Validator(schema_of(kind)).iter_errors(value)]


@pytest.mark.parametrize("kind", RECORDS)
def test_each_schema_is_one_and_describes_every_key(kind: str) -> None:
    schema = schema_of(kind)
    Draft202012Validator.check_schema(schema)
    assert schema["title"]
    for name, about in schema["properties"].items():
        assert about["description"].endswith((".", "…")), name
    json.dumps(schema, allow_nan=False)


@pytest.mark.parametrize("kind", RECORDS)
def test_words_and_defaults_are_of_keys_that_exist(kind: str) -> None:
    paths: set[str] = set()

    def walk(schema: Any, path: tuple[str, ...]) -> None:
        for name, below in schema.get("properties", {}).items():
            paths.add(".".join((*path, name)))
            walk(below, (*path, name))
        for below in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
            walk(below, path)
        for key in ("items", "additionalProperties"):
            if isinstance(schema.get(key), dict):
                walk(schema[key], (*path, "*"))

    walk(schema_of(kind), ())
    assert set(WORDS[kind]) <= paths
    assert set(DEFAULTS.get(kind, {})) <= paths


@pytest.mark.parametrize(("kind", "text"), [*RIGHT.items(), *starter(), *readme(), *seed()])
def test_right_files_pass_both(kind: str, text: str) -> None:
    document = document_of(text)
    assert document is not None
    assert is_right(kind, document)
    assert schema_errors(kind, document.value) == []


STEPS = "steps: [{step: ocr}]\n"
VOLUMES = "pipeline: read\nvolumes: [a]\n"
FLEET, GANG = "command: [serve]\n", "command: [train]\nworkers: 2\n"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("pipeline", "steps: []\n"),
        ("pipeline", "gpu: {}\n"),
        ("pipeline", STEPS + "stpes: 1\n"),
        ("pipeline", "steps: [{settings: {}}]\n"),
        ("pipeline", "steps: [{step: ocr, setings: {}}]\n"),
        ("pipeline", STEPS + "image: read:latest\n"),
        ("pipeline", STEPS + "gpu: {memory: 40}\n"),
        ("pipeline", STEPS + "gpu: {memory: lots}\n"),
        ("pipeline", STEPS + 'gpu: {memory: "<40Gi"}\n'),
        ("pipeline", STEPS + "gpu: {count: 0}\n"),
        ("pipeline", STEPS + "gpu: {sharing: halves}\n"),
        ("pipeline", STEPS + "gpu: {cpu: 2, memory: 4Gi}\n"),
        ("pipeline", STEPS + "gpu: {share: 0.5}\n"),
        ("pipeline", STEPS + "gpu: {fallback: [{fallback: [{cpu: 1}]}]}\n"),
        ("pipeline", STEPS + "gpu: {config: {time_slice: Short, mps: {threads: 1}}}\n"),
        ("pipeline", STEPS + "resources: {memory: 4}\n"),
        ("pipeline", STEPS + "resources: {cpu: 0}\n"),
        ("pipeline", STEPS + "topology: {require: rack, prefer: row}\n"),
        ("pipeline", STEPS + "env: {1a: x}\n"),
        ("pipeline", STEPS + "env: {A: 1}\n"),
        ("pipeline", STEPS + "env: {A: {secret: x}}\n"),
        ("pipeline", STEPS + "size: large\ngpu: {}\n"),
        ("pipeline", STEPS + "runner: image\n"),
        ("pipeline", STEPS + "max_seconds: 0\n"),
        ("pipeline", STEPS + 'max_seconds: "60"\n'),
        ("campaign", "pipeline: read\n"),
        ("campaign", "pipeline: read\nvolumes: []\n"),
        ("campaign", "volumes: [a]\n"),
        ("campaign", "pipeline: read\nvolumes: [a/b]\n"),
        ("campaign", "pipeline: read\nvolumes: [1]\n"),
        ("campaign", "pipeline: read\nvolumes: [{id: a}]\n"),
        ("campaign", "pipeline: read\nvolumes: [{folder: a}]\n"),
        ("campaign", "pipeline: read\nvolumes: [{id: a, folder: /etc}]\n"),
        ("campaign", "pipeline: read\nvolumes: [{id: a, folder: x, manifest: 'https://x.org/a'}]\n"),
        ("campaign", "pipeline: read\nvolumes: [{id: a, manifest: 'ftp://x.org/a'}]\n"),
        ("campaign", "pipeline: read\nvolumes: [{id: a, images: []}]\n"),
        ("campaign", VOLUMES + "window: 0\n"),
        ("campaign", VOLUMES + "window: {min: 1}\n"),
        ("campaign", VOLUMES + 'suspend: "true"\n'),
        ("campaign", VOLUMES + "pack: 0\n"),
        ("fleet", "replicas: 1\n"),
        ("fleet", "command: serve\n"),
        ("fleet", "command: []\n"),
        ("fleet", 'command: [""]\n'),
        ("fleet", "command: [[serve]]\n"),
        ("gang", "command: [{serve: 1}]\nworkers: 1\n"),
        ("fleet", FLEET + "workers: 1\n"),
        ("fleet", FLEET + "replicas: {max: 0}\n"),
        ("gang", "command: [train]\n"),
        ("gang", GANG + "min: 0\n"),
        ("gang", GANG + "duration: soon\n"),
        ("gang", GANG + "preemptible: 1\n"),
        ("platform", "engine: cloud\n"),
        ("platform", "format: 2\n"),
        ("platform", "teams: {}\n"),
        ("platform", "teams: {Reading: {}}\n"),
        ("platform", "lanes: {bulk: {valeu: 1}}\n"),
        ("platform", "defaults: {grace_seconds: 0}\n"),
        ("platform", "sources: {template: scans}\n"),
        ("platform", "topology: [{name: rack}]\n"),
        ("platform", "versions: {kueue: latest}\n"),
        ("platform", "prices: {hour: {a: cheap}}\n"),
        ("platform", "sharing: []\n"),
    ],
)
def test_broken_files_are_refused_by_both(kind: str, text: str) -> None:
    document = document_of(text)
    assert document is not None
    assert not is_right(kind, document)
    assert schema_errors(kind, document.value) != []


WORDS_TO_PUT = [
    *("0", "1", "-1", "2.5", "true", "null", "x", '""', "[]", "{}", "[x]", "{a: 1}", "40Gi", '">40Gi"'),
    *(
        "1Gi..2Gi",
        "500m",
        "10m",
        "cpu",
        "whole",
        "a/b",
        "https://x.org/a",
        "s3://b/c",
        "'a b'",
        "1e3",
        "4 Gi",
    ),
]


@pytest.mark.parametrize("kind", RIGHT)
def test_a_schema_never_refuses_what_a_check_lets_pass(kind: str) -> None:
    validator = Draft202012Validator(schema_of(kind))
    right = 0
    for number in range(300):
        chance = random.Random(number)
        tokens = re.split(r"([ \n{}\[\],]+)", RIGHT[kind])
        for _ in range(chance.choice((1, 1, 2))):
            tokens[chance.randrange(0, len(tokens), 2)] = chance.choice(WORDS_TO_PUT)
        document = document_of("".join(tokens))
        if document is not None and is_right(kind, document):
            right += 1
            assert [each.message for each in validator.iter_errors(document.value)] == [], "".join(tokens)
    assert right > 10


@pytest.mark.parametrize("kind", RECORDS)
def test_the_command_prints_it(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["schema", kind]) == 0
    assert json.loads(capsys.readouterr().out) == schema_of(kind)
    assert invoke(["schema", kind, "--out", str(tmp_path / "x.json")]) == 0
    assert json.loads((tmp_path / "x.json").read_text()) == schema_of(kind)


def test_the_command_knows_its_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["schema", "campain"]) == 2
    assert "campaign" in capsys.readouterr().err
