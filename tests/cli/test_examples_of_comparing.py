"""The six situations of examples/compare come out as their README says, in the words that are stored."""

from __future__ import annotations

import html
import importlib.util
import re
import shlex
from pathlib import Path
from types import ModuleType

import pytest

from allotment.cli import invoke

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples" / "compare"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("examples_script", ROOT / "scripts" / "examples.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = script()
CALLS = {f"{call[0]}-{Path(call[2]).parts[0]}": call for call in SCRIPT.calls()}
VERDICTS = {
    "own-cluster": "no",
    "small-models": "yes",
    "lend-and-take-back": "maybe",
    "served-model": "yes",
    "what-is-free": "no",
}
REPOSITORIES = sorted(
    {
        f"{path.parent.parent.name}/{path.parent.name}"
        for path in EXAMPLES.glob("*/*/*")
        if path.name in {"campaigns", "fleets", "gangs"} and path.is_dir()
    }
)


@pytest.mark.parametrize("name", REPOSITORIES)
def test_nothing_is_wrong_with_the_files(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    repository = EXAMPLES / name
    platform = repository.parent / "cluster.yaml"
    words = ["check", "-C", str(repository), "--platform", str(platform), "--team", repository.name]
    assert invoke(words) == 0
    assert " error " not in capsys.readouterr().out


@pytest.mark.parametrize("name", CALLS)
def test_what_is_stored_is_what_the_call_prints(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ALLOT_PLATFORM", raising=False)
    call = CALLS[name]
    found = SCRIPT.outputs(call)
    again = f"write it anew: python scripts/examples.py ({shlex.join(call)})"
    assert found["text"] == (EXAMPLES / SCRIPT.place(call, "text")).read_text(), again
    page = (EXAMPLES / SCRIPT.place(call, "html")).read_text()
    assert figures(page) == figures(found["html"]), again
    if "svg" in found:
        image = (EXAMPLES / SCRIPT.place(call, "svg")).read_text()
        assert labels(image) == labels(found["svg"]), again


def figures(page: str) -> list[str]:
    """What a page says in cells of tables, in order: figures and words, however they are laid out."""
    cells = re.findall(r"<td[^>]*>(.*?)</td>", page, flags=re.DOTALL)
    return [" ".join(html.unescape(re.sub(r"<[^>]*>", " ", cell)).split()) for cell in cells]


def labels(image: str) -> list[str]:
    """The words that stand in an image, in order."""
    return re.findall(r"<text[^>]*>([^<]*)", image)


@pytest.mark.parametrize(("example", "verdict"), VERDICTS.items())
def test_it_comes_out_as_the_readme_says(example: str, verdict: str) -> None:
    text = (EXAMPLES / example / "compare.txt").read_text()
    assert f"worth adding kai? {verdict}, against " in text
    (row,) = (line for line in (EXAMPLES / "README.md").read_text().splitlines() if f"| `{example}`" in line)
    assert row.split("|")[2].strip() == verdict


def test_lines_of_the_stored_tables_fit_a_hundred_columns() -> None:
    for path in EXAMPLES.glob("*/compare.txt"):
        assert max(map(len, path.read_text().splitlines())) <= 100
