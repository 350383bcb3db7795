"""Which servers are reached past the proxy of the environment, as Go's programs decide it, `kubectl` too.

A loopback address never goes by a proxy, and ``NO_PROXY`` may name ranges of addresses, both of which most
Python libraries leave out. Source: the documentation of Go's package ``golang.org/x/net/http/httpproxy``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping


def goes_straight(host: str, environ: Mapping[str, str]) -> bool:
    """Whether the proxy of the environment is not for this server."""
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    told = environ.get("NO_PROXY") or environ.get("no_proxy") or ""
    return address.is_loopback or any(_holds(each.strip(), address) for each in told.split(","))


def _holds(text: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    try:
        return address in ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
