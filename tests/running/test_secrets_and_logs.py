"""Secrets: where they come from, what is refused, that nothing shows them; logs for people and programs."""

from __future__ import annotations

import io
import json
import logging
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.documents import read_text
from allotment.events.event import Event
from allotment.events.sinks import ListSink
from allotment.repository.model import EnvironmentVariable, Pipeline, StepCall
from allotment.running import masking
from allotment.running.logs import JsonLines, Lines, Where, event_line, wants_json
from allotment.running.masking import MaskedStream, MaskingSink, hide
from allotment.running.objects import dump
from allotment.running.secrets import MASK, Secrets, masker, read_secrets, secrets_folder


@pytest.fixture(autouse=True)
def _nothing_hidden() -> Iterator[None]:
    yield
    hide(())


def pipeline(key: str = "token") -> Pipeline:
    text = f"steps: [{{step: ocr}}]\nenv:\n  PLAIN: x\n  TOKEN: {{secret: hub, key: '{key}'}}\n"
    variables = (EnvironmentVariable("PLAIN", "x"), EnvironmentVariable("TOKEN", secret="hub", key=key))
    document = read_text(text, name="pipelines/p.yaml")
    return Pipeline("p", (StepCall("ocr"),), env=variables, path=Path("pipelines/p.yaml"), document=document)


def lay(folder: Path, content: bytes = b"s3cret\n", mode: int = 0o600) -> Path:
    (folder / "hub").mkdir(exist_ok=True)
    path = folder / "hub" / "token"
    path.write_bytes(content)
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    ("content", "value"),
    [(b"s3cret\n", "s3cret"), (b"s3cret", "s3cret"), (b"a\nb\n\n", "a\nb\n"), (b"a\r\n", "a"), (b"", "")],
)
def test_a_secret_is_the_file_without_its_last_line_end(tmp_path: Path, content: bytes, value: str) -> None:
    lay(tmp_path, content)
    secrets, findings = read_secrets([pipeline()], tmp_path)
    assert findings == []
    assert secrets.variables(Path("pipelines/p.yaml")) == {"TOKEN": value}
    assert secrets.variables(Path("pipelines/other.yaml")) == {}


@pytest.mark.parametrize(
    ("mode", "content", "rule", "said"),
    [
        (0o640, b"x", "secret-open-to-others", "chmod 600"),
        (0o604, b"x", "secret-open-to-others", "others can read"),
        (0o620, b"x", "secret-open-to-others", "chmod 600"),
        (0o600, b"a\0b", "secret-unusable", "zero byte"),
        (0o600, b"x" * 70_000, "secret-unusable", "too large"),
    ],
)
def test_a_file_that_is_no_place_for_a_secret_is_refused(
    tmp_path: Path, mode: int, content: bytes, rule: str, said: str
) -> None:
    lay(tmp_path, content, mode)
    secrets, (finding,) = read_secrets([pipeline()], tmp_path)
    assert (finding.rule, said in str(finding)) == (rule, True), str(finding)
    assert str(finding.position) == "pipelines/p.yaml:4:10"
    assert secrets.variables(Path("pipelines/p.yaml")) == {}


@pytest.mark.parametrize(
    ("key", "rule"),
    [("other", "secret-missing"), ("..", "secret-unusable"), ("../hub/token", "secret-unusable")],
)
def test_a_secret_that_is_not_there_is_told_with_its_line(tmp_path: Path, key: str, rule: str) -> None:
    lay(tmp_path)
    _, (finding,) = read_secrets([pipeline(key)], tmp_path)
    assert (finding.rule, finding.position.line) == (rule, 4)


def test_what_is_no_plain_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "hub").mkdir()
    os.mkfifo(tmp_path / "hub" / "token", 0o600)
    _, (finding,) = read_secrets([pipeline()], tmp_path)
    assert "no plain file" in finding.message


def test_secrets_show_nothing_of_themselves() -> None:
    secrets = Secrets({Path("p"): {"TOKEN": "s3cret"}})
    assert "s3cret" not in f"{secrets} {secrets!r}"
    assert secrets.mask(Path("p"))("the s3cret word") == f"the {MASK} word"
    assert secrets.mask(Path("q"))("the s3cret word") == "the s3cret word"


@given(st.lists(st.text(min_size=4), max_size=4), st.text())
def test_no_value_is_left_in_a_masked_text(values: list[str], text: str) -> None:
    kept = [value for value in values if len(value.strip()) >= 4 and not set(value) <= set(MASK)]
    shown = masker(kept)(text.join(["", *kept, ""]))
    assert all(value not in shown for value in kept if MASK not in value)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"ALLOT_SECRETS": "/s"}, "/s"),
        ({"XDG_CONFIG_HOME": "/c"}, "/c/allotment/secrets"),
        ({}, str(Path("~/.config/allotment/secrets").expanduser())),
    ],
)
def test_where_secrets_lie(environ: dict[str, str], expected: str) -> None:
    assert str(secrets_folder(environ)) == expected


def test_nothing_that_a_worker_says_has_a_secret_in_it() -> None:
    value = 'pa"ss\\word'
    mask = hide([value])
    assert (
        value
        not in json.loads(dump({"format_version": 1, "message": f"no {value}", "more": [value]}))["message"]
    )
    assert b"ss" not in dump({"more": [value, {"deep": value}]})
    sink = ListSink()
    MaskingSink(sink).emit(Event("warning", 0.0, "t", "c", None, None, {"message": value, "number": 3}))
    assert sink.events[0].data == {"message": MASK, "number": 3}
    stream = io.StringIO()
    print("the", value, file=MaskedStream(stream, mask))
    assert stream.getvalue() == f"the {MASK}\n"
    assert masking.masked(value) == MASK


def record(message: str, *, failing: bool = False) -> logging.LogRecord:
    made = logging.LogRecord("allotment.x", logging.WARNING, "f.py", 1, message, None, None)
    made.created = 1_700_000_000.5
    if failing:
        try:
            raise RuntimeError("with s3cret inside")
        except RuntimeError as error:
            made.exc_info = (type(error), error, error.__traceback__)
    return made


def test_plain_lines_are_one_line_a_message_and_masked() -> None:
    mask = hide(["s3cret"])
    line = Lines(mask).format(record("two\nlines s3cret", failing=True))
    assert line.splitlines()[0].endswith(f"warning two\\nlines {MASK}")
    assert "s3cret" not in line
    assert "RuntimeError" in line


def test_json_lines_carry_one_id() -> None:
    mask = hide(["s3cret"])
    about = Where("team", "letters", "v1")
    said = json.loads(JsonLines(about, mask).format(record('a "quote"\n s3cret', failing=True)))
    assert said["id"] == "team/letters/v1"
    assert (said["team"], said["campaign"], said["volume"]) == ("team", "letters", "v1")
    assert (said["level"], said["message"]) == ("warning", f'a "quote"\n {MASK}')
    assert said["time"] == "2023-11-14T22:13:20.500Z"
    assert "s3cret" not in said["traceback"]
    about.volume = None
    assert json.loads(JsonLines(about).format(record("x")))["id"] == "team/letters"


def test_an_event_is_a_line_of_the_same_kind() -> None:
    event = Event("page.done", 1.0, "team", "letters", "v1", "0002", {"seconds": 2.5})
    said = json.loads(event_line(event, "a page is done"))
    assert (said["id"], said["kind"], said["page"]) == ("team/letters/v1", "page.done", "0002")
    assert said["data"] == {"seconds": 2.5}
    assert json.loads(event_line(replace(event, kind="volume.failed"), "x"))["level"] == "error"


@pytest.mark.parametrize(
    ("said", "expected"), [("json", True), (" JSON ", True), ("", False), ("text", False)]
)
def test_json_is_asked_for_by_name(said: str, *, expected: bool) -> None:
    assert wants_json({"ALLOT_LOG": said}) is expected
