"""What a server says: objects, and Status objects where it refuses, each with the reason's own code.

The shape is that of ``metav1.Status``; the texts are those that ``k8s.io/apimachinery/pkg/api/errors`` gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from allotment.kubernetes.testing.resources import Resource

Object = dict[str, Any]


class Cause(NamedTuple):
    """One thing that is wrong with an object, with the text as the server has it."""

    field: str
    reason: str
    text: str


class Stream(Protocol):
    """What a watch answers: events, until its time is up; or a log that is followed, in lines."""

    def pending(self) -> list[Any]:
        """What has happened since the last look: objects, or lines as bytes."""

    def closing(self) -> list[Any]:
        """What is said at the end."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more can come."""

    @property
    def seconds(self) -> float:
        """How long it lasts."""


@dataclass
class Answer:
    """Status, body and headers of an answer; a watch has a stream in the place of a body."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    stream: Stream | None = None


class RequestError(Exception):
    """A request that is answered with a Status of failure."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code, self.reason, self.message, self.details = code, reason, message, details
        self.headers = dict(headers or {})
        self.warnings: list[str] = []

    def answer(self) -> Answer:
        """The answer that tells it."""
        status: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        status["message"] = self.message
        if self.reason:
            status["reason"] = self.reason
        if self.details:
            status["details"] = dict(self.details)
        return Answer(self.code, {**status, "code": self.code}, self.headers, self.warnings)


def success(details: Mapping[str, Any]) -> Object:
    """A Status that says that all is well."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": dict(details),
    }


def details(resource: Resource, name: str, **more: Any) -> Object:
    """What a Status tells about the object."""
    told = {"name": name, "group": resource.group, "kind": resource.plural, **more}
    return {key: value for key, value in told.items() if value}


def bad_request(message: str) -> RequestError:
    """A request that makes no sense."""
    return RequestError(400, "BadRequest", message)


def not_found(resource: Resource, name: str) -> RequestError:
    """There is no such object."""
    return RequestError(404, "NotFound", f'{resource.shown} "{name}" not found', details(resource, name))


def already_there(resource: Resource, name: str, *, going: bool) -> RequestError:
    """There is one of that name."""
    start = "object is being deleted: " if going else ""
    text = f'{start}{resource.shown} "{name}" already exists'
    return RequestError(409, "AlreadyExists", text, details(resource, name))


def conflict(resource: Resource, name: str, why: str) -> RequestError:
    """Somebody was quicker."""
    text = f'Operation cannot be fulfilled on {resource.shown} "{name}": {why}'
    return RequestError(409, "Conflict", text, details(resource, name))


def invalid(group: str, kind: str, name: str, causes: Iterable[Cause]) -> RequestError:
    """An object that breaks rules."""
    listed = list(causes)
    texts = list(dict.fromkeys(f"{cause.field}: {cause.text}" for cause in listed))
    shown = f"{kind}.{group}" if group else kind
    told = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    about: Object = {"name": name, "group": group, "kind": kind}
    about = {key: value for key, value in about.items() if value}
    about["causes"] = [
        {"reason": cause.reason, "message": cause.text, "field": cause.field} for cause in listed
    ]
    return RequestError(422, "Invalid", f'{shown} "{name}" is invalid: {told}', about)


def invalid_options(kind: str, causes: Iterable[Cause]) -> RequestError:
    """Options of a request that break rules."""
    return invalid("meta.k8s.io", kind, "", causes)


def went_wrong(message: str) -> RequestError:
    """An error of the server's own."""
    return RequestError(500, "", message)


def required(place: str, why: str = "") -> Cause:
    """Something that is not there."""
    return Cause(place, "FieldValueRequired", f"Required value: {why}" if why else "Required value")


def wrong(place: str, value: str, why: str) -> Cause:
    """A value that is not right; it is given as it is to be shown."""
    return Cause(place, "FieldValueInvalid", f"Invalid value: {value}: {why}")


def unsupported(place: str, value: str, known: Iterable[str]) -> Cause:
    """A value that is none of those there are."""
    listed = ", ".join(f'"{each}"' for each in known)
    return Cause(place, "FieldValueNotSupported", f"Unsupported value: {value}: supported values: {listed}")


def forbidden(place: str, why: str) -> Cause:
    """A value that may not be there."""
    return Cause(place, "FieldValueForbidden", f"Forbidden: {why}")


def doubled(place: str, value: str) -> Cause:
    """A value that is there already."""
    return Cause(place, "FieldValueDuplicate", f"Duplicate value: {value}")
