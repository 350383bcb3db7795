"""A request, and the options that it may carry: what they mean, and how wrong ones are refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from allotment.kubernetes.testing.answers import (
    Cause,
    RequestError,
    bad_request,
    forbidden,
    invalid_options,
    required,
    unsupported,
    wrong,
)
from allotment.kubernetes.testing.names import quoted

APPLY: Final = "application/apply-patch+yaml"
MERGE: Final = "application/merge-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
JSON_PATCH: Final = "application/json-patch+json"
PATCHES: Final = (JSON_PATCH, MERGE, STRATEGIC, APPLY)
_LEVELS: Final = ("", "Ignore", "Strict", "Warn")
_LONGEST_MANAGER: Final = 128


@dataclass(frozen=True)
class Request:
    """One request, with its headers in lower case."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def content_type(self) -> str:
        """What the body is said to be."""
        return self.headers.get("content-type", "application/json").partition(";")[0].strip()

    @property
    def is_apply(self) -> bool:
        """Whether it is a server-side apply."""
        return self.method == "PATCH" and self.content_type == APPLY

    @property
    def manager(self) -> str:
        """Who writes: the one that is told, or the first word of the user agent."""
        agent = self.headers.get("user-agent", "unknown").partition("/")[0]
        return self.query.get("fieldManager") or agent

    @property
    def is_dry_run(self) -> bool:
        """Whether nothing is to be kept."""
        return bool(self.query.get("dryRun"))

    @property
    def level(self) -> str:
        """What is done about fields that are not in the schema."""
        return self.query.get("fieldValidation") or "Warn"

    def flag(self, name: str) -> bool:
        """Whether an option is on."""
        return self.query.get(name, "").lower() in {"1", "true"}


def request_of(
    method: str,
    path: str,
    query: Mapping[str, str] | None,
    headers: Mapping[str, str] | None,
    body: Any,
) -> Request:
    """A request; a body that is no bytes is sent as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    told = {key.lower(): value for key, value in (headers or {}).items()}
    return Request(method, path, dict(query or {}), told, data)


def check_options(request: Request) -> None:
    """Refuse options of a write that break rules."""
    kind = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions"}[request.method]
    causes = list(_wrong_options(request))
    if causes:
        raise invalid_options(kind, causes)


def _wrong_options(request: Request) -> Iterator[Cause]:
    manager = request.query.get("fieldManager", "")
    if request.is_apply and not manager:
        yield required("fieldManager", "is required for apply patch")
    if request.method == "PATCH" and not request.is_apply and "force" in request.query:
        yield forbidden("force", "may not be specified for non-apply patch")
    if len(manager.encode()) > _LONGEST_MANAGER:
        yield Cause(
            "fieldManager", "FieldValueTooLong", f"Too long: may not be more than {_LONGEST_MANAGER} bytes"
        )
    for place, letter in enumerate(manager):
        if not letter.isprintable():
            shown = json.dumps(manager).replace("\\u00", "\\x")
            yield wrong("fieldManager", shown, f"invalid character U+{ord(letter):04X} (at position {place})")
    yield from wrong_dry_run(request.query.get("dryRun", ""))
    level = request.query.get("fieldValidation", "")
    if level not in _LEVELS:
        yield unsupported("fieldValidation", quoted(level), _LEVELS)


def wrong_dry_run(text: str) -> Iterator[Cause]:
    """What is wrong with the option ``dryRun``."""
    if text not in {"", "All"}:
        yield unsupported("dryRun", quoted([text]), ("All",))


@dataclass(frozen=True)
class DeleteOptions:
    """How something is to be deleted."""

    policy: str = ""
    grace: int | None = None
    uid: str = ""
    version: str = ""
    is_dry_run: bool = False


_POLICIES: Final = ("Foreground", "Background", "Orphan")


def delete_options(request: Request) -> DeleteOptions:
    """The options of a deletion, from its body or else from its query."""
    told: dict[str, Any] = dict(request.query)
    if request.body:
        try:
            told = json.loads(request.body)
        except ValueError:
            why = "unexpected end of JSON input"
            raise bad_request(f"couldn't get version/kind; json parse error: {why}") from None
        if told.get("kind") not in {None, "DeleteOptions"}:
            raise bad_request(
                f'no kind "{told["kind"]}" is registered for version "{told.get("apiVersion", "")}" '
                'in scheme "pkg/apis/meta/internalversion/scheme/register.go:27"'
            )
    grace = told.get("gracePeriodSeconds")
    try:
        seconds = None if grace is None else int(grace)
    except ValueError:
        raise bad_request(f'strconv.ParseInt: parsing "{grace}": invalid syntax') from None
    policy, orphan = told.get("propagationPolicy"), told.get("orphanDependents")
    causes = list(_wrong_policy(policy, orphan))
    if causes:
        raise invalid_options("DeleteOptions", causes)
    if orphan is not None:
        policy = "Orphan" if str(orphan).lower() == "true" else "Background"
    before = told.get("preconditions") or {}
    return DeleteOptions(
        policy or "",
        seconds,
        before.get("uid", ""),
        before.get("resourceVersion", ""),
        bool(told.get("dryRun")),
    )


def _wrong_policy(policy: Any, orphan: Any) -> Iterator[Cause]:
    if policy is not None and orphan is not None:
        why = "orphanDependents and deletionPropagation cannot be both set"
        yield wrong("propagationPolicy", quoted(policy), why)
    elif policy is not None and policy not in _POLICIES:
        yield unsupported("propagationPolicy", quoted(policy), (*_POLICIES, "nil"))


def whole_number(text: str | None) -> int | None:
    """A number of the query, where it is told."""
    if text is None or text == "":
        return None
    try:
        return int(text)
    except ValueError:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None


def unsupported_media(known: Iterable[str]) -> RequestError:
    """A body in a form that the server does not take here."""
    listed = ", ".join(known)
    text = f"the body of the request was in an unknown format - accepted media types include: {listed}"
    return RequestError(415, "UnsupportedMediaType", text)
