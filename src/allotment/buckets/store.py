"""A bucket over obstore, which speaks to folders and object stores alike, and whose failures are told apart.

obstore (Rust's object_store) writes an object of a folder to a temporary name and links it, so that it is
there wholly or not at all, and says `AlreadyExistsError` to the second writer. It reports most failures as
text with the system's error number in it; those that no waiting can mend are told apart from those it may.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

import obstore
from obstore import exceptions
from obstore.store import ObjectStore

from allotment.buckets.bucket import BucketRefused, BucketUnavailable, Entry, key_exists, key_missing
from allotment.errors import WorldError

_HOPELESS_NUMBERS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP}
_HOPELESS = (
    exceptions.PermissionDeniedError,
    exceptions.UnauthenticatedError,
    exceptions.InvalidPathError,
    exceptions.NotSupportedError,
    exceptions.UnknownConfigurationKeyError,
    ValueError,
)
_NUMBER = re.compile(r"\(os error (\d+)\)")


class StoreBucket:
    """A bucket in a store of obstore; ``where`` names it in messages."""

    def __init__(self, store: ObjectStore, where: str) -> None:
        self._store = store
        self._where = where

    def create(self, key: str, data: bytes) -> None:
        """Write an object that is not there yet."""
        try:
            obstore.put(self._store, key, data, mode="create")
        except exceptions.AlreadyExistsError:
            raise key_exists(key) from None
        except (exceptions.BaseError, OSError, ValueError) as error:
            raise self._failure(error, "write") from error

    def read(self, key: str) -> bytes:
        """The object's bytes."""
        try:
            return bytes(obstore.get(self._store, key).bytes())
        except FileNotFoundError:
            raise key_missing(key) from None
        except (exceptions.BaseError, OSError, ValueError) as error:
            raise self._failure(error, "read") from error

    def exists(self, key: str) -> bool:
        """Whether the object is there."""
        try:
            obstore.head(self._store, key)
        except FileNotFoundError:
            return False
        except (exceptions.BaseError, OSError, ValueError) as error:
            raise self._failure(error, "read") from error
        return True

    def list(self, prefix: str) -> Iterator[Entry]:
        """Every object below a prefix."""
        with self._reading():
            for chunk in obstore.list(self._store, prefix or None, chunk_size=1000):
                for meta in chunk:
                    yield Entry(meta["path"], meta["size"])

    def list_folders(self, prefix: str) -> tuple[str, ...]:
        """The names directly below a prefix that have objects below them."""
        with self._reading():
            found = obstore.list_with_delimiter(self._store, prefix or None)
        return tuple(sorted(path.rsplit("/", 1)[-1] for path in found["common_prefixes"]))

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (exceptions.BaseError, OSError, ValueError) as error:
            raise self._failure(error, "list") from error

    def _failure(self, error: Exception, verb: str) -> WorldError:
        text = (str(error).splitlines() or [type(error).__name__])[0]
        number = _NUMBER.search(text)
        if isinstance(error, _HOPELESS) or (number and int(number[1]) in _HOPELESS_NUMBERS):
            return BucketRefused(
                f"cannot {verb} in the bucket: {text}",
                self._where,
                "name a bucket that this user may write, as `bucket` in the platform's file",
            )
        return BucketUnavailable(f"the bucket failed to {verb}: {text}", self._where)
