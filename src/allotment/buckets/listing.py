"""A list of a bucket's keys, from a server that may go round in circles, stall, or hold foreign keys.

obstore follows a list page by page in code that no signal reaches and that believes every "there is more".
Here keys must grow from one to the next, as S3's do, and each piece must come within a time. A key that can
be no path (an empty part, ``..``) makes obstore refuse the whole page that it stands on; such keys are none
of ours, and are passed over: directly below the prefix nothing of ours sorts before them, and deeper ones are
gone around folder by folder. Facts: ListObjectsV2 of the S3 API reference; obstore 0.12's `list`.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar, cast

from allotment.buckets.bucket import BucketRefused, BucketUnavailable, Entry

if TYPE_CHECKING:
    from obstore.store import S3Store

T = TypeVar("T")

PIECE = 250
NO_END = "its list has no end: it gives the same keys again"
NOT_ASKED = "its list gives keys that were not asked for"
USE_ANOTHER = "use a server whose lists follow S3's ListObjectsV2"

_PATH = re.compile(r'path: ("(?:[^"\\]|\\.)*")')

log = logging.getLogger(__name__)


class ForeignKeyError(Exception):
    """A key that can be no path, as the bucket has it."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


@dataclass(frozen=True)
class Listing:
    """The lists of one store. ``base`` is the store's own prefix; ``seconds`` is what one piece may take.

    ``again`` does something that may be done several times, for a key, with failures in our words.
    """

    store: Callable[[], S3Store]
    base: str
    where: str
    seconds: float
    again: Callable[[Callable[[], Any], str], Any]
    foreign: set[str] = field(default_factory=set)

    def entries(self, prefix: str, after: str | None = None) -> Iterator[Entry]:
        """Every object below a prefix, in order; where the list breaks off it is taken up again."""
        while True:
            last = after
            try:
                entries, ended = self._again(lambda: self._some(prefix, last), prefix)  # noqa: B023 - at once
            except ForeignKeyError as error:
                after = self._past(prefix, error.key)
                self._note(error.key)
                if after is None:
                    yield from self._by_folders(prefix, last, error.key)
                    return
                continue
            for entry in entries:
                if entry.key.startswith(prefix):
                    yield entry
            if ended:
                return
            after = entries[-1].key

    def folders(self, prefix: str) -> tuple[str, ...]:
        """The names directly below a prefix that have objects below them, sorted."""
        try:
            found = self._again(lambda: self._delimited(prefix), prefix)
        except ForeignKeyError as error:
            self._note(error.key)
            return tuple(self._scanned(prefix))
        names = (folder.rstrip("/").rpartition("/")[2] for folder in found["common_prefixes"])
        return tuple(sorted(set(names)))

    def _some(self, prefix: str, after: str | None) -> tuple[list[Entry], bool]:
        """Entries after a key as far as the list comes without a failure, and whether that is all."""
        import obstore
        from obstore.exceptions import BaseError, InvalidPathError

        found: list[Entry] = []
        pages = obstore.list(self.store(), prefix or None, offset=after, chunk_size=PIECE)
        last = after or ""
        try:
            while True:
                page = within(self.seconds, lambda: next(pages, None), self._at(prefix))
                if page is None:
                    return found, True
                for item in page:
                    key = item["path"]
                    if key < last < f"{key}/":  # the mark of a folder, whose last slash obstore takes away
                        last = f"{key}/"
                        continue
                    if key <= last:
                        raise BucketRefused(NO_END, self._at(prefix), USE_ANOTHER)
                    last = key
                    found.append(Entry(key, item["size"]))
        except (BaseError, OSError, BucketUnavailable) as error:
            if found:
                return found, False
            if isinstance(error, InvalidPathError):
                raise _foreign(error) from None
            raise

    def _delimited(self, prefix: str) -> Any:
        import obstore
        from obstore.exceptions import InvalidPathError

        act = lambda: obstore.list_with_delimiter(self.store(), prefix or None)  # noqa: E731 - one use
        try:
            return within(self.seconds, act, self._at(prefix))
        except InvalidPathError as error:
            raise _foreign(error) from None

    def _past(self, prefix: str, key: str) -> str | None:
        """Where a list goes on past a foreign key directly below the prefix, or None for one further down."""
        below = f"{self.base}/{prefix}" if self.base else prefix
        if not key.startswith(below):
            raise BucketRefused(f"{NOT_ASKED}: {key[:200]!r}", self._at(prefix), USE_ANOTHER)
        first, slash, _ = key[len(below) :].partition("/")
        if not slash or first not in {"", ".", ".."}:
            return None
        return f"{prefix}{first}0"  # `0` comes next after `/`

    def _by_folders(self, prefix: str, after: str | None, foreign: str) -> Iterator[Entry]:
        """The same list, a folder at a time, around a foreign key in one of them."""
        try:
            found = self._again(lambda: self._delimited(prefix), prefix)
        except ForeignKeyError:
            raise self._refused(foreign) from None
        objects = [(item["path"], Entry(item["path"], item["size"])) for item in found["objects"]]
        folders = [(f"{folder.rstrip('/')}/", None) for folder in found["common_prefixes"]]
        for name, entry in sorted([*objects, *folders], key=lambda each: each[0]):
            if entry is not None:
                if name.startswith(prefix) and (after is None or name > after):
                    yield entry
            elif after is None or not after.startswith(name):
                if after is None or name > after:
                    yield from self.entries(name)
            else:
                yield from self.entries(name, after)

    def _scanned(self, prefix: str) -> Iterator[str]:
        """Names of folders by lists alone, each beginning past the folder before it."""
        after: str | None = None
        while (entry := next(self.entries(prefix, after), None)) is not None:
            name, slash, _ = entry.key[len(prefix) :].partition("/")
            if slash:
                yield name
            after = f"{prefix}{name}0" if slash else entry.key

    def _note(self, key: str) -> None:
        if key not in self.foreign:
            self.foreign.add(key)
            log.warning("%s: a key that is none of ours is passed over: %r", self.where, key[:200])

    def _refused(self, key: str) -> BucketRefused:
        return BucketRefused(
            f"a key that can be no path stands in the way: {key[:200]!r}", self.where, "move it away"
        )

    def _again(self, act: Callable[[], T], key: str) -> T:
        return cast("T", self.again(act, key))

    def _at(self, prefix: str) -> str:
        return f"{self.where}/{prefix}"


def within(seconds: float, act: Callable[[], T], where: str) -> T:
    """What an act gives, if it does in time; else `BucketUnavailable`, and it is left to itself."""
    answers: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def work() -> None:
        try:
            answers.put((act(), None))
        except BaseException as error:  # noqa: BLE001 - it is raised where it was asked for
            answers.put((None, error))

    threading.Thread(target=work, name="list", daemon=True).start()
    try:
        value, error = answers.get(timeout=seconds)
    except Empty:
        raise BucketUnavailable("its list did not come to an end in time", where) from None
    if error is not None:
        raise error
    return cast("T", value)


def _foreign(error: BaseException) -> ForeignKeyError:
    """The key that obstore's text names."""
    named = _PATH.search(str(error))
    try:
        return ForeignKeyError(json.loads(named[1]) if named else "")
    except ValueError:
        return ForeignKeyError(named[1].strip('"') if named else "")
