"""Opening an S3 bucket: the platform's options and what the environment holds, made into a store.

Options are held to the same table as the platform's file is, here too: an assignment, or a program of
somebody else's, may bring others. Keys are handed to obstore by a function, so that they are in no
configuration that could be printed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from allotment.buckets.bucket import BucketRefused
from allotment.buckets.credentials import Credentials, Origin, find_credentials
from allotment.buckets.object_store import ObjectStoreBucket, Reach
from allotment.errors import AllotmentError

if TYPE_CHECKING:
    from obstore.store import S3Store

SCHEME = "s3"
DEFAULT_REGION = "us-east-1"
TIMEOUT = 30
CONNECT_TIMEOUT = 5
OPTIONS_NAME = "bucket_options"

Options = Mapping[str, str | int | float | bool]


def open_s3(name: str, base: Path, options: Options, environ: Mapping[str, str]) -> ObjectStoreBucket:
    """The bucket at an address ``s3://bucket/prefix``; a relative certificate lies below ``base``."""
    options = checked_options(options)
    address = urlsplit(name)
    bucket, prefix = address.netloc, address.path.strip("/")
    if address.scheme != SCHEME or not bucket or "@" in bucket:
        raise AllotmentError("this is no address of a bucket", address.scheme, "write s3://bucket/prefix")
    profile = options.get("profile")
    credentials = find_credentials(
        environ,
        profile=None if profile is None else str(profile),
        anonymous=bool(options.get("anonymous")),
    )
    config = _config(bucket, options, credentials)
    client = _client(options, base, environ)

    def make(limits: dict[str, Any]) -> S3Store:
        from obstore.store import S3Store

        return S3Store(
            bucket,
            prefix=prefix or None,
            client_options=cast("Any", {**client, **limits}),
            retry_config={"max_retries": 0, "retry_timeout": timedelta(seconds=60)},
            credential_provider=cast("Any", _provider(credentials)),
            **config,
        )

    where = f"{SCHEME}://{bucket}" + (f"/{prefix}" if prefix else "")
    return ObjectStoreBucket(Reach(make, _number(options, "timeout", TIMEOUT)), where)


def checked_options(options: Options) -> Options:
    """The options, if each is one; raises AllotmentError for the first that is not, never with its value."""
    if not options:
        return options
    from allotment.documents import read_text
    from allotment.documents.checking import Check, RefusedError
    from allotment.platform.bucket_options import BUCKET_OPTIONS

    check = Check(read_text(json.dumps(dict(options)), name=OPTIONS_NAME))
    try:
        return BUCKET_OPTIONS.read(check.document.value, check.root)
    except RefusedError:
        finding = check.findings[0]
        raise AllotmentError(finding.message, OPTIONS_NAME, finding.hint) from None


def _config(bucket: str, options: Options, credentials: Credentials) -> dict[str, Any]:
    """obstore's configuration, without any secret."""
    endpoint = str(options.get("endpoint") or credentials.endpoint or "").rstrip("/")
    by_path = bool(options.get("path_style", bool(endpoint) or "." in bucket))
    config: dict[str, Any] = {
        "region": str(options.get("region") or credentials.region or DEFAULT_REGION),
        "virtual_hosted_style_request": not by_path,
        "skip_signature": credentials.origin is Origin.ANONYMOUS,
    }
    if endpoint:
        scheme, _, rest = endpoint.partition("://")
        config["endpoint"] = endpoint if by_path else f"{scheme}://{bucket}.{rest}"
    if "encryption" in options:
        config["server_side_encryption"] = options["encryption"]
    if "kms_key" in options:
        config["sse_kms_key_id"] = options["kms_key"]
    return config


def _client(options: Options, base: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """obstore's client options, but for the time limits of requests."""
    client: dict[str, Any] = {
        "allow_http": bool(options.get("allow_http")),
        "connect_timeout": f"{_number(options, 'connect_timeout', CONNECT_TIMEOUT)}s",
    }
    named = options.get("ca_certificate") or environ.get("AWS_CA_BUNDLE")
    if named:
        path = base / Path(str(named)).expanduser()
        try:
            client["root_certificate"] = path.read_bytes()
        except OSError as error:
            raise BucketRefused(
                f"the certificate cannot be read: {error.strerror}",
                str(path),
                "name a file in PEM form as `ca_certificate` in the platform's `bucket_options`",
            ) from None
        if b"-----BEGIN CERTIFICATE-----" not in client["root_certificate"]:
            raise BucketRefused("this file holds no certificate in PEM form", str(path))
    return client


def _provider(credentials: Credentials) -> Callable[[], object] | None:
    """What obstore asks for keys, or None when it finds them by itself."""
    known = credentials.files or credentials.keys
    return None if known is None else known.hand_out


def _number(options: Options, name: str, default: int) -> int:
    return max(1, int(options.get(name, default)))
