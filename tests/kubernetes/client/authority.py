"""An authority of our own, and certificates that it signs."""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Signed:
    """A certificate and its key, as files."""

    certificate: Path
    key: Path

    def server_context(self, clients: Path | None = None) -> ssl.SSLContext:
        """For a server; with ``clients``, one that asks for certificates of that authority."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        if clients is not None:
            context.load_verify_locations(clients)
            context.verify_mode = ssl.CERT_REQUIRED
        return context


class Authority:
    """An authority whose certificate leaves out what only the strictest look asks for."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        basic = x509.BasicConstraints(ca=True, path_length=None)
        built = _builder(self._name, self._name, self._key).add_extension(basic, critical=False)
        self.certificate = folder / f"{name}.crt"
        self.certificate.write_bytes(_pem(built.sign(self._key, hashes.SHA256())))

    def sign(self, name: str, *hosts: str, days: int = 1) -> Signed:
        """A certificate for a server of these names or addresses, or for a client."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        built = _builder(subject, self._name, key, days)
        if hosts:
            names = x509.SubjectAlternativeName([_host(each) for each in hosts])
            built = built.add_extension(names, critical=False)
        signed = Signed(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        signed.certificate.write_bytes(_pem(built.sign(self._key, hashes.SHA256())))
        form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        signed.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
        return signed


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, days: int = 1
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=3))
        .not_valid_after(now + timedelta(days=days))
    )


def _host(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
