"""Hosts that pages may come from, as the platform writes them: by name, encrypted unless it says otherwise.

``iiif.example.org`` lets addresses of that host be asked by https on its usual port, ``scans.local:8443`` on
another one, and ``http://scans.local`` without encryption too. Where a host is named for https, an
``http://`` address on the usual port is asked by https instead: old manifests are full of them. Files are
checked by these rules before anything runs, and every request again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from allotment.platform.addresses import HOST, host_of

USUAL_PORT: Final[Mapping[str, int]] = {"https": 443, "http": 80}
RULE: Final = re.compile(rf"(?:(https?)://)?({HOST.pattern})(?::([0-9]{{1,5}}))?/?")


@dataclass(frozen=True, slots=True)
class Origin:
    """Whom a request goes to: scheme, host and port."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        """As a message names it: a plain host where all else is as usual."""
        if self.port != USUAL_PORT[self.scheme]:
            return f"{self.scheme}://{self.host}:{self.port}"
        return self.host if self.scheme == "https" else f"{self.scheme}://{self.host}"


@dataclass(frozen=True, slots=True)
class HostRule:
    """One entry of ``sources.hosts``; ``plain`` is one that may be asked without encryption."""

    host: str
    port: int | None
    plain: bool

    def answers(self, origin: Origin) -> Origin | None:
        """The origin to ask where this rule lets one be asked."""
        if origin.scheme == "https":
            return origin if origin.port == (self.port or USUAL_PORT["https"]) else None
        if self.plain:
            return origin if origin.port == (self.port or USUAL_PORT["http"]) else None
        usual = origin.port == USUAL_PORT["http"] and self.port in {None, USUAL_PORT["https"]}
        return Origin("https", origin.host, USUAL_PORT["https"]) if usual else None


class Hosts:
    """Every host that the platform names."""

    def __init__(self, entries: Iterable[str]) -> None:
        self._rules: dict[str, list[HostRule]] = {}
        for entry in entries:
            rule = read_rule(entry)
            if rule is not None:
                self._rules.setdefault(rule.host, []).append(rule)

    def __contains__(self, host: str) -> bool:
        """Whether the host is named at all."""
        return host in self._rules

    def names(self) -> tuple[str, ...]:
        """The hosts, sorted."""
        return tuple(sorted(self._rules))

    def admitted(self, origin: Origin) -> Origin | None:
        """Whom to ask for an address of this origin, or None when nobody may be asked."""
        rules = self._rules.get(origin.host, ())
        return next((found for rule in rules if (found := rule.answers(origin)) is not None), None)


def read_rule(entry: str) -> HostRule | None:
    """The rule that an entry of ``sources.hosts`` is, or None for one that is no host."""
    found = RULE.fullmatch(entry.lower())
    if found is None or len(found[2]) > 253:
        return None
    port = int(found[3]) if found[3] else None
    if port is not None and not 0 < port < 65_536:
        return None
    return HostRule(found[2], port, found[1] == "http")


def origin_of(address: str) -> Origin:
    """Whom an address that `look_address` let pass would be asked of."""
    parts = urlsplit(address)
    scheme = parts.scheme.lower()
    return Origin(scheme, host_of(address), parts.port or USUAL_PORT[scheme])
