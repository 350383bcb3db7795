"""Each way in which an object store can refuse, told in words, with what to do, and without any secret."""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from allotment.buckets.bucket import BucketRefused, BucketUnavailable, KeyMissing
from allotment.buckets.object_store import ObjectStoreBucket
from allotment.buckets.once import NO_PATIENCE
from allotment.buckets.s3 import open_s3
from allotment.errors import WorldError
from tests.buckets.moto_server import KEYS
from tests.buckets.tiny_s3 import Handler, Server, s3_error


@pytest.fixture
def stingy(tmp_path: Path) -> Mapping[str, str]:
    """An environment in which nobody gives credentials."""
    return {"HOME": str(tmp_path), "AWS_EC2_METADATA_DISABLED": "true"}


def at(endpoint: str, base: Path = Path("/nowhere"), **options: str | bool | int) -> ObjectStoreBucket:
    bucket = open_s3("s3://bucket/prefix", base, {"endpoint": endpoint, **options}, KEYS)
    bucket._patience = NO_PATIENCE
    return bucket


@contextmanager
def answering(status: int, body: bytes = b"", **headers: str) -> Iterator[str]:
    class Requests(Handler):
        def do_GET(self) -> None:
            self.body()
            self.answer(status, body, **headers)

        do_PUT = do_HEAD = do_GET

    with Server(Requests).serving() as endpoint:
        yield endpoint


def verbs(bucket: ObjectStoreBucket) -> Iterator[str]:
    """What each thing that a bucket does says of the failure; its kind must be the same for all."""
    for act in (
        lambda: bucket.create("a/b", b"1"),
        lambda: bucket.read("a/b"),
        lambda: list(bucket.list("a/")),
        lambda: bucket.list_folders("a/"),
    ):
        with pytest.raises(WorldError) as caught:
            act()
        assert "AKIASHOWN" not in str(caught.value)
        assert "to-sign" not in str(caught.value)
        assert caught.value.__cause__ is None
        yield f"{type(caught.value).__name__} {caught.value}"


@pytest.mark.parametrize(
    ("status", "code", "kind", "words"),
    [
        (404, "NoSuchBucket", BucketRefused, "there is no such bucket"),
        (403, "AccessDenied", BucketRefused, "denies access"),
        (403, "RequestTimeTooSkewed", BucketRefused, "set this machine's clock"),
        (403, "InvalidAccessKeyId", BucketRefused, "does not know the access key"),
        (403, "SignatureDoesNotMatch", BucketRefused, "the secret key does not belong to the access key"),
        (400, "ExpiredToken", BucketUnavailable, "have expired"),
        (400, "AuthorizationHeaderMalformed", BucketRefused, "in another region"),
        (301, "PermanentRedirect", BucketRefused, "in another region"),
        (400, "SomethingNew", BucketRefused, "400 SomethingNew"),
        (401, "", BucketRefused, "does not take the credentials"),
        (405, "", BucketRefused, "no object store"),
        (429, "", BucketUnavailable, "slow down"),
        (500, "InternalError", BucketUnavailable, "500 InternalError"),
        (501, "NotImplemented", BucketRefused, "create-if-absent"),
        (502, "", BucketUnavailable, "502"),
        (503, "SlowDown", BucketUnavailable, "slow down"),
        (504, "", BucketUnavailable, "in time"),
        (507, "", BucketRefused, "full"),
    ],
)
def test_answers_that_refuse(status: int, code: str, kind: type[WorldError], words: str) -> None:
    with answering(status, s3_error(code) if code else b"") as endpoint:
        for said in verbs(at(endpoint, allow_http=True)):
            assert said.startswith(kind.__name__)
            assert words in said


def test_a_conflict_of_two_writers_is_no_taken_key() -> None:
    with answering(409, s3_error("ConditionalRequestConflict")) as endpoint:
        with pytest.raises(BucketUnavailable, match="another writer"):
            at(endpoint, allow_http=True).create("a", b"")


def test_a_missing_key_is_no_missing_bucket() -> None:
    with answering(404, s3_error("NoSuchKey")) as endpoint:
        bucket = at(endpoint, allow_http=True)
        with pytest.raises(KeyMissing):
            bucket.read("a")
        assert not bucket.exists("a")


@pytest.mark.parametrize(
    ("endpoint", "kind", "words"),
    [
        ("https://127.0.0.1:1", BucketUnavailable, "nobody answers"),
        ("https://no-such-host.invalid", BucketUnavailable, "name of the bucket's server cannot be found"),
    ],
)
def test_endpoints_that_are_not_there(endpoint: str, kind: type[WorldError], words: str) -> None:
    for said in verbs(at(endpoint)):
        assert said.startswith(kind.__name__)
        assert words in said


def test_a_server_that_is_silent_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        bucket = at(f"http://127.0.0.1:{silent.getsockname()[1]}", allow_http=True, timeout=1)
        with pytest.raises(BucketUnavailable, match="in time"):
            bucket.create("a", b"")


def test_a_server_that_hangs_up_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as rude:

        def hang_up() -> None:
            while True:
                try:
                    connection, _ = rude.accept()
                except OSError:
                    return
                connection.recv(10)
                connection.close()

        threading.Thread(target=hang_up, daemon=True).start()
        for said in verbs(at(f"http://127.0.0.1:{rude.getsockname()[1]}", allow_http=True)):
            assert "BucketUnavailable" in said
            assert "broke off" in said
        rude.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an authority `ca.pem`, and `server.pem` that it has signed for the loopback address."""
    folder = tmp_path_factory.mktemp("certificates")
    now = datetime.datetime.now(datetime.UTC)
    authority, own = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "an authority of ours")])

    def signed(
        subject: x509.Name, key: ec.EllipticCurvePublicKey, *extensions: x509.ExtensionType
    ) -> x509.Certificate:
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
        )
        for extension in extensions:
            builder = builder.add_extension(extension, critical=False)
        return builder.sign(authority, hashes.SHA256())

    ca = signed(issuer, authority.public_key(), x509.BasicConstraints(ca=True, path_length=0))
    loopback = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    leaf = signed(x509.Name([]), own.public_key(), loopback)
    pem = serialization.Encoding.PEM
    (folder / "ca.pem").write_bytes(ca.public_bytes(pem))
    private = own.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "server.pem").write_bytes(leaf.public_bytes(pem) + private)
    return folder


@contextmanager
def with_tls(certificates: Path) -> Iterator[str]:
    class Requests(Handler):
        def do_HEAD(self) -> None:
            self.answer(404)

    server = Server(Requests)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "server.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with server.serving() as endpoint:
        yield endpoint.replace("http:", "https:")


def test_a_certificate_of_an_authority_that_is_named_is_trusted_and_no_other(certificates: Path) -> None:
    with with_tls(certificates) as endpoint:
        with pytest.raises(BucketRefused, match="not one that this machine trusts"):
            at(endpoint).exists("a")
        assert not at(endpoint, certificates, ca_certificate="ca.pem").exists("a")


def test_certificates_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "junk.pem").write_text("no certificate")
    for name, words in (("missing.pem", "No such file"), ("junk.pem", "no certificate in PEM")):
        with pytest.raises(BucketRefused, match=words):
            at("https://127.0.0.1:1", tmp_path, ca_certificate=name)


def test_tls_and_no_tls_are_not_mixed_up() -> None:
    with answering(404) as endpoint, pytest.raises(BucketRefused, match="does not speak TLS"):
        at(endpoint.replace("http:", "https:")).exists("a")


def test_nobody_who_gives_credentials(stingy: Mapping[str, str]) -> None:
    with pytest.raises(BucketRefused, match="there are no credentials"):
        open_s3("s3://bucket", Path("/nowhere"), {}, stingy)
