"""A pipeline's file becomes a value with every key, and with the platform's sizes and defaults filled in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from allotment.errors import Severity
from allotment.platform.model import Defaults, Platform, Size, TopologyLevel
from allotment.platform.need import MemoryRange, Need, Resources
from allotment.quantities import GI, MI
from allotment.repository import Loaded, load_repository
from allotment.repository.model import EnvironmentVariable, Pipeline, StepCall, Topology

IMAGE = "registry.example.org/htr@sha256:" + "0123456789abcdef" * 4
STEPS = "steps: [{step: ocr}]\n"


def load(root: Path, text: str, platform: Platform | None = None) -> Loaded:
    (root / "pipelines").mkdir(exist_ok=True)
    (root / "pipelines/read.yaml").write_text(text)
    return load_repository(root, platform or Platform())


def pipeline(root: Path, text: str, platform: Platform | None = None) -> Pipeline:
    loaded = load(root, text, platform)
    assert loaded.findings == ()
    return loaded.checked().pipelines["read"]


def rules(root: Path, text: str, platform: Platform | None = None) -> list[str]:
    return [finding.rule for finding in load(root, text, platform).findings]


def test_every_key_is_read(tmp_path: Path) -> None:
    text = f"""
image: {IMAGE}
steps:
  - {{step: segment, settings: {{model: lines, scale: 1.5, tags: [a, b]}}}}
  - {{step: read, settings: }}
prepare: {{step: fetch-models}}
gpu:
  memory: 20Gi..40Gi
  count: 2
  card: [A100-80, cc>=8.0]
  select: device.attributes["gpu.nvidia.com"].type == "gpu"
  same: card-model
  sharing: [mig, whole]
  isolation: hardware
  config: {{mps: {{threads: 50, pinned_memory: 4Gi}}}}
  fallback: [{{memory: ">8Gi", sharing: fraction, share: 0.5}}, {{cpu: 4}}]
resources: {{cpu: 500m, memory: 4Gi, workdir: 512Mi}}
topology: {{prefer: rack}}
env: {{LANG: sv, EMPTY: "", TOKEN: {{secret: hub, key: token}}}}
max_seconds: 60
ttl_seconds_after_finished: 30
runner: image
"""
    platform = Platform(
        sharing=("whole", "mig", "fraction"), topology=(TopologyLevel("rack", "example.org/rack"),)
    )
    assert pipeline(tmp_path, text, platform) == Pipeline(
        id="read",
        steps=(
            StepCall("segment", {"model": "lines", "scale": 1.5, "tags": ["a", "b"]}),
            StepCall("read"),
        ),
        image=IMAGE,
        gpu=Need(
            memory=MemoryRange(at_least=20 * GI, at_most=40 * GI),
            count=2,
            card=("A100-80", "cc>=8.0"),
            select='device.attributes["gpu.nvidia.com"].type == "gpu"',
            same="card-model",
            sharing=("mig", "whole"),
            isolation="hardware",
            config={"mps": {"threads": 50, "pinned_memory": 4 * GI}},
            fallback=(
                Need(memory=MemoryRange(more_than=8 * GI), sharing=("fraction",), share=0.5),
                Need(cpu=4),
            ),
        ),
        resources=Resources(cpu=0.5, memory=4 * GI, workdir=512 * MI),
        prepare=StepCall("fetch-models"),
        env=(
            EnvironmentVariable("LANG", value="sv"),
            EnvironmentVariable("EMPTY", value=""),
            EnvironmentVariable("TOKEN", secret="hub", key="token"),
        ),
        topology=Topology("prefer", "rack"),
        max_seconds=60,
        ttl_seconds_after_finished=30,
        runner="image",
        path=tmp_path / "pipelines/read.yaml",
    )


def test_what_is_left_out_is_as_the_platform_says(tmp_path: Path) -> None:
    platform = Platform(defaults=Defaults(max_seconds=7, ttl_seconds_after_finished=8))
    read = pipeline(tmp_path, STEPS, platform)
    assert (read.max_seconds, read.ttl_seconds_after_finished) == (7, 8)
    assert (read.gpu, read.resources, read.runner, read.image) == (None, Resources(), "own", None)


SIZES: dict[str, Any] = {"large": Size(Need(memory=MemoryRange(at_least=GI)), Resources(cpu=2))}


def test_a_size_is_written_out_and_its_place_is_where_it_is_named(tmp_path: Path) -> None:
    read = pipeline(tmp_path, STEPS + "size: large\n", Platform(sizes=SIZES))
    assert (read.size, read.gpu, read.resources) == ("large", SIZES["large"].gpu, SIZES["large"].resources)
    assert (read.position("gpu", "memory").line, read.position("gpu", "memory").column) == (2, 7)


@pytest.mark.parametrize(
    ("need", "size"), [("", "large"), ("gpu: {}\n", None), ("resources: {cpu: 1}\n", None)]
)
def test_the_default_size_is_for_pipelines_without_a_need(
    tmp_path: Path, need: str, size: str | None
) -> None:
    platform = Platform(sizes=SIZES, default_size="large")
    assert pipeline(tmp_path, STEPS + need, platform).size == size


def test_a_size_and_a_need_do_not_stand_beside_each_other(tmp_path: Path) -> None:
    text = STEPS + "size: large\ngpu: {count: 2}\nresources: {cpu: 1}\n"
    assert rules(tmp_path, text, Platform(sizes=SIZES)) == ["size-and-need", "size-and-need"]


@pytest.mark.parametrize(
    ("text", "runner", "found"),
    [
        (STEPS, "own", []),
        ("steps: [{step: 'books.steps:straighten'}]\n", "own", []),
        (f"image: {IMAGE}\n{STEPS}", "own", []),
        (f"image: {IMAGE}\nsteps: [{{step: Segmentation}}, {{step: ocr}}]\n", "image", []),
        (f"image: {IMAGE}\nrunner: image\nsteps: [{{step: ocrr}}]\n", "image", []),
        (f"image: {IMAGE}\nsteps: [{{step: ocrr}}]\n", "image", ["step-of-image"]),
        (f"image: {IMAGE}\nrunner: own\nsteps: [{{step: Segmentation}}]\n", None, ["unknown-step"]),
        (f"runner: image\n{STEPS}", None, ["missing-key"]),
        ("steps: [{step: ocr}, {step: checksom}]\n", None, ["unknown-step"]),
    ],
)
def test_who_runs_the_steps(tmp_path: Path, text: str, runner: str | None, found: list[str]) -> None:
    loaded = load(tmp_path, text)
    assert [finding.rule for finding in loaded.findings] == found
    read = loaded.repository.pipelines.get("read")
    assert (read.runner if read else None) == runner


def test_the_hint_for_an_unknown_step_names_the_nearest(tmp_path: Path) -> None:
    (finding,) = load(tmp_path, "steps: [{step: checksom}]\n").findings
    assert finding.hint == "did you mean `checksum`?"


def test_no_step_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evil.py").write_text("raise AssertionError('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert pipeline(tmp_path, "steps: [{step: 'evil:run'}]\n").steps[0].step == "evil:run"


@pytest.mark.parametrize(
    ("image", "found"),
    [
        ("registry.example.org/htr", []),
        ("registry.example.org/htr/worker", []),
        ("registry.example.org/htr-other", ["image-not-allowed"]),
        ("registry.example.org", ["image-not-allowed"]),
    ],
)
def test_images_come_from_the_repositories_that_the_platform_names(
    tmp_path: Path, image: str, found: list[str]
) -> None:
    text = f"image: {image}@sha256:{'0' * 64}\n{STEPS}"
    assert rules(tmp_path, text, Platform(images=("registry.example.org/htr",))) == found


def test_ways_of_sharing_are_the_platforms_also_in_fallbacks(tmp_path: Path) -> None:
    text = STEPS + "gpu: {sharing: mps, fallback: [{sharing: [mig, time-slicing]}]}\n"
    assert [finding.position.column for finding in load(tmp_path, text).findings] == [16, 42]
    assert set(rules(tmp_path, text)) == {"sharing-not-allowed"}


@pytest.mark.parametrize(
    ("memory", "bounds"),
    [
        ("40Gi", MemoryRange(at_least=40 * GI)),
        ("40G", MemoryRange(at_least=40 * 10**9)),
        ('">40Gi"', MemoryRange(more_than=40 * GI)),
        ('"> 40Gi"', MemoryRange(more_than=40 * GI)),
        ("20Gi..40Gi", MemoryRange(at_least=20 * GI, at_most=40 * GI)),
        ("20Gi .. 20Gi", MemoryRange(at_least=20 * GI, at_most=20 * GI)),
    ],
)
def test_forms_of_memory(tmp_path: Path, memory: str, bounds: MemoryRange) -> None:
    need = pipeline(tmp_path, STEPS + f"gpu: {{memory: {memory}}}\n").gpu
    assert need is not None
    assert need.memory == bounds


@pytest.mark.parametrize(
    ("gpu", "rule", "hint"),
    [
        ("memory: 40", "bad-quantity", "write 40Gi if that is meant"),
        ('memory: ">=40Gi"', "bad-quantity", "at least is 40Gi"),
        ('memory: "<40Gi"', "bad-quantity", 'write 40Gi (at least), ">40Gi" (more than) or 20Gi..40Gi'),
        ("memory: 40Gi..20Gi", "bad-range", "write 20Gi..40Gi"),
        ("memory: 0Gi", "bad-quantity", "write a positive amount, such as 40Gi"),
        ("memory: [40Gi]", "wrong-type", "write a quantity such as 40Gi"),
        ("card: 4090", "yaml-trap", 'if text is meant, put it in quotes: "4090"'),
        (
            "card: 'cc>=x'",
            "bad-name",
            "write a card's id, a compute capability such as cc>=9.0, or an architecture",
        ),
        ("count: true", "wrong-type", "write a whole number"),
        ("same: rack", "unknown-word", "known: `card`, `card-model`, `pcie-root`"),
        ("sharing: fractoin", "unknown-word", "did you mean `fraction`?"),
        ("sharing: fraction", "share-and-sharing", "add `share: 0.5` or `share: 8Gi`"),
        ("share: 1.5", "out-of-range", "write 0.5 or 8Gi; a whole card needs no share"),
        ("cpu: 0", "out-of-range", "change the number"),
        ("config: {mps: {}, time_slice: Short}", "one-of", "keep the one that the driver is to be told"),
        (
            "config: {opaque: {driver: gpu.nvidia.com}}",
            "missing-key",
            "write the parameters, as the driver reads them",
        ),
    ],
)
def test_needs_that_cannot_be_read(tmp_path: Path, gpu: str, rule: str, hint: str) -> None:
    platform = Platform(sharing=("whole", "fraction"))
    (finding,) = load(tmp_path, f"{STEPS}gpu:\n  {gpu}\n", platform).findings
    assert (finding.rule, finding.hint) == (rule, hint)


def test_settings_are_passed_on_as_they_are_and_their_traps_are_warnings(tmp_path: Path) -> None:
    text = "steps:\n  - step: ocr\n    settings: {deep: [{a: yes, on: 1}], b: 'no', c: 1.10, d: ~}\n"
    loaded = load(tmp_path, text)
    assert loaded.repository.pipelines["read"].steps[0].settings == {
        "deep": [{"a": "yes", "on": 1}],
        "b": "no",
        "c": 1.1,
        "d": None,
    }
    assert [(found.rule, found.severity, found.position.column) for found in loaded.findings] == [
        ("yaml-trap", Severity.WARNING, 27),
        ("yaml-trap", Severity.WARNING, 32),
    ]


def test_a_secret_that_is_written_out_is_a_warning(tmp_path: Path) -> None:
    loaded = load(tmp_path, STEPS + "env: {HUB_TOKEN: abc, TOKENIZER: bert}\n")
    assert [(found.rule, found.position.column) for found in loaded.findings] == [("secret-in-file", 7)]


@pytest.mark.parametrize(("name", "words"), [("read", "says it already"), ("other", "which is `read`")])
def test_a_name_inside_the_file_is_not_read(tmp_path: Path, name: str, words: str) -> None:
    (finding,) = load(tmp_path, f"id: {name}\n{STEPS}").findings
    assert (finding.rule, finding.severity) == ("name-in-file", Severity.WARNING)
    assert words in finding.message
