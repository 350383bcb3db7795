"""An authority of our own, and certificates of the loopback address by it."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_LONG: Final = datetime.timedelta(days=30)
_BEFORE: Final = datetime.timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key, as files."""

    certificate: Path
    key: Path


class Authority:
    """Makes certificates into a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority of a test")])
        usage = x509.KeyUsage(
            digital_signature=True, content_commitment=False, key_encipherment=False,
            data_encipherment=False, key_agreement=False, key_cert_sign=True, crl_sign=True,
            encipher_only=False, decipher_only=False,
        )  # fmt: skip
        own = (
            self._builder(self._name, self._key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(usage, critical=True)
        )
        self.file = folder / "ca.crt"
        self.file.write_bytes(self._signed(own))

    def serving(self, name: str, *hosts: str) -> Pair:
        """A certificate of 127.0.0.1, of localhost, and of more hosts."""
        names = [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        others = [x509.DNSName(each) for each in ("localhost", *hosts)]
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = self._builder(subject, key).add_extension(
            x509.SubjectAlternativeName([*names, *others]), critical=False
        )
        pair = Pair(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        pair.certificate.write_bytes(self._signed(builder))
        pair.key.write_bytes(_private(key))
        return pair

    def signing_key(self, name: str) -> Path:
        """A key by which tokens are signed."""
        path = self._folder / f"{name}.key"
        path.write_bytes(_private(ec.generate_private_key(ec.SECP256R1())))
        return path

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _BEFORE)
            .not_valid_after(now + _LONG)
        )

    def _signed(self, builder: x509.CertificateBuilder) -> bytes:
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
