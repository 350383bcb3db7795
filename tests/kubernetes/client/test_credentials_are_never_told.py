"""Credentials that cannot be sent are refused when they are read, and none stands in any message."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from allotment.errors import AllotmentError
from allotment.kubernetes.client.exec_credentials import Program
from allotment.kubernetes.client.http import HttpTransport
from allotment.kubernetes.client.secrets import bare_address, fault_in, without, without_quotes
from allotment.kubernetes.images.asking import Asking, Question, UnaskedError
from allotment.kubernetes.images.reference import reference_of
from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.loopback import listening
from tests.kubernetes.client.test_over_http import client_of, who

SECRET = "hunter2hunter2"
NOWHERE = {"server": "http://127.0.0.1:1"}
V1 = "client.authentication.k8s.io/v1"


def script(folder: Path, text: str) -> dict[str, Any]:
    path = folder / "login"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return {"apiVersion": V1, "command": str(path), "interactiveMode": "Never"}


def refused(folder: Path, cluster: dict[str, Any], user: dict[str, Any]) -> str:
    with (
        pytest.raises(AllotmentError) as caught,
        client_of(folder, cluster, user) as client,
    ):
        who(client)
    assert caught.value.exit_code == 3
    assert caught.value.remedy
    return str(caught.value)


@pytest.mark.parametrize(
    ("user", "said"),
    [
        ({"token": f"{SECRET}\nmore"}, "`token` has a line break in it"),
        ({"token": f"{SECRET}\n"}, "`token` has a line break in it"),
        ({"token": f" {SECRET}"}, "`token` begins or ends with a blank"),
        ({"token": f"{SECRET}é"}, "`token` has a character in it that no header can carry"),
        ({"token": "t", "as": f"{SECRET}\r"}, "`as` has a line break"),
        ({"token": "t", "as": "a", "as-groups": ["a", f"{SECRET}\nb"]}, "`as-groups` has a line break"),
        ({"token": "t", "as": "a", "as-user-extra": {"k": [f"{SECRET}\0"]}}, "`as-user-extra` has a char"),
    ],
)
def test_a_credential_that_no_header_can_carry_is_refused_when_it_is_read(
    tmp_path: Path, user: dict[str, Any], said: str
) -> None:
    text = refused(tmp_path, NOWHERE, user)
    assert said in text
    assert SECRET not in text
    assert "tries" not in text


def test_a_token_of_a_file_or_a_program_is_looked_at_too(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{SECRET}\nmore\n")
    given = script(tmp_path, f"""echo '{{"apiVersion": "{V1}", "status": {{"token": "{SECRET}\\\\n"}}}}'""")
    for user, said in (
        ({"tokenFile": "token"}, "`tokenFile` has a line break"),
        ({"exec": given}, "the token that it gives has a line break"),
    ):
        text = refused(tmp_path, NOWHERE, user)
        assert said in text
        assert SECRET not in text


def test_a_token_of_a_file_is_read_again_when_it_is_refused(tmp_path: Path) -> None:
    from tests.kubernetes.client.test_over_http import ADA

    file = tmp_path / "token"
    file.write_text("old\n")
    server = FakeApiServer(tokens={"secret": ADA})
    with (
        listening(server) as address,
        client_of(tmp_path, {"server": address}, {"tokenFile": "token"}) as client,
    ):
        file.write_text("secret\n")
        assert who(client) == "ada"


@pytest.mark.parametrize(
    ("cluster", "user"),
    [
        ({"server": f"https://a:{SECRET}@b:port"}, {}),
        ({"server": f"ftp://a:{SECRET}@b"}, {}),
        ({"server": "https://x", "proxy-url": f"http://a:{SECRET}/@b"}, {}),
        ({"server": "https://x", "proxy-url": f"odd://a:{SECRET}@b"}, {}),
        ({"server": "https://x"}, {"token": [SECRET]}),
    ],
)
def test_an_address_is_told_without_its_password(
    tmp_path: Path, cluster: dict[str, Any], user: dict[str, Any]
) -> None:
    assert SECRET not in refused(tmp_path, cluster, user)


@pytest.mark.parametrize("value", [f"*{SECRET}", f"!{SECRET} x", f"'{SECRET}", f"@{SECRET}", f"%{SECRET}"])
def test_what_is_no_yaml_is_told_without_its_words(tmp_path: Path, value: str) -> None:
    from allotment.kubernetes.client.kubeconfig import access

    path = tmp_path / "config"
    path.write_text(f"users:\n- name: a\n  user:\n    password: {value}\n")
    with pytest.raises(AllotmentError, match="it is no YAML") as caught:
        access(None, {"KUBECONFIG": str(path)}, tmp_path)
    assert SECRET not in str(caught.value)
    assert "config:4:" in str(caught.value) or "config:5:" in str(caught.value)


def test_what_a_library_says_of_a_header_is_not_told_and_not_tried_again() -> None:
    tried: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        tried.append(str(request.url))
        raise httpx2.LocalProtocolError(f"Illegal header value b'Bearer {SECRET}'")

    client = httpx2.Client(base_url="http://x", transport=httpx2.MockTransport(answer))
    with pytest.raises(AllotmentError) as caught:
        HttpTransport(client, "blue").send("GET", "/version", {}, {}, b"")
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert len(tried) == 1


def test_a_server_that_sends_back_what_it_was_sent_tells_no_credential() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(403, text=f"denied: {dict(request.headers)}")

    headers = {"authorization": f"Bearer {SECRET}"}
    client = httpx2.Client(base_url="http://x", transport=httpx2.MockTransport(answer), headers=headers)
    assert SECRET.encode() not in HttpTransport(client, "blue").send("GET", "/v", {}, {}, b"").body


def test_a_registrys_token_that_cannot_be_sent_is_not_told() -> None:
    with listening(FakeApiServer()) as address:
        home = reference_of("127.0.0.1:1/a@sha256:0")
        asking = Asking(home, lambda _host, _port: ("127.0.0.1",))
        with pytest.raises(UnaskedError) as caught:
            asking.ask(Question(f"{address}/v2/", {"Authorization": f"Bearer {SECRET}\n"}))
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("illegal status line: bytearray(b'x y')", "illegal status line"),
        ("Illegal header value b'Bearer x'", "Illegal header value"),
        ("[Errno 111] Connection refused", "[Errno 111] Connection refused"),
        ("Expected `str`, got `int` - at `$.token`", "Expected `str`, got `int` - at `$.token`"),
    ],
)
def test_a_librarys_words_are_kept_without_what_they_quote(text: str, kept: str) -> None:
    assert without_quotes(text) == kept


def test_small_things() -> None:
    assert fault_in("eyJ.a-b_c=") == ""
    assert bare_address("https://a:b@c:1/d?e=f") == "https://c:1/d"
    assert bare_address("https://c:1/d") == "https://c:1/d"
    assert bare_address("https://[a:b@c") == "(hidden)"
    assert without(b"a b", "Bearer b") == b"a b"


def test_a_program_that_fails_is_quoted_without_what_its_environment_has(tmp_path: Path) -> None:
    told = script(tmp_path, 'echo "no login with $CLIENT_SECRET" >&2; exit 4')
    told["env"] = [{"name": "CLIENT_SECRET", "value": SECRET}]
    text = refused(tmp_path, NOWHERE, {"exec": told})
    assert "it ended with 4: no login with (hidden)" in text


def test_a_program_that_hangs_is_ended_with_its_children_and_named_while_it_is_waited_for(
    tmp_path: Path,
) -> None:
    told: list[str] = []
    exec_ = script(tmp_path, "sleep 60; echo")
    asked = Program("u", exec_, {}, {}, lambda: False, alone_seconds=0.3, quiet_seconds=0.1, say=told.append)
    begun = time.monotonic()
    with pytest.raises(AllotmentError, match="it did not end within 0 s"):
        asked.ask()
    assert time.monotonic() - begun < 30
    assert len(told) == 1
    assert "waiting for credentials from" in told[0]


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
