"""Which bucket a platform's file means: a folder beside it, or an address."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from allotment.buckets.bucket import Bucket
from allotment.buckets.folder import FolderBucket
from allotment.buckets.memory import MemoryBucket
from allotment.errors import AllotmentError, WorldError


def open_bucket(name: str, base: Path, *, create: bool = True) -> Bucket:
    """The bucket of this name; a relative folder lies below ``base``.

    A folder that is not there is made, or, without ``create``, taken for an empty bucket.
    """
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


def bucket_folder(name: str, base: Path) -> Path:
    """The folder that a bucket's name means; raises for an address that this version cannot open."""
    if "://" not in name:
        return (base / Path(name).expanduser()).absolute()
    address = urlsplit(name)
    if address.scheme == "file" and not address.netloc:
        return Path(unquote(address.path))
    raise AllotmentError(
        f"this version keeps results in a folder, not at {address.scheme}://",
        name,
        "write a folder as `bucket` in the platform's file, such as ./results",
    )
