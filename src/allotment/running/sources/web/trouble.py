"""What libraries raise when an exchange goes wrong, in words for a person, with none of their own text."""

from __future__ import annotations

import ssl
from http.client import IncompleteRead, RemoteDisconnected
from typing import Final

from urllib3 import exceptions

from allotment.running.sources.web.errors import UnreachableError

CUT: Final = "the connection was cut"
NO_HTTP: Final = "the server does not speak HTTP as it should"

WORDS: Final[tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...]] = (
    ((TimeoutError, exceptions.TimeoutError), "the server does not answer in time"),
    (ConnectionRefusedError, "nobody answers there: the connection is refused"),
    ((IncompleteRead, exceptions.IncompleteRead), "it was cut short"),
    ((RemoteDisconnected, ConnectionError), CUT),
    (ssl.SSLError, "the encrypted connection fails"),
    (OSError, "it cannot be connected to"),
)


def in_plain_words(error: BaseException) -> UnreachableError:
    """The error as one of ours."""
    cause = _cause(error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return UnreachableError(f"its certificate does not hold: {cause.verify_message}", again=False)
    for kinds, words in WORDS:
        if isinstance(cause, kinds):
            return UnreachableError(words + _system_words(cause, words))
    return UnreachableError(NO_HTTP)


def _cause(error: BaseException) -> BaseException:
    """What a library's error was made of, where it holds that."""
    for inner in reversed(error.args):
        if isinstance(inner, BaseException):
            return _cause(inner)
    return error


def _system_words(error: BaseException, words: str) -> str:
    told = isinstance(error, OSError) and words == WORDS[-1][1] and error.strerror
    return f": {error.strerror}" if told and isinstance(error, OSError) else ""
