"""Encrypted connections: by the name of the host, with a certificate that holds, and never any less."""

from __future__ import annotations

import datetime
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from allotment.running.sources.web.client import Client, World
from allotment.running.sources.web.errors import UnreachableError, WebRefusedError
from tests.running.sources.archive import Archive, answer, redirect
from tests.running.sources.conftest import MakeClient, Time

NAME = "archive.test"
LIMIT = 10_000


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of our own for `archive.test` and no other name, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "archive.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture
def encrypted(certificate: Path) -> Iterator[Archive]:
    """An archive that speaks TLS, and notes which name it is asked by."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with Archive(tls=context) as running:
        running.names = names = []  # type: ignore[attr-defined]
        context.sni_callback = lambda _socket, name, _context: names.append(name)
        yield running


@pytest.fixture
def trusting(
    encrypted: Archive, client_of: MakeClient, clock: Time, certificate: Path
) -> Callable[..., Client]:
    """Makes clients that trust the certificate, for names that lead to the archive."""

    def make(*, trusted: bool = True, hosts: tuple[str, ...] = (NAME,)) -> Client:
        world = World(
            resolve=lambda _host, _port: ["127.0.0.1"],
            monotonic=clock.monotonic,
            sleep=clock.sleep,
            trusted=lambda: ssl.create_default_context(cafile=certificate if trusted else None),
        )
        named = tuple(f"{host}:{encrypted.port}" for host in hosts)
        return client_of(world=world, hosts=named, read_seconds=5, whole_seconds=10)

    return make


def test_the_host_is_asked_by_its_name_at_the_address_that_was_looked_at(
    encrypted: Archive, trusting: Callable[..., Client]
) -> None:
    encrypted.answers["/p"] = answer(b"page")
    client = trusting()
    for _ in range(2):
        found = client.get(f"https://{NAME}:{encrypted.port}/p", most_bytes=LIMIT, headers={})
        assert found.data == b"page"
    assert encrypted.names == [NAME]  # type: ignore[attr-defined]
    assert encrypted.asked[0].headers["host"] == f"{NAME}:{encrypted.port}"
    assert [asked.connection for asked in encrypted.asked] == [1, 1]


@pytest.mark.parametrize(("host", "trusted"), [(NAME, False), ("other.test", True)])
def test_a_certificate_that_does_not_hold_is_told_and_nothing_is_asked(
    encrypted: Archive, trusting: Callable[..., Client], host: str, *, trusted: bool
) -> None:
    client = trusting(trusted=trusted, hosts=(host,))
    with pytest.raises(UnreachableError, match="its certificate does not hold"):
        client.get(f"https://{host}:{encrypted.port}/p", most_bytes=LIMIT, headers={})
    assert encrypted.asked == []


def test_an_encrypted_address_does_not_lead_to_one_that_is_not(
    archive: Archive, encrypted: Archive, client_of: MakeClient, certificate: Path
) -> None:
    encrypted.answers["/p"] = redirect(archive.url("/p"))
    archive.answers["/p"] = answer(b"page")
    world = World(
        resolve=lambda _host, _port: ["127.0.0.1"],
        trusted=lambda: ssl.create_default_context(cafile=certificate),
    )
    client = client_of(world=world, hosts=(f"{NAME}:{encrypted.port}", archive.host), read_seconds=5)
    with pytest.raises(WebRefusedError, match="which is not encrypted"):
        client.get(f"https://{NAME}:{encrypted.port}/p", most_bytes=LIMIT, headers={})
    assert archive.asked == []


def test_encryption_that_never_begins_is_given_up(archive: Archive, client_of: MakeClient) -> None:
    """A server that takes the connection, and says something that is no encryption."""
    world = World(resolve=lambda _host, _port: ["127.0.0.1"], sleep=lambda _seconds: None)
    client = client_of(world=world, hosts=(f"{NAME}:{archive.port}",), connect_seconds=0.3)
    with pytest.raises(UnreachableError):
        client.get(f"https://{NAME}:{archive.port}/p", most_bytes=LIMIT, headers={})
