"""Whose platform file holds: the option, the variable, the machine's, the repository's own, the built-in."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.errors import FindingsError, Severity, UsageError
from allotment.platform.find import BUILT_IN, find_platform, look_for_platform
from allotment.platform.model import Platform


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    return root


def write(path: Path, window: int, *, engine: str = "engine: local\n") -> Path:
    path.write_text(f"{engine}defaults: {{window: {window}}}\n")
    return path


def test_each_file_counts_before_the_next(root: Path, tmp_path: Path) -> None:
    option, variable = write(tmp_path / "o.yaml", 1), write(tmp_path / "v.yaml", 2)
    system, own = write(tmp_path / "s.yaml", 3), write(root / "platform.yaml", 4)
    environ = {"ALLOT_PLATFORM": str(variable)}

    def window(option: Path | None, environ: dict[str, str]) -> tuple[int, str]:
        platform, origin = find_platform(root, option=option, environ=environ, system_file=system)
        return platform.defaults.window, origin

    assert window(option, environ) == (1, str(option))
    assert window(None, environ) == (2, str(variable))
    assert window(None, {}) == (3, str(system))
    system.unlink()
    assert window(None, {}) == (4, str(own))
    own.unlink()
    assert window(None, {}) == (20, BUILT_IN)


@pytest.mark.parametrize("engine", ["", "engine: kubernetes\n"])
def test_a_repositorys_own_file_counts_only_for_this_machine(root: Path, tmp_path: Path, engine: str) -> None:
    write(root / "platform.yaml", 4, engine=engine)
    found = look_for_platform(root, option=None, environ={}, system_file=tmp_path / "none")
    assert found.platform == Platform()
    assert found.origin == BUILT_IN
    (note,) = found.findings
    assert (note.rule, note.severity) == ("platform-not-used", Severity.NOTE)
    assert find_platform(root, option=None, environ={}, system_file=tmp_path / "none")[1] == BUILT_IN


def test_a_warning_does_not_make_a_repositorys_own_file_count(root: Path, tmp_path: Path) -> None:
    (root / "platform.yaml").write_text('engine: kubernetes\nversions: {kubernetes: "1.38"}\n')
    found = look_for_platform(root, option=None, environ={}, system_file=tmp_path / "none")
    assert (found.platform, found.origin) == (Platform(), BUILT_IN)


def test_a_named_file_must_exist(root: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--platform"):
        find_platform(root, option=tmp_path / "none.yaml", environ={})
    with pytest.raises(UsageError, match="ALLOT_PLATFORM"):
        find_platform(root, option=None, environ={"ALLOT_PLATFORM": str(tmp_path / "none.yaml")})


def test_a_broken_file_is_an_error_with_its_findings(root: Path, tmp_path: Path) -> None:
    (root / "platform.yaml").write_text("engine: local\nlanse: {}\n")
    with pytest.raises(FindingsError) as caught:
        find_platform(root, option=None, environ={}, system_file=tmp_path / "none")
    assert [finding.rule for finding in caught.value.findings] == ["unknown-key"]
