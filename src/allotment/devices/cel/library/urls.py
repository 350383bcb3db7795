"""``url('https://...')`` and its parts, for absolute URLs and paths, as Go's ``net/url`` takes them apart."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote, unquote_plus

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.declarations import Library, Overload, member
from allotment.devices.cel.problems import EvaluationError
from allotment.devices.cel.values import Opaque

_URL: Final = t.struct("kubernetes.URL")
_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):(.*)", re.DOTALL)
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9a-fA-F]{2})")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_PORT: Final = re.compile(r":[0-9]*")
_BAD_HOST: Final = re.compile(r"[ \"<>\\^`{|}]")
_PATH_KEPT: Final = "/$&+,:;=@!'()*~-_.%"
_PROBLEM: Final = "URL parse error during conversion from string"


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of a URL."""

    text: str
    scheme: str
    host: str
    path: str
    query: str

    @property
    def port(self) -> str:
        """What stands behind the host's colon."""
        rest = self.host.rpartition("]")[2]
        return rest.partition(":")[2]

    @property
    def hostname(self) -> str:
        """The host without port and brackets."""
        host = self.host.removesuffix(f":{self.port}") if ":" in self.host.rpartition("]")[2] else self.host
        return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def parse_url(text: str) -> Url:
    """The parts of an absolute URL or path."""
    problem = _problem(text)
    if problem:
        raise EvaluationError(f'{_PROBLEM}: parse "{text}": {problem}')
    scheme, rest = "", text.partition("#")[0]
    if match := _SCHEME.fullmatch(rest):
        scheme, rest = match[1].lower(), match[2]
    rest, _, query = rest.partition("?")
    host = ""
    if rest.startswith("//") and scheme:
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        host = unquote(authority.rpartition("@")[2])
        if (bad := _host_problem(host)) is not None:
            raise EvaluationError(f'{_PROBLEM}: parse "{text}": {bad}')
    return Url(text, scheme, host, rest, query)


def _problem(text: str) -> str | None:
    """Why a text is no URL."""
    if _CONTROL.search(text):
        return "net/url: invalid control character in URL"
    if not text:
        return "empty url"
    match = _SCHEME.fullmatch(text)
    if match is None and not text.startswith("/"):
        return "missing protocol scheme" if text.startswith(":") else "invalid URI for request"
    if match is not None and not match[2].startswith("/"):
        return "invalid URI for request"
    bad = _BAD_ESCAPE.search(text.partition("?")[0])
    return f'invalid URL escape "{text[bad.start() : bad.start() + 3]}"' if bad else None


def _host_problem(host: str) -> str | None:
    if host.startswith("["):
        if "]" not in host:
            return "missing ']' in host"
        port = host.rpartition("]")[2]
    else:
        port = ":" + host.partition(":")[2] if ":" in host else ""
    if port and not _PORT.fullmatch(port):
        return f'invalid port "{port}" after host'
    bad = _BAD_HOST.search(host)
    return f'invalid character "{bad.group()}" in host name' if bad else None


def _is_url(text: str) -> bool:
    try:
        parse_url(text)
    except EvaluationError:
        return False
    return True


def _query(url: Url) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for part in url.query.split("&"):
        if not part or ";" in part or _BAD_ESCAPE.search(part):
            continue
        name, _, value = part.partition("=")
        result.setdefault(unquote_plus(name), []).append(unquote_plus(value))
    return result


def _part(name: str, read: Callable[[Url], object], result: t.CelType = t.STRING) -> tuple[Overload, ...]:
    return (member(name, (_URL,), result, lambda url: read(url.data)),)


URLS: Final = Library(
    {
        "url": (Overload("string_to_url", (t.STRING,), _URL, lambda text: Opaque(parse_url(text), _URL)),),
        "getScheme": _part("url_get_scheme", lambda url: url.scheme),
        "getHost": _part("url_get_host", lambda url: url.host),
        "getHostname": _part("url_get_hostname", lambda url: url.hostname),
        "getPort": _part("url_get_port", lambda url: url.port),
        "getEscapedPath": _part("url_get_escaped_path", lambda url: quote(url.path, safe=_PATH_KEPT)),
        "getQuery": _part("url_get_query", _query, t.map_of(t.STRING, t.list_of(t.STRING))),
        "isURL": (Overload("is_url_string", (t.STRING,), t.BOOL, _is_url),),
    },
)
