"""A bucket that is asked in a thread apart, so that whoever waits for the answer can be told to stop waiting.

A request to an object store waits in foreign code, where no signal of Python's reaches it: a server that
takes a connection and says nothing holds up Ctrl-C for as long as the time limit is, times the tries. Here
the thread that asked waits for the answer alone. An exception that a signal handler raises there comes
through at once, and where handlers only take note, ``enough`` says that nobody wants to wait much longer:
what is under way then has a moment, and once something was given up on, hardly that.

What was given up on may still take place, as with a request whose answer was lost.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar, cast

from allotment.buckets.bucket import Bucket, BucketGivenUp, Entry

S = TypeVar("S")
T = TypeVar("T")

A_MOMENT: Final = 3.0
HARDLY: Final = 0.25
LOOK_SECONDS: Final = 0.1
WORTH_TELLING: Final = 1.0
GIVEN_UP: Final = "it did not answer, and was not waited for any longer"

Enough = Callable[[], bool]


def never() -> bool:
    """Nobody says that it is enough."""
    return False


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came of an act: a value, or what it raised."""

    value: Any = None
    error: BaseException | None = None


_Act = tuple[Callable[[], Any], "SimpleQueue[_Answer]"]


class _Hand:
    """A thread that does one thing after another for whoever has it; one that hangs is left alone."""

    def __init__(self) -> None:
        self._acts: SimpleQueue[_Act | None] = SimpleQueue()
        threading.Thread(target=self._work, name="bucket", daemon=True).start()

    def begin(self, act: Callable[[], Any]) -> SimpleQueue[_Answer]:
        """Have something done; gives where the answer will be."""
        answers: SimpleQueue[_Answer] = SimpleQueue()
        self._acts.put((act, answers))
        return answers

    def end(self) -> None:
        """Have nothing more done."""
        self._acts.put(None)

    def _work(self) -> None:
        while (asked := self._acts.get()) is not None:
            act, answers = asked
            try:
                answer = _Answer(act())
            except BaseException as error:  # noqa: BLE001 - it is raised where it was asked for
                answer = _Answer(error=error)
            answers.put(answer)
            del asked, act, answers, answer


def in_parallel(act: Callable[[S], T], items: Iterable[S], most: int) -> Iterator[T]:
    """What an act gives for each item, in order, so many at once; a signal's exception comes through."""
    hands = [_Hand() for _ in range(most)]
    try:
        yield from _in_parallel(act, iter(items), list(hands))
    finally:
        for hand in hands:
            hand.end()


def _in_parallel(act: Callable[[S], T], left: Iterator[S], idle: list[_Hand]) -> Iterator[T]:
    under_way: deque[tuple[_Hand, SimpleQueue[_Answer]]] = deque()
    while True:
        for item in islice(left, len(idle)):
            hand = idle.pop()
            under_way.append((hand, hand.begin(partial(act, item))))
        if not under_way:
            return
        hand, answers = under_way.popleft()
        while (answer := _look(answers)) is None:
            continue
        idle.append(hand)
        if answer.error is not None:
            raise answer.error
        yield cast("T", answer.value)


def _look(answers: SimpleQueue[_Answer]) -> _Answer | None:
    """An answer if it comes soon; a signal that another thread was given is heard afterwards."""
    try:
        return answers.get(timeout=LOOK_SECONDS)
    except Empty:
        return None


@dataclass(eq=False)
class ApartBucket:
    """Another bucket, asked apart; safe for threads if that one is.

    ``moment`` is how many seconds an operation still has when it is ``enough``.
    """

    inner: Bucket
    enough: Enough = never
    moment: float = A_MOMENT
    monotonic: Callable[[], float] = time.monotonic
    _idle: list[_Hand] = field(default_factory=list, init=False)
    _given_up: bool = field(default=False, init=False)

    def create(self, key: str, data: bytes) -> None:
        """Write an object that is not there yet."""
        self._apart(lambda: self.inner.create(key, data), key)

    def read(self, key: str, most: int | None = None) -> bytes:
        """The object's bytes."""
        return self._apart(lambda: self.inner.read(key, most), key)

    def exists(self, key: str) -> bool:
        """Whether the object is there."""
        return self._apart(lambda: self.inner.exists(key), key)

    def list(self, prefix: str) -> Iterator[Entry]:
        """Every object below a prefix."""
        return iter(self._apart(lambda: tuple(self.inner.list(prefix)), prefix))

    def list_folders(self, prefix: str) -> tuple[str, ...]:
        """The names directly below a prefix that have objects below them."""
        return self._apart(lambda: self.inner.list_folders(prefix), prefix)

    def _apart(self, act: Callable[[], T], key: str) -> T:
        """Have something done by another thread, and wait for it as long as anybody wants."""
        try:
            hand = self._idle.pop()
        except IndexError:
            hand = _Hand()
        began = self.monotonic()
        answers = hand.begin(act)
        try:
            answer = self._answer(answers, key, began)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(self._late(self.monotonic() - began)) from None
        self._idle.append(hand)
        self._given_up = False
        if answer.error is not None:
            raise answer.error
        return cast("T", answer.value)

    def _answer(self, answers: SimpleQueue[_Answer], key: str, began: float) -> _Answer:
        end: float | None = None
        while True:
            if (answer := _look(answers)) is not None:
                return answer
            now = self.monotonic()
            if end is None and self.enough():
                end = began + HARDLY if self._given_up else now + self.moment
            if end is not None and now >= end:
                self._given_up = True
                raise BucketGivenUp(GIVEN_UP, self._at(key))

    def _late(self, seconds: float) -> str:
        """What to say to who has pressed Ctrl-C: nothing where the bucket was not what kept them."""
        if seconds < WORTH_TELLING:
            return ""
        return f"{self._at('')} had not answered for {seconds:.0f} s"

    def _at(self, key: str) -> str:
        where = getattr(self.inner, "where", "the bucket")
        return f"{where}/{key}" if key else where
