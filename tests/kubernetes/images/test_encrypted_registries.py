"""A registry by its name is asked by https, and whoever signed for it must be trusted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from allotment.kubernetes.images import ImageVerdict, State, asking, check_image
from allotment.kubernetes.images.registry import Registries
from tests.kubernetes.client.authority import Authority
from tests.kubernetes.images.registry_server import FakeRegistry, registry

HOST = "registry.example.org"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def fake(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeRegistry]:
    """A registry in a private network, which the loopback address plays."""
    monkeypatch.setattr(asking, "PRIVATE", ("127.0.0.0/8",))
    with registry(tls=authority.sign("server", HOST).server_context()) as found:
        yield found


def checked(fake: FakeRegistry, *addresses: str, host: str = HOST) -> ImageVerdict:
    digest = fake.image({"io.allotment.runner": "1"})
    fetch = Registries({}, resolve=lambda _host, _port: addresses or ("127.0.0.1",), seconds=5)
    return check_image(f"{host}:{fake.port}/team/read@{digest}", injected=False, fetch=fetch)


def test_who_is_trusted_is_asked(
    fake: FakeRegistry, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    assert checked(fake).state is State.FINE
    assert len(fake.asked) == 2


def test_the_next_address_is_asked_where_one_does_not_answer(
    fake: FakeRegistry, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    assert checked(fake, "127.0.0.2", "127.0.0.1").state is State.FINE


@pytest.mark.parametrize(("host", "trusted"), [(HOST, False), ("another.example.org", True)])
def test_who_is_not_trusted_is_told_nothing(
    fake: FakeRegistry, authority: Authority, monkeypatch: pytest.MonkeyPatch, host: str, trusted: bool
) -> None:
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    verdict = checked(fake, host=host)
    assert (verdict.state, fake.asked) == (State.UNTOLD, [])
    assert f"the certificate of {host} is not trusted" in verdict.said
    assert "SSL_CERT_FILE" in verdict.remedy
