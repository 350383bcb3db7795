"""Why there was no answer, by what failed beneath: the name, the port, the certificate, the time."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from allotment.kubernetes.client.transport import CutError


class _Row(NamedTuple):
    sort: type[BaseException]
    says: Callable[[BaseException], str]
    remedy: str


def _certificate(error: BaseException) -> str:
    why = getattr(error, "verify_message", "") or "no reason is given"
    return f"its certificate is not to be trusted: {why}"


_LOOK_AT_AUTHORITY: Final = (
    "the kubeconfig's `certificate-authority` must be the cluster's: have a new one, or look at the clock"
)
_ROWS: Final = (
    _Row(ssl.SSLCertVerificationError, _certificate, _LOOK_AT_AUTHORITY),
    _Row(
        ssl.SSLError,
        lambda error: f"no secure connection comes about: {getattr(error, 'reason', None) or error}",
        "look at the `server` and the client certificate of the kubeconfig: it may have run out",
    ),
    _Row(
        socket.gaierror,
        lambda _: "the name of its server is not known here",
        "look at the `server` of the kubeconfig, and whether the network or VPN is on",
    ),
    _Row(
        ConnectionRefusedError,
        lambda _: "nothing listens at its server's address",
        "start the cluster, or look at the `server` of the kubeconfig",
    ),
    _Row(
        TimeoutError,
        lambda _: "its server does not answer in time",
        "look whether the network or VPN is on; a busy server may answer later",
    ),
)


def unreachable(error: CutError, tries: int) -> tuple[str, str]:
    """A sentence and a remedy."""
    more = f" ({tries} tries)" if tries > 1 else ""
    for row in _ROWS:
        for cause in _chain(error):
            if isinstance(cause, row.sort):
                return row.says(cause) + more, row.remedy
    what = f"the connection ended without an answer: {error}" if str(error) else "no answer came"
    return what + more, "run the same command again; if it stays so, look at what stands between"


def is_hopeless(error: BaseException) -> bool:
    """Whether asking again is of no use: a certificate or a name does not mend itself."""
    chain = list(_chain(error))
    is_cut = any(isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError) for cause in chain)
    return not is_cut and any(isinstance(cause, ssl.SSLError | socket.gaierror) for cause in chain)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
