"""What a platform's file may say of its object store: where it is and how it is reached, never a secret.

The names follow what administrators know from their tools (endpoint, region, profile). Credentials come from
the environment or from AWS's own files; a key that looks like one is refused, here and again when the bucket
is opened. Facts: the configuration keys and client options of obstore 0.12; the encryption headers of the S3
API reference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from allotment.documents.checking import Place, shown
from allotment.documents.shapes import Choice, Flag, Key, Record, Text
from allotment.platform.durations import Duration
from allotment.platform.names import look_printable, looks_secret

REGION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}")
ENCRYPTIONS: Final = ("AES256", "aws:kms", "aws:kms:dsse")

HINTS: Final = {
    "virtual_hosted": "write `path_style: false`",
    "force_path_style": "write `path_style: true`",
    "verify": "name the authority's certificate as `ca_certificate`; there is no way to trust everybody",
    "insecure": "name the authority's certificate as `ca_certificate`; there is no way to trust everybody",
    "retries": "how often is tried again is the platform's own matter",
}


def look_secret(key: str, place: Place) -> None:
    """Refuse a key that most likely holds a secret."""
    if looks_secret(key):
        message = f"`{place.name}` looks like a secret, and this file is no place for one"
        place.refuse("secret-in-file", message, "give it to the process by its environment", key=True)


def _look_endpoint(text: str, place: Place) -> None:
    look_printable(text, place)
    hint = "write the address of the service, such as https://s3.example.org"
    try:
        address = urlsplit(text)
        port_is_fine = address.port is None or address.port > 0
    except ValueError:
        place.refuse("bad-address", f"`{shown(text)}` is no address", hint)
    if address.username is not None or address.password is not None:
        message = "the endpoint's address names a user"
        place.refuse("secret-in-file", message, "give credentials by the environment")
    if address.scheme not in {"http", "https"} or not address.hostname or not port_is_fine:
        place.refuse("bad-address", f"`{shown(text)}` is no address of a service", hint)
    if address.query or address.fragment:
        place.refuse("bad-address", f"`{shown(text)}` has a query or a fragment", hint)


def _look_region(text: str, place: Place) -> None:
    if not REGION.fullmatch(text):
        place.refuse("bad-name", f"`{shown(text)}` is no region", "write it as eu-north-1")


def _options(values: dict[str, Any], place: Place) -> Mapping[str, str | int | float | bool]:
    """The options, when they go together."""
    endpoint = str(values.get("endpoint", ""))
    if endpoint.startswith("http:") and not values.get("allow_http"):
        (place / "endpoint").refuse(
            "bad-address",
            "the endpoint is reached without TLS: whoever is on the way can read every page",
            "write https://, or `allow_http: true` beside it if that is meant",
        )
    if values.get("anonymous") and "profile" in values:
        (place / "anonymous").refuse(
            "one-of", "the bucket is read anonymously, and a profile is named", "take one of the two out"
        )
    if "kms_key" in values and not str(values.get("encryption", "")).startswith("aws:kms"):
        (place / "kms_key").refuse(
            "missing-key", "a key is named, and no encryption that has one", "write `encryption: aws:kms`"
        )
    return values


BUCKET_OPTIONS: Final = Record(
    {
        "endpoint": Key(Text(_look_endpoint)),
        "region": Key(Text(_look_region)),
        "profile": Key(Text(look_printable)),
        "path_style": Key(Flag()),
        "allow_http": Key(Flag()),
        "ca_certificate": Key(Text(look_printable)),
        "anonymous": Key(Flag()),
        "encryption": Key(Choice(ENCRYPTIONS, "encryption of a bucket")),
        "kms_key": Key(Text(look_printable)),
        "timeout": Key(Duration()),
        "connect_timeout": Key(Duration()),
    },
    _options,
    hints=HINTS,
    look=look_secret,
)
