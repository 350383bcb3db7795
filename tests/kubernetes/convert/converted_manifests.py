"""The manifests of this folder and what `allot convert` says of them; ``python -m`` this writes the files."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from allotment.cli import allot

HERE = Path(__file__).parent
MANIFESTS = HERE / "manifests"
GOLDEN = HERE / "golden"
NAMES = tuple(sorted(path.name for path in MANIFESTS.iterdir()))


def said(name: str, *options: str) -> tuple[int, str]:
    """The exit code and the text for a manifest."""
    text = (MANIFESTS / name).read_text(encoding="utf-8")
    result = CliRunner().invoke(allot, ["convert", *options, "-"], input=text, standalone_mode=False)
    assert result.exception is None, result.exception
    return result.return_value, result.stdout


def golden(name: str) -> Path:
    """Where the text is stored."""
    return GOLDEN / f"{name.partition('.')[0]}.txt"


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for each in NAMES:
        golden(each).write_text(said(each)[1], encoding="utf-8")
