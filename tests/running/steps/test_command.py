"""Any program as a step: what it is given, what becomes an output, how its ending is understood."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from allotment.running.steps import Page, PageRefused, Step, StepContext, StepSettingsError
from allotment.running.steps.command import CommandError, create
from allotment.running.steps.command_settings import read_settings

PAGE = Page("v", 7, "0007", "skannad sida.png", b"pixels", "image/png")


def python(code: str, *arguments: str, **settings: Any) -> dict[str, Any]:
    return {"run": [sys.executable, "-c", code, "{page}", "{out}", *arguments], **settings}


def step(settings: dict[str, Any], workdir: Path) -> Step:
    return create(settings, StepContext(workdir=workdir))


WRITES = "import sys, pathlib; out = pathlib.Path(sys.argv[2]); page = pathlib.Path(sys.argv[1]);"


# ---- what goes in ------------------------------------------------------------------------------------------


def test_the_page_is_a_file_and_files_in_the_folder_are_outputs(tmp_path: Path) -> None:
    made = step(
        python(
            WRITES + "(out/'b.txt').write_bytes(page.read_bytes()[::-1]); (out/'a').write_text(page.name)"
        ),
        tmp_path,
    )(PAGE, {})
    assert made == {"a": b"0007.png", "b.txt": b"slexip"}
    assert list(made) == ["a", "b.txt"]


def test_nothing_is_left_in_the_work_folder(tmp_path: Path) -> None:
    code = WRITES + "(out/'a').write_text('x'); (page.parent/'mess').mkdir(mode=0o000)"
    step(python(code), tmp_path)(PAGE, {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("media_type", "source", "file"),
    [
        ("image/jpeg", "a.png", "0007.jpg"),
        ("image/png", "book.pdf#3", "0007.png"),
        ("application/octet-stream", "a.xml", "0007.xml"),
        ("application/octet-stream", "a.x/../y", "0007.bin"),
        ("application/octet-stream", "README", "0007.bin"),
    ],
)
def test_the_pages_file_is_named_for_its_page_and_kind(
    tmp_path: Path, media_type: str, source: str, file: str
) -> None:
    page = Page("v", 7, "0007", source, b"", media_type)
    made = step(python(WRITES + "(out/'name').write_text(page.name)"), tmp_path)(page, {})
    assert made["name"].decode() == file


def test_words_in_braces_are_filled_in_anywhere_and_other_braces_stay(tmp_path: Path) -> None:
    code = WRITES + "(out/'args').write_text('|'.join(sys.argv[3:]))"
    made = step(python(code, "--to={name}.txt", "{unknown}", "awk '{print $1}'", "{name}{name}"), tmp_path)(
        PAGE, {}
    )
    assert made["args"].decode() == "--to=0007.txt|{unknown}|awk '{print $1}'|00070007"


def test_no_shell_takes_an_argument_apart(tmp_path: Path) -> None:
    code = WRITES + "(out/'args').write_text(sys.argv[3])"
    made = step(python(code, "$(touch /tmp/never); `id` > x & {name}"), tmp_path)(PAGE, {})
    assert made["args"].decode() == "$(touch /tmp/never); `id` > x & 0007"


def test_what_earlier_steps_made_is_in_a_folder(tmp_path: Path) -> None:
    code = "import sys, pathlib; print(pathlib.Path(sys.argv[2], 'ocr.txt').read_text().upper(), end='')"
    settings = {"run": [sys.executable, "-c", code, "{page}", "{earlier}"], "stdout": "txt"}
    made = step(settings, tmp_path)(PAGE, {"ocr.txt": "kära".encode()})
    assert made == {"txt": "KÄRA".encode()}


def test_the_environment_is_the_workers_with_what_is_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    code = WRITES + "import os; (out/'env').write_text(os.environ['OMP_NUM_THREADS'] + os.environ['COLOUR'])"
    assert step(python(code, env={"COLOUR": 12}), tmp_path)(PAGE, {})["env"] == b"312"


def test_standard_input_is_empty(tmp_path: Path) -> None:
    code = WRITES + "(out/'read').write_text(repr(sys.stdin.read()))"
    assert step(python(code), tmp_path)(PAGE, {})["read"] == b"''"


# ---- what comes out ----------------------------------------------------------------------------------------


def test_what_the_program_prints_can_be_an_output(tmp_path: Path) -> None:
    settings = {"run": ["cat", "{page}"], "stdout": "copy.png"}
    assert step(settings, tmp_path)(PAGE, {}) == {"copy.png": b"pixels"}


def test_only_the_outputs_that_are_asked_for_are_kept(tmp_path: Path) -> None:
    code = WRITES + "[(out/n).write_text(n) for n in ('keep', 'debug')]"
    assert step(python(code, outputs=["keep"]), tmp_path)(PAGE, {}) == {"keep": b"keep"}


def test_an_output_that_is_missing_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"ended well but left no `text\.txt`"):
        step(python("pass", outputs=["text.txt"]), tmp_path)(PAGE, {})


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        ("(out/'l').symlink_to('/etc/passwd')", "`l` in its folder, which is a link"),
        ("import os; os.link(page, out/'h')", "`h` in its folder, which is a link"),
        ("import os; os.mkfifo(out/'f')", "`f` in its folder, which is a link, a folder or a device"),
        ("out.rmdir(); out.symlink_to('/etc')", "took away the folder"),
        ("out.rmdir(); out.mkdir(); (out/'a').write_text('x')", "took away the folder"),
        ("out.rmdir()", "took away the folder"),
        ("(out/'d').mkdir()", "`d` in its folder, which is a link, a folder"),
        ("import os; os.mkfifo(out/'f')", "`f` in its folder"),
        ("(out/'.hidden').write_text('')", "left a file '.hidden'"),
        ("(out/'two words').write_text('')", "left a file 'two words'"),
        ("(out/'åäö').write_text('')", "left a file 'åäö'"),
        ("(out/('n' * 101)).write_text('')", "begins with a letter or digit"),
    ],
)
def test_what_cannot_be_part_of_a_key_is_a_failure(tmp_path: Path, deed: str, words: str) -> None:
    with pytest.raises(CommandError, match=words):
        step(python(WRITES + deed), tmp_path)(PAGE, {})


# ---- how it ends -------------------------------------------------------------------------------------------


def test_an_exit_code_is_an_ordinary_failure_with_the_last_lines_of_standard_error(tmp_path: Path) -> None:
    code = "import sys; [print('line', n, file=sys.stderr) for n in range(9)]; print('printed'); sys.exit(13)"
    with pytest.raises(CommandError) as failure:
        step(python(code), tmp_path)(PAGE, {})
    name = Path(sys.executable).name
    assert str(failure.value) == (
        f"the program `{name}` ended with exit code 13: line 4 | line 5 | line 6 | line 7 | line 8"
    )


def test_a_signal_is_an_ordinary_failure(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="was ended by SIGSEGV"):
        step(python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"), tmp_path)(PAGE, {})


def test_an_exit_code_can_mean_that_the_page_is_refused(tmp_path: Path) -> None:
    code = "import sys; print('no text on it', file=sys.stderr); sys.exit(4)"
    with pytest.raises(PageRefused, match=r"refuses it \(exit code 4\): no text on it"):
        step(python(code, refuse_codes=[3, 4]), tmp_path)(PAGE, {})


def test_standard_error_goes_to_the_log_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    step(python("import sys; print('reading', file=sys.stderr)"), tmp_path)(PAGE, {})
    assert capsys.readouterr().err == "reading\n"


# ---- nothing survives --------------------------------------------------------------------------------------


class OutOfTime(Exception):
    pass


def until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in {"Z", "X"}


LEAVES_A_PROCESS = """
import os, sys, time, pathlib
if os.fork() == 0:
    {detach}
    if os.fork() == 0:
        pathlib.Path({file!r}).write_text(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
{then}
"""


@pytest.mark.parametrize("detach", ["pass", "os.setsid()"])
def test_what_a_program_leaves_running_is_ended_with_it(tmp_path: Path, detach: str) -> None:
    file = tmp_path / "pid"
    known = f"pathlib.Path({str(file)!r})"
    then = f"\nwhile not {known}.exists() or not {known}.read_text(): time.sleep(0.01)"
    code = LEAVES_A_PROCESS.format(detach=detach, file=str(file), then=then)
    (tmp_path / "work").mkdir()
    step(python(code), tmp_path / "work")(PAGE, {})
    pid = int(file.read_text())
    until(lambda: not alive(pid))


@pytest.mark.parametrize("detach", ["pass", "os.setsid()"])
def test_time_that_is_up_ends_the_program_and_all_that_it_started(tmp_path: Path, detach: str) -> None:
    file = tmp_path / "pid"
    code = LEAVES_A_PROCESS.format(detach=detach, file=str(file), then="time.sleep(600)")
    (tmp_path / "work").mkdir()
    made = step(python(code), tmp_path / "work")

    def out_of_time(*_: object) -> None:
        raise OutOfTime

    def ring() -> None:
        until(lambda: file.exists() and file.read_text())
        os.kill(os.getpid(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, out_of_time)
    bell = threading.Thread(target=ring)
    bell.start()
    try:
        with pytest.raises(OutOfTime):
            made(PAGE, {})
    finally:
        bell.join()
        signal.signal(signal.SIGUSR1, before)
    pid = int(file.read_text())
    until(lambda: not alive(pid))
    assert list((tmp_path / "work").iterdir()) == []


def test_the_program_is_in_the_workers_process_group(tmp_path: Path) -> None:
    code = WRITES + "import os; (out/'group').write_text(str(os.getpgid(0)))"
    assert int(step(python(code), tmp_path)(PAGE, {})["group"]) == os.getpgid(0)


# ---- settings ----------------------------------------------------------------------------------------------

GOOD = ["cat", "{page}", "{out}"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "`run` is a list of the program and its arguments"),
        ({"run": "cat {page} > {out}/x"}, "`run` is a list"),
        ({"run": []}, "`run` is a list"),
        ({"run": ["cat", True, "{page}"]}, "`run` has True, which is no text: put it in quotes"),
        ({"run": ["cat", "", "{page}"]}, "`run` has ''"),
        ({"run": ["cat", None]}, "`run` has None"),
        ({"run": ["cat", "a\0b", "{page}"]}, "a zero byte"),
        ({"run": ["cat", "{out}"]}, "never says `{page}`"),
        ({"run": ["cat", "{page}"]}, "never says `{out}`.*or let `stdout: txt`"),
        ({"run": GOOD, "outs": []}, "no setting `outs`; did you mean `outputs`"),
        ({"run": GOOD, "env": ["A=1"]}, "`env` is a mapping"),
        ({"run": GOOD, "env": {"A-B": "1"}}, "`env` has 'A-B', which cannot name a variable"),
        ({"run": GOOD, "env": {"ALLOT_WORKER": "1"}}, "`env` has ALLOT_WORKER; names that begin with ALLOT_"),
        ({"run": GOOD, "env": {"A": None}}, "`env` has None for A, which is no text"),
        ({"run": GOOD, "env": {"A": True}}, "`env` has True for A"),
        ({"run": GOOD, "outputs": "txt"}, "`outputs` is a list of file names"),
        ({"run": GOOD, "outputs": []}, "`outputs` is a list of file names"),
        ({"run": GOOD, "outputs": ["../x"]}, "`outputs` has '../x'"),
        ({"run": GOOD, "outputs": ["a", "a"]}, "names a file twice"),
        ({"run": GOOD, "outputs": ["a", None]}, "an empty line"),
        ({"run": GOOD, "stdout": "a/b"}, "`stdout` has 'a/b'"),
        ({"run": GOOD, "refuse_codes": 3}, "`refuse_codes` is a list of exit codes"),
        ({"run": GOOD, "refuse_codes": [0]}, "from 1 to 255"),
        ({"run": GOOD, "refuse_codes": [True]}, "from 1 to 255"),
    ],
)
def test_settings_that_cannot_work_are_refused_in_words(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(StepSettingsError, match=words):
        read_settings(settings)


def test_a_program_that_is_not_there_is_refused_before_the_first_page(tmp_path: Path) -> None:
    with pytest.raises(StepSettingsError, match=r"the program `no-such-program` .* is not found"):
        step({"run": ["no-such-program", "{page}", "{out}"]}, tmp_path)


def test_numbers_in_arguments_are_text() -> None:
    assert read_settings({"run": ["cat", "{page}", "{out}", 3, 1.5]}).run == (
        "cat",
        "{page}",
        "{out}",
        "3",
        "1.5",
    )
