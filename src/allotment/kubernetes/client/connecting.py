"""The way to the cluster that a kubeconfig names.

Certificates, tokens and passwords are lightkube's, which is loaded here and nowhere else; what it leaves out
is put beside it: programs that give credentials of ``v1``, certificates that they give, a server's other
name, and asking as somebody else. Certificates are looked at as Go does, for many clusters' own authorities
leave out what Python's strictest look asks for since 3.13.
"""

from __future__ import annotations

import ssl
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from allotment.errors import AllotmentError, WorldError
from allotment.kubernetes.client.exec_credentials import Credential, Program
from allotment.kubernetes.client.kubeconfig import Access, access
from allotment.kubernetes.client.proxies import goes_straight
from allotment.kubernetes.client.secrets import bare_address, check_user, read_token, without_quotes

if TYPE_CHECKING:
    import httpx2

    from allotment.kubernetes.client.http import HttpTransport

AGENT: Final = "allotment"
_FILES: Final = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
_KNOWN: Final = (*_FILES[1:], "client-certificate-data", "client-key-data", "token", "username", "password")


def connect(context: str | None, environ: Mapping[str, str], home: Path) -> HttpTransport:
    """A transport to the context, or to the current one; nothing is asked of the cluster yet."""
    return over_http(access(context, environ, home), environ)


def over_http(found: Access, environ: Mapping[str, str]) -> HttpTransport:
    """A transport by what a kubeconfig says."""
    try:
        import lightkube  # noqa: F401  # whether it is there
    except ImportError as error:
        raise WorldError(
            f"a cluster cannot be asked, as {error.name} is not installed",
            remedy='install it: pip install "allotment[kubernetes]"',
        ) from None
    from httpx2 import InvalidURL

    from allotment.kubernetes.client.http import HttpTransport

    _check_files(found)
    _check_data(found)
    check_user(found.user, f"the user `{found.user_name}` of {found.files}")
    program = _program(found, environ)
    given = program.ask() if program is not None else None
    try:
        client = _client(found, program, given, environ)
    except AllotmentError:
        raise
    except (OSError, ValueError, ImportError, InvalidURL) as error:
        raise _unfit(found, without_quotes(str(error)) or type(error).__name__) from None
    return HttpTransport(client, found.name, server_name=str(found.cluster.get("tls-server-name") or ""))


def _client(
    found: Access, program: Program | None, given: Credential | None, environ: Mapping[str, str]
) -> httpx2.Client:
    import httpx2
    from lightkube.config.client_adapter import user_auth, verify_cluster
    from lightkube.config.models import Cluster, User
    from msgspec import convert

    from allotment.kubernetes.client.http import TIMEOUT

    cluster = convert(_cluster(found), Cluster)
    user = convert(_user(found, given), User)
    trust = verify_cluster(cluster, user, lambda path: path)
    trust.verify_flags &= ~ssl.VERIFY_X509_STRICT
    auth = _fresh_token(found, program, given) or user_auth(user)
    address = _url(found, "server")
    if address.scheme not in {"http", "https"} or not address.host:
        raise _unfit(found, f"the `server` is `{bare_address(found.server)}`, and no address")
    return httpx2.Client(
        base_url=address,
        verify=trust,
        auth=auth,
        timeout=TIMEOUT,
        trust_env=not goes_straight(address.host, environ),
        proxy=_url(found, "proxy-url") if found.cluster.get("proxy-url") else None,
        headers=[("user-agent", AGENT), *_as_somebody_else(found.user)],
    )


def _url(found: Access, field: str) -> httpx2.URL:
    import httpx2

    try:
        return httpx2.URL(str(found.cluster[field]))
    except (httpx2.InvalidURL, ValueError):
        raise _unfit(found, f"its `{field}` is no address") from None


def _fresh_token(found: Access, program: Program | None, given: Credential | None) -> httpx2.Auth | None:
    """The token of a program or a file, which may change; None for every other credential."""
    from allotment.kubernetes.client.http import FreshToken

    if program is not None:
        return FreshToken(lambda: program.ask().token, given.token) if given and given.token else None
    path = str(found.user.get("tokenFile") or "")
    if not path:
        return None
    where = f"the user `{found.user_name}` of {found.files}"
    return FreshToken(lambda: read_token(path, where), read_token(path, where))


def _cluster(found: Access) -> dict[str, Any]:
    """As lightkube reads it: data counts before a file, as with `kubectl`."""
    told = dict(found.cluster)
    if told.get("certificate-authority-data"):
        told.pop("certificate-authority", None)
    return told


def _user(found: Access, given: Credential | None) -> dict[str, Any]:
    told = {name: found.user[name] for name in _KNOWN if found.user.get(name)}
    if given is not None and given.certificate:
        told["client-certificate-data"] = b64encode(given.certificate.encode()).decode()
        told["client-key-data"] = b64encode(given.key.encode()).decode()
    return told


def _program(found: Access, environ: Mapping[str, str]) -> Program | None:
    if found.user.get("auth-provider"):
        raise WorldError(
            "its `auth-provider` is a way to log in that Kubernetes has given up",
            where=f"the user `{found.user_name}` of {found.files}",
            remedy="have the kubeconfig written anew: today's has `exec` with a program",
        )
    told = found.user.get("exec")
    return Program(found.user_name, told, found.cluster, environ) if isinstance(told, dict) else None


def _check_files(found: Access) -> None:
    """Refuse a file that is named and is not there, unless data stand beside it."""
    for told in (found.cluster, found.user):
        for name in _FILES:
            path = told.get(name)
            if path and not told.get(f"{name}-data") and not Path(str(path)).is_file():
                raise WorldError(
                    f"its `{name}` names {path}, and there is no such file",
                    where=found.files,
                    remedy="put the file there, or have the kubeconfig written anew",
                )


def _check_data(found: Access) -> None:
    """Refuse what stands within and is neither a certificate nor a key, with the name of its field."""
    for told in (found.cluster, found.user):
        for name in (f"{each}-data" for each in _FILES):
            value = told.get(name)
            if value and not _is_pem(str(value)):
                raise _unfit(found, f"its `{name}` is no PEM in base64")


def _is_pem(text: str) -> bool:
    try:
        return b"-----BEGIN " in b64decode("".join(text.split()), validate=True)
    except ValueError:
        return False


def _as_somebody_else(user: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The headers by which an administrator asks as another."""
    for key, header in (("as", "Impersonate-User"), ("as-uid", "Impersonate-Uid")):
        if user.get(key):
            yield header, str(user[key])
    for group in user.get("as-groups") or ():
        yield "Impersonate-Group", str(group)
    for name, values in (user.get("as-user-extra") or {}).items():
        yield from ((f"Impersonate-Extra-{name}", str(value)) for value in values)


def _unfit(found: Access, why: str) -> WorldError:
    return WorldError(
        f"the context `{found.name}` cannot be used: {why}",
        where=found.files,
        remedy="look at its `server`, certificates and user, or have the kubeconfig written anew",
    )
