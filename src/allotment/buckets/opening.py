"""Which bucket a platform's file means: a folder beside it, or an address of an object store."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from urllib.parse import unquote, urlsplit

from allotment.buckets.apart import A_MOMENT, ApartBucket, Enough, never
from allotment.buckets.bucket import Bucket
from allotment.buckets.folder import FolderBucket
from allotment.buckets.memory import MemoryBucket
from allotment.errors import AllotmentError, WorldError

Options = Mapping[str, str | int | float | bool]
NO_OPTIONS: Options = MappingProxyType({})
S3 = "s3"


def open_bucket(
    name: str,
    base: Path,
    *,
    create: bool = True,
    options: Options = NO_OPTIONS,
    environ: Mapping[str, str] | None = None,
) -> Bucket:
    """The bucket of this name; a relative folder lies below ``base``.

    A folder that is not there is made, or, without ``create``, taken for an empty bucket. ``options`` are the
    platform's for an object store; its credentials are found by ``environ``, else this process's own.
    """
    if is_address(name):
        from allotment.buckets.s3 import open_s3

        return open_s3(name, base, options, os.environ if environ is None else environ)
    folder = bucket_folder(name, base)
    if not create and not folder.exists():
        return MemoryBucket()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorldError(
            f"the bucket's folder cannot be made: {error.strerror}",
            str(folder),
            "name a folder that this user may write, as `bucket` in the platform's file",
        ) from error
    return FolderBucket(folder)


def open_interruptible(
    name: str,
    base: Path,
    *,
    create: bool = True,
    options: Options = NO_OPTIONS,
    environ: Mapping[str, str] | None = None,
    enough: Enough = never,
    moment: float = A_MOMENT,
) -> Bucket:
    """The same, for who may be told to end while it waits: an object store is then asked apart."""
    bucket = open_bucket(name, base, create=create, options=options, environ=environ)
    return ApartBucket(bucket, enough, moment) if is_address(name) else bucket


def is_address(name: str) -> bool:
    """Whether a bucket's name is the address of an object store."""
    return urlsplit(name).scheme == S3 and "://" in name


def bucket_place(name: str, base: Path) -> str:
    """The one name of a bucket, whatever it was written as: an absolute folder, or an address."""
    return name.rstrip("/") if is_address(name) else str(bucket_folder(name, base))


def bucket_identity(
    name: str, base: Path, options: Options = NO_OPTIONS, environ: Mapping[str, str] | None = None
) -> str:
    """What tells a bucket from every other: its place, and of an object store the endpoint as well.

    Two buckets of one name at two endpoints are two buckets.
    """
    place = bucket_place(name, base)
    if not is_address(name):
        return place
    from allotment.buckets.credentials import endpoint_of

    endpoint = options.get("endpoint") or endpoint_of(
        os.environ if environ is None else environ, profile=options.get("profile")
    )
    return f"{place} at {str(endpoint).rstrip('/')}" if endpoint else place


def absolute_options(options: Options, base: Path) -> Options:
    """The options as another process may take them, which finds a relative certificate elsewhere."""
    named = options.get("ca_certificate")
    if named is None:
        return options
    return {**options, "ca_certificate": str((base / Path(str(named)).expanduser()).absolute())}


def bucket_folder(name: str, base: Path) -> Path:
    """The folder that a bucket's name means; raises for an address that is none."""
    if "://" not in name:
        return (base / Path(name).expanduser()).absolute()
    address = urlsplit(name)
    if address.scheme == "file" and not address.netloc:
        return Path(unquote(address.path))
    raise AllotmentError(
        f"results are kept in a folder or at s3://, not at {address.scheme}://",
        f"{address.scheme}://{address.hostname or ''}",
        "write a folder such as ./results, or s3://bucket/prefix, as `bucket` in the platform's file",
    )
