"""What is imported before a command is called, and how the command line refuses and helps."""

from __future__ import annotations

import subprocess
import sys

import pytest

from allotment.cli import COMMANDS, invoke
from allotment.errors import EXIT_INTERRUPTED, EXIT_USAGE

COSTLY = (
    "pydantic",
    "yaml",
    "rich",
    "PIL",
    "pypdfium2",
    "numpy",
    "rapidocr",
    "onnxruntime",
    "asyncio",
)


def imported(words: list[str]) -> set[str]:
    """Modules that a fresh process has imported after running these words."""
    program = (
        "import sys\n"
        "from allotment.cli import invoke\n"
        f"code = invoke({words!r})\n"
        "print('MODULES', *sys.modules)\n"
        "sys.exit(code)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(ended.stdout.rpartition("MODULES")[2].split())


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_help_imports_nothing_costly_and_no_room(words: list[str]) -> None:
    modules = imported(words)
    assert not modules & set(COSTLY)
    rooms = {name.split(".")[1] for name in modules if name.startswith("allotment.")}
    assert rooms <= {"cli", "errors"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_is_there_and_tells_its_use(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke([name, "--help"]) == 0
    assert f"allot {name}" in capsys.readouterr().out


def test_an_unknown_command_is_refused_with_the_closest(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["rum"]) == EXIT_USAGE
    assert "did you mean `run`?" in capsys.readouterr().err


def test_an_unknown_option_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["status", "--wach"]) == EXIT_USAGE
    assert "--wach" in capsys.readouterr().err


def test_no_words_show_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([]) == EXIT_USAGE
    assert "Commands:" in capsys.readouterr().err


def test_an_interrupt_while_it_starts_shows_no_trace() -> None:
    program = (
        "import sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'click':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "import allotment.cli\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (EXIT_INTERRUPTED, "")
