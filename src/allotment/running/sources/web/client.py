"""Asking the web for one thing: by rules, within limits, again when that may help, and never for ever.

Each request goes through the same stations: is the host one that the platform names; a turn at the host;
where does its name lead, and may a connection go there; connect, ask, read no more than is allowed. A
redirect begins at the first station again, and may not lead from an encrypted address to one that is not.
What fails in a way that may pass is tried again after a pause that doubles, with some chance in it, so that
many workers do not come back at once. All of it, pauses included, has one limit of time.
"""

from __future__ import annotations

import random
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from http.client import HTTPException
from pathlib import Path
from typing import Final

from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse

from allotment import __version__
from allotment.running.assignment import Network
from allotment.running.sources.web.addresses import Address, read_address, shown
from allotment.running.sources.web.answers import judge
from allotment.running.sources.web.bodies import read_body
from allotment.running.sources.web.connections import AnyConnection, Connections, connected
from allotment.running.sources.web.errors import FORBIDDEN, REFUSED, UnreachableError, WebRefusedError
from allotment.running.sources.web.manners import LONGEST_PAUSE, Manners
from allotment.running.sources.web.names import Names, Resolve, look_up
from allotment.running.sources.web.policy import Policy
from allotment.running.sources.web.trouble import in_plain_words
from allotment.running.sources.web.turns import SharedTurns
from allotment.running.sources.web.watch import Watch, Watchman

USER_AGENT: Final = f"allotment/{__version__}"
MOST_REDIRECTS: Final = 5
FIRST_PAUSE: Final = 0.5
LONGEST_BACK_OFF: Final = 8.0

TROUBLE: Final = (OSError, HTTPException, HTTPError, ValueError)


@dataclass(frozen=True, slots=True)
class Found:
    """What was fetched: the bytes, what the server calls them and their version, and where they were."""

    data: bytes = field(repr=False)
    media_type: str
    etag: str
    address: str


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The server says that it is to be asked for elsewhere."""

    location: str


@dataclass(frozen=True, slots=True)
class World:
    """What a client needs of the world beside the network: names, clocks, pauses, chance.

    ``shared`` is the folder by which the workers of this machine keep their manners together.
    """

    resolve: Resolve = look_up
    monotonic: Callable[[], float] = time.monotonic
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], object] = time.sleep
    chance: Callable[[], float] = random.random
    trusted: Callable[[], ssl.SSLContext] = ssl.create_default_context
    shared: Path | None = None


class Client:
    """Fetches for several threads; what it keeps open is closed by `close`."""

    def __init__(self, network: Network, world: World | None = None) -> None:
        self._network = network
        self._world = world = world or World()
        self._policy = Policy(network.hosts, network.private)
        self._names = Names(self._policy, world.resolve, world.monotonic)
        self._manners = Manners(
            network.per_host,
            monotonic=world.monotonic,
            sleep=world.sleep,
            shared=None if world.shared is None else SharedTurns(world.shared, network.per_host),
        )
        self._connections = Connections(world.monotonic)
        self._watchman = Watchman()

    def close(self) -> None:
        """Close the connections that are kept, and watch nothing more."""
        self._connections.close()
        self._watchman.close()

    def admitted(self, url: str, base: str | None = None) -> Address:
        """The address as it would be asked; raises `WebRefusedError` when it may not be."""
        return self._policy.admitted(read_address(url, base))

    def get(self, url: str, *, most_bytes: int, headers: Mapping[str, str]) -> Found:
        """What is at an address; raises `WebRefusedError` for good, `UnreachableError` for now."""
        deadline = self._world.monotonic() + self._network.whole_seconds
        address = self.admitted(url)
        seen = [address.url]
        for _ in range(MOST_REDIRECTS + 1):
            found = self._patiently(address, deadline, most_bytes, headers)
            if isinstance(found, Found):
                return found
            address = self._followed(address, found.location)
            if address.url in seen:
                raise WebRefusedError(
                    REFUSED, f"{shown(url)} leads in a circle: back to {shown(address.url)}"
                )
            seen.append(address.url)
        raise WebRefusedError(REFUSED, f"{shown(url)} leads on and on, more than {MOST_REDIRECTS} times")

    @cached_property
    def _trusted(self) -> ssl.SSLContext:
        return self._world.trusted()

    def _followed(self, address: Address, location: str) -> Address:
        """Where a redirect leads, if one may go there."""
        try:
            onward = self.admitted(location, address.url)
        except WebRefusedError as error:
            raise WebRefusedError(error.reason, f"{shown(address.url)} leads on to {error.message}") from None
        if address.origin.scheme == "https" and onward.origin.scheme != "https":
            message = f"{shown(address.url)} leads on to {shown(onward.url)}, which is not encrypted"
            raise WebRefusedError(FORBIDDEN, message)
        return onward

    def _patiently(
        self, address: Address, deadline: float, most_bytes: int, headers: Mapping[str, str]
    ) -> Found | Elsewhere:
        """One address, tried as often as it may help."""
        world, tries = self._world, 0
        while True:
            tries += 1
            try:
                return self._once(address, deadline, most_bytes, headers)
            except WebRefusedError as error:
                raise WebRefusedError(error.reason, f"{shown(address.url)}: {error.message}") from None
            except UnreachableError as error:
                pause = self._pause(tries, error)
                late = world.monotonic() + pause >= deadline
                if not error.again or tries >= self._network.tries or late or pause > LONGEST_PAUSE:
                    raise UnreachableError(_told(address, error, tries), again=False) from None
                if error.after is not None:
                    self._manners.leave_alone(address.origin.host, pause)
                else:
                    world.sleep(pause)

    def _pause(self, tries: int, error: UnreachableError) -> float:
        """How long to wait before the next try: half of it by the number of tries, half by chance."""
        backing_off = min(FIRST_PAUSE * 2.0 ** (tries - 1), LONGEST_BACK_OFF)
        return max(error.after or 0.0, backing_off * (0.5 + 0.5 * self._world.chance()))

    def _once(
        self, address: Address, deadline: float, most_bytes: int, headers: Mapping[str, str]
    ) -> Found | Elsewhere:
        """One request and its answer."""
        with self._manners.turn(address.origin.host, deadline):
            left = deadline - self._world.monotonic()
            if left <= 0:
                raise self._too_long()
            with self._watchman.watch(left) as watch, self._in_words(watch):
                return self._exchanged(address, watch, most_bytes, headers)

    def _exchanged(
        self, address: Address, watch: Watch, most_bytes: int, headers: Mapping[str, str]
    ) -> Found | Elsewhere:
        connection, answer = self._answered(address, watch, headers)
        with self._connections.kept_if_whole(address.origin, connection):
            try:
                location = judge(answer.status, answer.headers, self._world.clock())
                if location is not None:
                    connection.close()
                    return Elsewhere(location)
                data = read_body(answer, answer.headers, most_bytes)
            finally:
                answer.close()
        given = answer.headers
        return Found(data, given.get("content-type", "")[:200], given.get("etag", "")[:200], address.url)

    def _answered(
        self, address: Address, watch: Watch, headers: Mapping[str, str]
    ) -> tuple[AnyConnection, BaseHTTPResponse]:
        """The answer's beginning; a kept connection that turns out to be dead is replaced."""
        kept = self._connections.take(address.origin)
        if kept is not None and kept.sock is not None:
            watch.guard(kept.sock)
            try:
                return kept, self._asked(kept, address, headers)
            except TROUBLE:
                if watch.passed:
                    raise
        fresh = connected(
            address.origin,
            self._names.addresses(address.origin.host, address.origin.port),
            self._trusted,
            connect_seconds=self._network.connect_seconds,
            watch=watch,
        )
        return fresh, self._asked(fresh, address, headers)

    def _asked(
        self, connection: AnyConnection, address: Address, headers: Mapping[str, str]
    ) -> BaseHTTPResponse:
        connection.timeout = self._network.read_seconds
        if connection.sock is not None:
            connection.sock.settimeout(self._network.read_seconds)
        try:
            connection.request(
                "GET",
                address.target,
                headers={"User-Agent": USER_AGENT, **headers},
                preload_content=False,
                decode_content=False,
            )
            return connection.getresponse()
        except BaseException:
            connection.close()
            raise

    @contextmanager
    def _in_words(self, watch: Watch) -> Iterator[None]:
        """What goes wrong inside, in our own words; an end that the watch made is a limit of time."""
        try:
            yield
            if watch.passed:
                raise self._too_long()
        except (WebRefusedError, UnreachableError) as error:
            if watch.passed and isinstance(error, UnreachableError):
                raise self._too_long() from None
            raise
        except TROUBLE as error:
            raise (self._too_long() if watch.passed else in_plain_words(error)) from None

    def _too_long(self) -> UnreachableError:
        seconds = self._network.whole_seconds
        return UnreachableError(
            f"it was not there after {seconds:g} s, which is all that it has", again=False
        )


def _told(address: Address, error: UnreachableError, tries: int) -> str:
    tried = f" (tried {tries} times)" if tries > 1 else ""
    wait = f"; it asks to be left alone for {_long(error.after)}" if error.after else ""
    return f"{shown(address.url)}: {error.message}{tried}{wait}"


def _long(seconds: float) -> str:
    """A time in the unit in which people think of it."""
    for unit, size in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.0f} s"
