"""Every refusal of a cluster as one sentence and a remedy: one row a kind of refusal.

Facts: Kubernetes' API conventions, "HTTP Status codes", and the reasons of ``metav1.Status``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from allotment.errors import EXIT_REFUSED, EXIT_WORLD
from allotment.kubernetes.client.asked import Request
from allotment.kubernetes.client.errors import ApiError, ExpiredError
from allotment.kubernetes.client.refused import (
    CONVERSION_DOWN,
    MANAGER,
    POLICY,
    WEBHOOK,
    WEBHOOK_DOWN,
    WHO,
    Refused,
    pair_of,
)
from allotment.kubernetes.client.retries import Found, retry_after, told_by
from allotment.kubernetes.client.roles import role_for
from allotment.kubernetes.client.transport import CutError
from allotment.kubernetes.client.unreachable import unreachable


@dataclass(frozen=True, slots=True)
class Words:
    """A sentence, what to do about it, and whether it is the world's fault or what was asked."""

    what: str
    remedy: str
    exit_code: int = EXIT_REFUSED


def refusal(
    request: Request, found: Found, name: str, *, tries: int = 1, is_unsure: bool = False
) -> ApiError:
    """What is raised for an answer that is a refusal, or that never came."""
    if isinstance(found, CutError):
        what, remedy = unreachable(found, tries)
        said = ApiError(
            what, f"cluster {name}", remedy, message=str(found), is_unsure=is_unsure, exit_code=EXIT_WORLD
        )
        return _unsure(said, request)
    told = told_by(found)
    refused = Refused(request, found, told, tries)
    words = _ROWS.get(found.status, _other)(refused)
    sort = ExpiredError if found.status == 410 else ApiError
    error = sort(
        words.what,
        f"cluster {name}",
        words.remedy,
        status=found.status,
        reason=str(told.get("reason", "")),
        message=str(told.get("message") or refused.message),
        causes=tuple(pair_of(each, str(told.get("reason", ""))) for each in refused.causes),
        is_unsure=is_unsure,
        is_absence=found.status == 404 and bool(refused.details.get("name")),
        exit_code=words.exit_code,
    )
    return _unsure(error, request)


def unsettled(request: Request, error: ApiError) -> ApiError:
    """What is raised where a write may have been done, and a look at it failed."""
    said = replace(error, what=f"an answer was lost, and looking failed too: {error.what}", is_unsure=True)
    return _unsure(said, request)


def _unsure(error: ApiError, request: Request) -> ApiError:
    if error.is_unsure and request.method != "GET" and request.is_kept:
        told = "whether it was done is not known: look before you go on"
        error.remedy = f"{told}; {error.remedy}" if error.exit_code == EXIT_WORLD else told
    return error


def _unknown_user(_: Refused) -> Words:
    return Words(
        "it does not know who asks: the credentials are wrong, withdrawn or have run out",
        "log in again as your cluster has it, and try: kubectl auth whoami",
        EXIT_WORLD,
    )


def _forbidden(refused: Refused) -> Words:
    if any(each.get("reason") == "NamespaceTerminating" for each in refused.causes):
        space = refused.request.target.namespace
        return Words(
            f"{refused.shown} cannot be written: its namespace is being deleted",
            f"wait until `kubectl get namespace {space}` finds none, and have it made anew",
        )
    found = WHO.search(str(refused.told.get("message", "")))
    return _denied(refused) if found is None else _not_allowed(refused, found["who"], found["verb"])


def _not_allowed(refused: Refused, who: str, verb: str) -> Words:
    target = refused.request.target
    if not target.plural:
        return Words(
            f"`{who}` may not {verb} {refused.request.path}", "ask the cluster's administrator for it"
        )
    place = f"in namespace `{target.namespace}`" if target.namespace else "in the whole cluster"
    what = f"`{who}` may not {verb} {target.shown_resource} {place}"
    if who == "system:anonymous":
        return Words(what, "the context says not who asks: log in, or name a context that has a user")
    role = role_for(verb, target)
    if role.startswith("Role") and not target.namespace:
        return Words(what, f"the {role} lets a team do so in its namespace alone: name a team with --team")
    if role:
        remedy = f"the {role} of `allot render --platform-objects` allows it to the group `allotment:TEAM`: "
        return Words(what, f"{remedy}have it applied, and be put into that group")
    return Words(what, "no role of a team allows it: it is for whoever runs the cluster")


def _denied(refused: Refused) -> Words:
    """Refused on admission, by a policy, a webhook, a quota or the rules for pods."""
    message = str(refused.told.get("message", ""))
    for pattern, sort in ((POLICY, "the admission policy"), (WEBHOOK, "the admission webhook")):
        found = pattern.search(message)
        if found:
            why = " ".join(found[2].split()) or "it gives no reason"
            return Words(
                f"{refused.shown} was refused by {sort} `{found[1]}`: {why}",
                "change what it names; whoever runs the cluster can say what the rule is for",
            )
    _, _, why = refused.message.partition(" is forbidden: ")
    return Words(
        f"{refused.shown} was refused: {why or refused.message}",
        "change what it names, or ask whoever runs the cluster",
    )


_WHAT_SERVES: Final = {
    "kueue.x-k8s.io": "Kueue is not installed, or older than 0.17",
    "scheduling.run.ai": "KAI is not installed, or older than 0.10",
    "kai.scheduler": "KAI is not installed, or has no topologies",
    "resource.k8s.io": "Kubernetes is older than 1.34, or the feature is off",
    "scheduling.k8s.io": "gangs of this version are off, or of another release of Kubernetes",
}


def _not_found(refused: Refused) -> Words:
    target, details = refused.request.target, refused.details
    if details.get("kind") == "namespaces" and target.plural != "namespaces":
        return Words(
            f"there is no namespace `{details.get('name')}`",
            "`allot render --platform-objects` prints those of the teams: have them applied",
        )
    if details.get("name") or not target.plural:
        return Words(f"there is no such thing: {refused.shown}", "look at what there is, or at the name")
    why = _WHAT_SERVES.get(target.group, "it is of another release, or of something that is not installed")
    version = target.api_version
    return Words(
        f"it does not serve {target.shown_resource} of {version}: {why}",
        f"see what it serves: kubectl api-resources --api-group={target.group or chr(39) * 2}",
        EXIT_WORLD,
    )


def _conflict(refused: Refused) -> Words:
    reason = refused.told.get("reason")
    if reason == "AlreadyExists":
        return Words(
            f"{refused.shown} is there already",
            "somebody made it first, or an earlier one is not gone yet: look at it, then try again",
        )
    owned: dict[str, list[str]] = {}
    for each in refused.causes:
        manager, where = pair_of(each, "Conflict")
        if MANAGER.search(str(each.get("message", ""))):
            owned.setdefault(manager, []).append(where)
    if owned:
        listed = "; ".join(f"`{who}` owns {', '.join(fields)}" for who, fields in owned.items())
        return Words(
            f"{refused.shown} has fields that others own: {listed}",
            "leave these fields to them, or have them given up there",
        )
    return Words(
        f"{refused.shown} was changed by somebody else meanwhile",
        "nothing was written: run the same command again",
    )


def _expired(refused: Refused) -> Words:
    return Words(
        f"{refused.shown} changed faster than it could be read: the version to go on from is gone",
        "run the same command again",
        EXIT_WORLD,
    )


def _too_large(refused: Refused) -> Words:
    size = len(refused.request.body)
    return Words(
        f"{refused.shown} is too large, with {size:,} bytes as sent",
        "split the campaign, or write fewer words a volume",
    )


def _invalid(refused: Refused) -> Words:
    if POLICY.search(str(refused.told.get("message", ""))) or not refused.causes:
        return _denied(refused)
    lines = dict.fromkeys(f"{each.get('field', '')}: {each.get('message', '')}" for each in refused.causes)
    listed = "".join(f"\n  {' '.join(line.split())}" for line in lines)
    return Words(f"{refused.shown} is not valid:{listed}", "mend what is named")


def _unreadable(refused: Refused) -> Words:
    if WEBHOOK.search(refused.message):
        return _denied(refused)
    return Words(
        f"{refused.shown} was refused as it stands: {refused.message}",
        "the cluster may be of another release than the platform's file says: compare `versions.kubernetes`",
    )


def _too_many(refused: Refused) -> Words:
    told = retry_after(refused.reply)
    when = f" and asks to wait for {told:.0f} s" if told else ""
    return Words(f"it has too much to do{when}{_tries(refused)}", "run the same command later", EXIT_WORLD)


def _broken(refused: Refused) -> Words:
    down = WEBHOOK_DOWN.search(refused.message)
    if down:
        return Words(
            f"{refused.shown} waits on the webhook `{down[1]}`, which does not answer: {down[2]}"
            f"{_tries(refused)}",
            "have the pods behind it mended (Kueue's are in namespace kueue-system), then run it again",
            EXIT_WORLD,
        )
    converts = CONVERSION_DOWN.search(refused.message)
    if converts:
        return Words(
            f"{refused.shown} waits on the webhook that converts {converts[1]}, which does not answer: "
            f"{converts[2]}{_tries(refused)}",
            "have the pods behind it mended (Kueue's are in namespace kueue-system), then run it again",
            EXIT_WORLD,
        )
    if refused.request.target.subresource == "log":
        return Words(
            f"the node of {refused.shown} does not give its log: {refused.message}{_tries(refused)}",
            "look at the node: kubectl get nodes",
            EXIT_WORLD,
        )
    is_bare = refused.told and refused.told.get("reason") != "InternalError"
    if is_bare and refused.reply.status == 500 and refused.request.method != "GET":
        return _unreadable(refused)
    return Words(
        f"it failed within, with {refused.reply.status}: {refused.message}{_tries(refused)}",
        "run the same command later; if it stays so, whoever runs the cluster has to look",
        EXIT_WORLD,
    )


def _other(refused: Refused) -> Words:
    if refused.reply.status >= 500:
        return _broken(refused)
    if refused.reply.status < 400:
        return Words(
            f"it answered {refused.reply.status} to `{refused.request.path}`, as no API server does",
            "look at the `server` of the kubeconfig: a proxy or a web page may be there",
            EXIT_WORLD,
        )
    return _unreadable(refused)


def _tries(refused: Refused) -> str:
    return f" ({refused.tries} tries)" if refused.tries > 1 else ""


_ROWS: Final[Mapping[int, Callable[[Refused], Words]]] = {
    400: _unreadable,
    401: _unknown_user,
    403: _forbidden,
    404: _not_found,
    409: _conflict,
    410: _expired,
    413: _too_large,
    422: _invalid,
    429: _too_many,
}
