"""What was asked of a cluster, as its API says it and as a person does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from allotment.kubernetes.kinds import KINDS, Kind

JSON: Final = "application/json"
APPLY: Final = "application/apply-patch+yaml"
MERGE: Final = "application/merge-patch+json"
_PATH: Final = re.compile(
    r"/(?:api/(?P<core>v1)|apis/(?P<version>[^/]+/[^/]+))(?:/namespaces/(?P<namespace>[^/]+)(?=/[^/]))?"
    r"/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?(?:/(?P<sub>[^/]+))?"
)
_BY_PLURAL: Final = {(kind.api_version, kind.plural): kind for kind in KINDS}
_VERBS: Final = {"POST": "create", "PUT": "update", "PATCH": "patch"}


@dataclass(frozen=True, slots=True)
class Target:
    """What a path names. ``plural`` is empty where it is no resource's, such as ``/version``."""

    api_version: str = ""
    plural: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def group(self) -> str:
        """The API group; the core's is empty."""
        group, slash, _ = self.api_version.partition("/")
        return group if slash else ""

    @property
    def resource(self) -> str:
        """As roles name it: ``pods/log``."""
        return f"{self.plural}/{self.subresource}" if self.subresource else self.plural

    @property
    def shown_resource(self) -> str:
        """As `kubectl` takes it: ``jobs.batch``."""
        return f"{self.resource}.{self.group}" if self.group else self.resource

    @property
    def kind(self) -> Kind | None:
        """The kind, where it is one of those that this tool knows."""
        return _BY_PLURAL.get((self.api_version, self.plural))

    @property
    def shown(self) -> str:
        """As a person says it: ``the Job `letters` of namespace `team-a```."""
        within = f" of namespace `{self.namespace}`" if self.namespace else ""
        if not self.name:
            return f"{self.shown_resource}{within}"
        sort = self.kind.name if self.kind else self.shown_resource
        return f"the {sort} `{self.name}`{within}"


def target_of(path: str) -> Target:
    """What a path names."""
    found = _PATH.fullmatch(path)
    if found is None:
        return Target()
    version = found["core"] or found["version"]
    parts = (found[each] or "" for each in ("namespace", "name", "sub"))
    return Target(version, found["plural"], *parts)


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a cluster's API, its body as it is sent.

    ``is_kept`` is false for a question by POST, which leaves nothing behind and can be asked again.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    content: str = JSON
    is_kept: bool = True

    @property
    def headers(self) -> dict[str, str]:
        """What is said about the body and the answer."""
        return {"accept": JSON} | ({"content-type": self.content} if self.body else {})

    @property
    def target(self) -> Target:
        """What it is about; of a creation the name is not in the path."""
        return target_of(self.path)

    @property
    def verb(self) -> str:
        """As roles name what is done."""
        if self.method == "GET":
            if self.query.get("watch"):
                return "watch"
            return "get" if self.target.name else "list"
        if self.method == "DELETE":
            return "delete" if self.target.name else "deletecollection"
        return _VERBS.get(self.method, self.method.lower())
