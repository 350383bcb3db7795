"""`allot check --images` asks registries, and without it nothing is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from allotment.cli import invoke
from tests.kubernetes.images.registry_server import FakeRegistry, registry


@pytest.fixture
def fake() -> Iterator[FakeRegistry]:
    with registry() as found:
        yield found


@pytest.fixture(autouse=True)
def nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR", "ALLOT_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))


def checked(
    root: Path, image: str, capsys: pytest.CaptureFixture[str], *words: str, code: int
) -> list[dict[str, Any]]:
    (root / "pipelines").mkdir()
    (root / "pipelines/read.yaml").write_text(f"image: {image}\nsteps: [{{step: checksum}}]\n")
    (root / "platform.yaml").write_text("engine: kubernetes\nbucket: s3://results\n")
    assert invoke(["check", "-C", str(root), "-o", "json", *words]) == code
    findings: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["findings"]
    return [each for each in findings if each["rule"].startswith("image-")]


def test_an_image_without_a_runner_is_an_error_at_its_place(
    fake: FakeRegistry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (found,) = checked(tmp_path, fake.named(fake.image({})), capsys, "--images", code=1)
    assert (found["rule"], found["line"], found["column"]) == ("image-unfit", 1, 8)
    assert "no runner in it" in found["message"]
    assert "`runner.image`" in found["hint"]


@pytest.mark.parametrize(("words", "code"), [((), 0), (("--strict",), 1)])
def test_a_registry_that_does_not_say_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int
) -> None:
    with registry("basic") as fake:
        image = fake.named(fake.image({}))
        (found,) = checked(tmp_path, image, capsys, "--images", *words, code=code)
    assert (found["rule"], found["severity"]) == ("image-untold", "warning")


def test_without_being_asked_to_it_asks_nobody(
    fake: FakeRegistry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checked(tmp_path, fake.named(fake.image({})), capsys, code=0) == []
    assert fake.asked == []


def test_an_image_that_fits_is_fine(
    fake: FakeRegistry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = fake.named(fake.image({"io.allotment.runner": "1"}))
    assert checked(tmp_path, image, capsys, "--images", code=0) == []
    assert len(fake.asked) == 2
