"""A refusal as it came: what was asked, and the parts of the answer.

What the server says in no field is read in its words, which are the same in all releases: who asked, and
which webhook, policy or manager it was. Facts: Kubernetes' API conventions, "Response Status Kind".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from allotment.kubernetes.client.asked import Request
from allotment.kubernetes.client.retries import causes_of, parts_of
from allotment.kubernetes.client.transport import Reply

WHO: Final = re.compile(r'User "(?P<who>.*?)" cannot (?P<verb>\w+) ')
POLICY: Final = re.compile(r"ValidatingAdmissionPolicy '(.*?)' with binding '.*?' denied request: (.*)", re.S)
WEBHOOK: Final = re.compile(r'admission webhook "(.*?)" denied the request:? ?(.*)', re.S)
WEBHOOK_DOWN: Final = re.compile(r'failed calling webhook "(.*?)": (.*)', re.S)
CONVERSION_DOWN: Final = re.compile(r"conversion webhook for (.*?) failed: (.*)", re.S)
MANAGER: Final = re.compile(r'conflict with "(.*?)"')


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal that is to be told: what was asked, and the Status of the answer."""

    request: Request
    reply: Reply
    told: Mapping[str, Any]
    tries: int

    @property
    def details(self) -> Mapping[str, str]:
        """The parts of the answer."""
        return parts_of(self.told)

    @property
    def causes(self) -> list[Mapping[str, Any]]:
        """What is wrong, a thing each."""
        return causes_of(self.told)

    @property
    def message(self) -> str:
        """The server's own words, on one line."""
        text = str(self.told.get("message") or self.reply.body[:200].decode(errors="replace"))
        return " ".join(text.split())

    @property
    def shown(self) -> str:
        """What it is about; of a creation the name stands in the answer or in what was sent."""
        target, name = self.request.target, str(self.details.get("name") or "")
        is_of_it = self.details.get("kind") in {target.plural, target.kind.name if target.kind else ""}
        if target.name or not name or not is_of_it:
            return target.shown if target.plural else f"`{self.request.path}`"
        sort = target.kind.name if target.kind else target.shown_resource
        return f"the {sort} `{name}`" + (f" of namespace `{target.namespace}`" if target.namespace else "")


def pair_of(cause: Mapping[str, Any], reason: str) -> tuple[str, str]:
    """A field and what is wrong with it; of a conflict, a manager and the field that it owns."""
    where, text = str(cause.get("field") or ""), str(cause.get("message") or cause.get("reason") or "")
    manager = MANAGER.search(text)
    return (manager[1], where) if reason == "Conflict" and manager else (where, text)
