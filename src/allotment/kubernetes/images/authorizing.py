"""The header that a registry wants: a password, or a token that is fetched from where the registry says.

Facts: the *distribution* project's token authentication. A registry answers 401 with ``WWW-Authenticate:
Bearer realm="…",service="…",scope="…"``; the realm gives a token for a GET with a password or without one,
or for a POST with an identity token (OAuth 2, ``grant_type=refresh_token``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode, urlunsplit

from allotment.kubernetes.images.asking import Asking, Question, UnaskedError, parts_of
from allotment.kubernetes.images.credentials import Credential
from allotment.kubernetes.images.reference import Reference

CLIENT: Final = "allotment"
_MOST: Final = 256 << 10
_PAIR: Final = re.compile(r'([A-Za-z_]+)\s*=\s*(?:"([^"]*)"|([^\s,"]+))')


def authorization(
    challenge: str, reference: Reference, credential: Credential | None, asking: Asking
) -> str | None:
    """The value of ``Authorization`` that answers a challenge; None: there is none to be had."""
    scheme, _, rest = challenge.strip().partition(" ")
    if scheme.lower() == "basic":
        return None if credential is None or credential.is_token else credential.basic
    if scheme.lower() != "bearer":
        return None
    said = {name.lower(): quoted or plain for name, quoted, plain in _PAIR.findall(rest)}
    realm = said.get("realm", "")
    if not realm:
        return None
    question = _question(realm, said.get("service", ""), reference, credential)
    answer = asking.ask(question)
    if answer.status in {401, 403}:
        return None
    token = _token(answer.body) if answer.status == 200 else None
    if token is None:
        words = f"{parts_of(realm).hostname} gives no token for {reference.api}: it answers {answer.status}"
        raise UnaskedError(words, "try again later, or ask whoever runs that registry")
    return f"Bearer {token}"


def _question(realm: str, service: str, reference: Reference, credential: Credential | None) -> Question:
    wanted = {"scope": f"repository:{reference.repository}:pull"}
    if service:
        wanted["service"] = service
    if credential is not None and credential.is_token:
        form = {
            **wanted,
            "grant_type": "refresh_token",
            "client_id": CLIENT,
            "refresh_token": credential.secret,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return Question(realm, headers, _MOST, urlencode(form).encode())
    parts = parts_of(realm)
    query = "&".join(each for each in (parts.query, urlencode(wanted)) if each)
    headers = {} if credential is None else {"Authorization": credential.basic}
    return Question(urlunsplit(parts._replace(query=query)), headers, _MOST)


def _token(body: bytes) -> str | None:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, Mapping):
        return None
    token = said.get("token") or said.get("access_token")
    return token if isinstance(token, str) and token.isprintable() else None
