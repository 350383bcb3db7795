"""A client over loopback HTTP, by kubeconfigs: who asks, by which certificate, and what fails beneath."""

from __future__ import annotations

import base64
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from allotment.errors import AllotmentError
from allotment.kubernetes import kinds
from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.client.connecting import connect
from allotment.kubernetes.client.retries import Patience
from allotment.kubernetes.testing import FakeApiServer, faults
from allotment.kubernetes.testing.loopback import listening
from allotment.kubernetes.testing.permissions import Permissions
from tests.kubernetes.client.authority import Authority

ADA = Permissions("ada")
WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@contextmanager
def client_of(
    folder: Path, cluster: dict[str, Any], user: dict[str, Any] | None = None, **environ: str
) -> Iterator[Client]:
    """A client by a kubeconfig of one context, without a pause between tries."""
    told: dict[str, Any] = {
        "clusters": [{"name": "c", "cluster": cluster}],
        "contexts": [{"name": "blue", "context": {"cluster": "c"}}],
        "current-context": "blue",
    }
    if user is not None:
        told["users"] = [{"name": "u", "user": user}]
        told["contexts"][0]["context"]["user"] = "u"
    path = folder / "config"
    path.write_text(yaml.safe_dump(told), encoding="utf-8")
    transport = connect(None, {**os.environ, **environ, "KUBECONFIG": str(path)}, folder)
    try:
        yield Client(transport, patience=Patience(lambda _: None, lambda: 0.0))
    finally:
        transport.close()


def who(client: Client) -> str:
    return str(client.ask(WHO, {})["status"]["userInfo"]["username"])


@pytest.fixture
def server() -> FakeApiServer:
    return FakeApiServer(tokens={"secret": ADA, "fresh": Permissions("eve")})


def data(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def test_a_token_says_who_asks(server: FakeApiServer, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret\n")
    with listening(server) as address:
        for user in ({"token": "secret"}, {"tokenFile": "token"}):
            with client_of(tmp_path, {"server": address}, user) as client:
                assert who(client) == "ada"


@pytest.mark.parametrize("user", [None, {}, {"token": "wrong"}, {"username": "a", "password": "b"}])
def test_whoever_is_not_known_is_told_so(
    server: FakeApiServer, tmp_path: Path, user: dict[str, Any] | None
) -> None:
    with listening(server) as address, client_of(tmp_path, {"server": address}, user) as client:
        with pytest.raises(ApiError, match="cluster blue: it does not know who asks") as caught:
            client.listed(kinds.NODE)
        assert (caught.value.status, caught.value.exit_code) == (401, 3)


def test_an_administrator_asks_as_another(tmp_path: Path) -> None:
    server = FakeApiServer()
    user = {"as": "ada", "as-groups": ["a", "b"], "as-user-extra": {"reason": ["x"]}}
    with listening(server) as address, client_of(tmp_path, {"server": address}, user) as client:
        client.listed(kinds.NODE)
    headers = server.requests[-1].headers
    assert (headers["impersonate-user"], headers["impersonate-extra-reason"]) == ("ada", "x")
    assert headers["user-agent"] == "allotment"


Given = dict[str, Any]


@pytest.mark.parametrize(
    "trust",
    [
        lambda crt: {"certificate-authority": str(crt)},
        lambda crt: {"certificate-authority-data": data(crt)},
        lambda crt: {"certificate-authority-data": data(crt), "certificate-authority": "none"},
        lambda _: {"insecure-skip-tls-verify": True},
    ],
)
def test_a_server_is_trusted_by_its_authority(tmp_path: Path, trust: Callable[[Path], Given]) -> None:
    authority = Authority(tmp_path)
    tls = authority.sign("server", "127.0.0.1").server_context()
    with listening(FakeApiServer(), tls) as address:
        cluster = {"server": address, **trust(authority.certificate)}
        with client_of(tmp_path, cluster) as client:
            assert client.raw("/version")["minor"] == "36"


def test_a_server_may_have_another_name(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    tls = authority.sign("server", "kube.example.org").server_context()
    with listening(FakeApiServer(), tls) as address:
        cluster = {"server": address, "certificate-authority": str(authority.certificate)}
        with client_of(tmp_path, {**cluster, "tls-server-name": "kube.example.org"}) as client:
            assert client.raw("/version")["minor"] == "36"
        with (
            client_of(tmp_path, cluster) as client,
            pytest.raises(ApiError, match="certificate is not to be trusted: IP address mismatch") as caught,
        ):
            client.raw("/version")
    assert "tries" not in str(caught.value)


@pytest.mark.parametrize(("days", "said"), [(1, "self.signed|local issuer"), (-1, "expired")])
def test_a_certificate_of_nobody_or_of_yesterday_is_not_trusted(tmp_path: Path, days: int, said: str) -> None:
    authority = Authority(tmp_path)
    trusted = authority if days < 0 else Authority(tmp_path, "other")
    tls = authority.sign("server", "127.0.0.1", days=days).server_context()
    with listening(FakeApiServer(), tls) as address:
        cluster = {"server": address, "certificate-authority": str(trusted.certificate)}
        with client_of(tmp_path, cluster) as client, pytest.raises(ApiError, match=said) as caught:
            client.raw("/version")
    assert (caught.value.status, caught.value.exit_code) == (0, 3)
    assert "certificate-authority" in caught.value.remedy


@pytest.mark.parametrize("inline", [True, False])
def test_a_client_shows_its_certificate(tmp_path: Path, inline: bool) -> None:
    authority = Authority(tmp_path)
    mine = authority.sign("ada")
    tls = authority.sign("server", "127.0.0.1").server_context(authority.certificate)
    user = {"client-certificate": "ada.crt", "client-key": "ada.key"}
    if inline:
        user = {"client-certificate-data": data(mine.certificate), "client-key-data": data(mine.key)}
    with listening(FakeApiServer(), tls) as address:
        cluster = {"server": address, "certificate-authority": str(authority.certificate)}
        with client_of(tmp_path, cluster, user) as client:
            assert client.raw("/version")["minor"] == "36"
        with client_of(tmp_path, cluster) as client, pytest.raises(ApiError, match=r"secure|ended") as caught:
            client.raw("/version")
    assert caught.value.exit_code == 3


PROGRAM = """#!{python}
import json, os, pathlib, sys
counter = pathlib.Path(sys.argv[1])
count = int(counter.read_text()) + 1 if counter.exists() else 1
counter.write_text(str(count))
asked = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
tokens = os.environ["TOKENS"].split()
status = {{"token": tokens[min(count, len(tokens)) - 1]}}
if os.environ.get("CERTIFICATE"):
    status = {{"clientCertificateData": pathlib.Path(os.environ["CERTIFICATE"]).read_text(),
              "clientKeyData": pathlib.Path(os.environ["KEY"]).read_text()}}
assert asked["spec"]["interactive"] is False
print(json.dumps({{"apiVersion": asked["apiVersion"], "kind": "ExecCredential", "status": status}}))
"""


def program(folder: Path, tokens: str = "secret", text: str = PROGRAM, **environ: str) -> dict[str, Any]:
    path = folder / "login"
    path.write_text(text.format(python=sys.executable))
    path.chmod(0o755)
    told = [{"name": name, "value": value} for name, value in {"TOKENS": tokens, **environ}.items()]
    version = "client.authentication.k8s.io/v1"
    return {
        "apiVersion": version, "command": "./login", "args": [str(folder / "count")], "env": told,
        "interactiveMode": "Never", "installHint": "install it from the cloud", "provideClusterInfo": True,
    }  # fmt: skip


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_program_gives_a_token_once(server: FakeApiServer, tmp_path: Path, version: str) -> None:
    told = {**program(tmp_path), "apiVersion": f"client.authentication.k8s.io/{version}"}
    with listening(server) as address, client_of(tmp_path, {"server": address}, {"exec": told}) as client:
        assert [who(client), who(client)] == ["ada", "ada"]
    assert (tmp_path / "count").read_text() == "1"


def test_a_program_is_asked_again_when_its_token_is_refused(server: FakeApiServer, tmp_path: Path) -> None:
    told = program(tmp_path, tokens="old fresh")
    with listening(server) as address, client_of(tmp_path, {"server": address}, {"exec": told}) as client:
        assert who(client) == "eve"
    assert (tmp_path / "count").read_text() == "2"


def test_a_program_gives_a_certificate(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    mine = authority.sign("ada")
    tls = authority.sign("server", "127.0.0.1").server_context(authority.certificate)
    told = program(tmp_path, CERTIFICATE=str(mine.certificate), KEY=str(mine.key))
    with listening(FakeApiServer(), tls) as address:
        cluster = {"server": address, "certificate-authority": str(authority.certificate)}
        with client_of(tmp_path, cluster, {"exec": told}) as client:
            assert client.raw("/version")["minor"] == "36"


@pytest.mark.parametrize(
    ("change", "text", "said"),
    [
        ({"command": "./none"}, PROGRAM, r"is not installed\n  install it from the cloud"),
        ({"apiVersion": "client.authentication.k8s.io/v9"}, PROGRAM, "which is not known"),
        ({"interactiveMode": "Always"}, PROGRAM, "nobody is at the terminal"),
        ({}, "#!/bin/sh\necho a >&2; echo 'please log in' >&2; exit 3\n", "it ended with 3: please log in"),
        ({}, "#!/bin/sh\necho '  log  in' >&2; echo ')' >&2; exit 3\n", "it ended with 3: log in$"),
        ({}, "#!/bin/sh\necho no\n", "no ExecCredential"),
        ({}, "#!/bin/sh\necho '{{\"status\": {{}}}}'\n", "it answers in `None`"),
    ],
)
def test_a_program_that_fails_is_told_in_one_sentence(
    tmp_path: Path, change: dict[str, Any], text: str, said: str
) -> None:
    told = {**program(tmp_path, text=text), **change}
    with (
        pytest.raises(AllotmentError, match=f"(?m){said}") as caught,
        client_of(tmp_path, {"server": "http://127.0.0.1:1"}, {"exec": told}),
    ):
        pass
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("cluster", "user", "said"),
    [
        ({"server": "https://x", "certificate-authority": "none.crt"}, {}, "and there is no such file"),
        ({"server": "https://x", "certificate-authority-data": "!"}, {}, "no PEM in base64"),
        ({"server": "https://x", "certificate-authority-data": "eA=="}, {}, "no PEM in base64"),
        ({"server": "kube.example.org"}, {}, "no address"),
        ({"server": "ftp://x"}, {}, "no address"),
        ({"server": "https://x:port"}, {}, "cannot be used"),
        ({"server": "https://x", "proxy-url": "odd://x"}, {}, "cannot be used"),
        ({"server": "https://x"}, {"tokenFile": "none"}, "`tokenFile` names"),
        ({"server": "https://x"}, {"token": 7}, "cannot be used"),
        ({"server": "https://x"}, {"auth-provider": {"name": "gcp"}}, "given up"),
    ],
)
def test_a_kubeconfig_that_is_not_fit_is_told_in_one_sentence(
    tmp_path: Path, cluster: dict[str, Any], user: dict[str, Any], said: str
) -> None:
    with pytest.raises(AllotmentError, match=said) as caught, client_of(tmp_path, cluster, user):
        pass
    assert (caught.value.exit_code, bool(caught.value.remedy)) == (3, True)
    assert str(tmp_path / "config") in str(caught.value)


def test_a_port_where_nothing_listens_is_tried_and_told(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with client_of(tmp_path, {"server": address}) as client, pytest.raises(ApiError) as caught:
            client.create(NAMESPACE, manager="allotment")
    assert "nothing listens at its server's address (2 tries)" in caught.value.what
    assert (caught.value.is_unsure, caught.value.exit_code) == (False, 3)


def test_a_name_that_is_not_known_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with client_of(tmp_path, {"server": "https://kube.example.org"}) as client:
        with pytest.raises(ApiError, match="the name of its server is not known here") as caught:
            client.raw("/version")
        assert "tries" not in caught.value.what


NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}
NAMED = {fault: name for name, fault in vars(faults).items() if isinstance(fault, faults.Fault)}
BORNE = [fault for fault in faults.EVERY if fault != faults.CONFLICT]


@pytest.mark.parametrize("fault", BORNE, ids=NAMED.__getitem__)
def test_a_creation_over_http_is_made_once_under_every_fault(tmp_path: Path, fault: faults.Fault) -> None:
    server = FakeApiServer(plan=faults.At({0: fault, 1: fault, 2: fault}))
    with listening(server) as address, client_of(tmp_path, {"server": address}) as client:
        assert client.create(NAMESPACE, manager="allotment")["metadata"]["name"] == "team-a"
        assert len(client.listed(kinds.NAMESPACE)) == 1


def test_a_log_and_a_watch_come_line_by_line_over_http(tmp_path: Path) -> None:
    server = FakeApiServer()
    server.add_namespace("team-a")
    spec = {"containers": [{"name": "work", "image": "registry.example.org/x"}]}
    server.play("POST", "/api/v1/namespaces/team-a/pods", body={"metadata": {"name": "p"}, "spec": spec})
    for text in ("one", "two"):
        server.logs.write("team-a", "p", text)
    with listening(server) as address, client_of(tmp_path, {"server": address}) as client:
        assert list(client.log("p", "team-a")) == [b"one\n", b"two\n"]
        watch = client.watch(kinds.POD, "team-a", seconds=1)
        assert [(sort, value["metadata"]["name"]) for sort, value in watch] == [("ADDED", "p")]


def test_what_is_no_api_server_is_told_as_such(tmp_path: Path) -> None:
    server = FakeApiServer()
    with listening(server) as address:
        with client_of(tmp_path, {"server": f"{address}/elsewhere"}) as client:
            with pytest.raises(ApiError, match="there is no such thing"):
                client.raw("/version")
        with client_of(tmp_path, {"server": address}) as client:
            with pytest.raises(ApiError, match="as no API server does"):
                client.raw("/healthz")
