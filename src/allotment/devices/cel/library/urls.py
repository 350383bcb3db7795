"""``url('https://...')`` and its parts, for absolute URLs and paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.declarations import Library, Overload, member
from allotment.devices.cel.library.url_parsing import Url, UrlError, check_url, parse_url
from allotment.devices.cel.problems import EvaluationError
from allotment.devices.cel.values import Opaque

_URL: Final = t.struct("kubernetes.URL")


def _url(text: str) -> Opaque:
    try:
        return Opaque(parse_url(text), _URL)
    except UrlError as error:
        raise EvaluationError(f"URL parse error during conversion from string: {error}") from error


def _is_url(text: str) -> bool:
    try:
        check_url(text)
    except UrlError:
        return False
    return True


def _part(name: str, read: Callable[[Url], object], result: t.CelType = t.STRING) -> tuple[Overload, ...]:
    return (member(name, (_URL,), result, lambda url: read(url.data)),)


URLS: Final = Library(
    {
        "url": (Overload("string_to_url", (t.STRING,), _URL, _url),),
        "getScheme": _part("url_get_scheme", lambda url: url.scheme),
        "getHost": _part("url_get_host", lambda url: url.host),
        "getHostname": _part("url_get_hostname", lambda url: url.hostname),
        "getPort": _part("url_get_port", lambda url: url.port),
        "getEscapedPath": _part("url_get_escaped_path", lambda url: url.escaped_path),
        "getQuery": _part("url_get_query", lambda url: url.queries, t.map_of(t.STRING, t.list_of(t.STRING))),
        "isURL": (Overload("is_url_string", (t.STRING,), t.BOOL, _is_url),),
    },
)
