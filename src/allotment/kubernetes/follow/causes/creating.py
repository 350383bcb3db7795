"""Pods that do not come, and pods whose claims do not come: only events tell of these.

Facts: the Job controller says ``FailedCreate`` with the API's answer in it, the claim controller
``FailedResourceClaimCreation`` on the pod. Seen on Kubernetes 1.36 and Kueue 0.19: while Kueue's webhooks
do not answer, no pod of any Job can be made; Kueue 0.17 overlooks a pod that was made just after it looked
at the Job, until the Job changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.causes.phrases import ADMINISTRATOR, anew, listed, short
from allotment.kubernetes.follow.model import Cause, Evidence, State, by_condition, evidence
from allotment.kubernetes.follow.part import Part
from allotment.kubernetes.follow.pods import ELASTIC_GATE, Phase, gates
from allotment.kubernetes.follow.sums import pods_of
from allotment.kubernetes.kinds import CLAIM_TEMPLATE, DEVICE_CLASS, Object
from allotment.kubernetes.render.names import PREFIX
from allotment.pictures.counts import counted

WEBHOOK: Final = re.compile(r'failed calling webhook "([^"]+)"')
NO_TEMPLATE: Final = re.compile(r'resourceclaimtemplates?(?:\.resource\.k8s\.io)? "([^"]+)" not found')
_APPLY: Final = "`allot apply` makes it again, and the pods start by themselves then"
_CREATED: Final = ("metadata", "creationTimestamp")
_ENDED: Final = frozenset({Phase.SUCCEEDED, Phase.FAILED})
PATIENCE: Final = 10.0
"""How many seconds Kueue has for taking its gate off; it mostly takes less than one."""


def not_created(part: Part) -> Iterator[Cause]:
    """The Job wants pods, and the API refuses them."""
    wanted = not part.is_suspended and part.width > 0
    if not wanted or (part.in_phase(Phase.RUNNING) and len(part.pods) >= part.width):
        return
    for event in part.seen.events(part.owner):
        if fields.text(event, "reason") != "FailedCreate":
            continue
        if any((fields.created(pod) or 0.0) > _seen_at(event) for pod in part.pods):
            continue
        resumed = fields.is_false(part.owner, "Suspended")
        if resumed is not None and (resumed.since or 0.0) > _seen_at(event):
            continue
        message = fields.text(event, "message")
        shown = (evidence(part.owner, "event FailedCreate", short(message, 400)),)
        yield _refused_pod(message, shown)
        return


def _refused_pod(message: str, shown: tuple[Evidence, ...]) -> Cause:
    webhook = WEBHOOK.search(message)
    if webhook is not None:
        whose = "Kueue's" if webhook[1].endswith(".kb.io") else f"the webhook `{webhook[1]}`"
        manager = "Kueue's manager" if whose == "Kueue's" else whose
        words = f"no pod can be created: the cluster has to ask {manager} about each, and it does not answer"
        remedy = f"ask {ADMINISTRATOR} to look at {manager}; pods come by themselves once it answers"
        return Cause("webhook-down", State.WAITING, words, remedy, shown)
    if "exceeded quota" in message:
        words = "no pod can be created: the namespace's own ResourceQuota is used up"
        remedy = f"ask {ADMINISTRATOR} to raise it, or wait for other pods of the namespace"
        return Cause("namespace-quota", State.WAITING, words, remedy, shown)
    if "violates PodSecurity" in message:
        words = "no pod can be created: the namespace's pod security refuses them"
        return Cause("pod-security", State.NEVER, words, f"show the evidence to {ADMINISTRATOR}", shown)
    if "is forbidden" in message or "denied the request" in message:
        words = f"no pod can be created: the cluster refuses them ({short(message, 160)})"
        return Cause("pods-refused", State.NEVER, words, f"show the evidence to {ADMINISTRATOR}", shown)
    words = f"no pod can be created: {short(message, 160)}"
    return Cause("pods-not-created", State.WAITING, words, f"ask {ADMINISTRATOR}; it is tried again", shown)


def claims_not_created(part: Part) -> Iterator[Cause]:
    """Pods wait for claims that nobody makes."""
    waiting = part.in_phase(Phase.PENDING, Phase.GATED)
    for pod in waiting:
        if fields.items(pod, "status", "resourceClaimStatuses"):
            continue
        for event in part.seen.events(pod):
            if fields.text(event, "reason") != "FailedResourceClaimCreation":
                continue
            message = fields.text(event, "message")
            found = NO_TEMPLATE.search(message)
            shown = (evidence(pod, "event FailedResourceClaimCreation", short(message, 400)),)
            if found is not None or ("not found" in message and "emplate" in message):
                named = f" `{found[1]}`" if found is not None else ""
                words = f"its claim template{named} is gone, so its pods get no claim"
                yield Cause("template-missing", State.WAITING, words, _APPLY, shown)
            else:
                words = f"the claims of its pods cannot be made: {short(message, 160)}"
                yield Cause(
                    "claims-not-created", State.WAITING, words, f"show the evidence to {ADMINISTRATOR}", shown
                )
            return
    if not waiting or not part.seen.knows(CLAIM_TEMPLATE):
        return
    gone = [name for name in part.templates if part.seen.named(CLAIM_TEMPLATE, name, part.namespace) is None]
    if gone and not any(fields.items(pod, "status", "resourceClaimStatuses") for pod in waiting):
        words = f"its claim template `{gone[0]}` is gone, so its pods get no claim"
        place = "spec.template.spec.resourceClaims"
        shown = (evidence(part.owner, place, f"names {gone[0]}, of which there is no ResourceClaimTemplate"),)
        yield Cause("template-missing", State.WAITING, words, _APPLY, shown)


def class_missing(part: Part) -> Iterator[Cause]:
    """A device class that its pods ask for and that is not there."""
    if not part.in_phase(Phase.PENDING) or not part.seen.knows(DEVICE_CLASS):
        return
    gone = [name for name in part.device_classes if part.seen.named(DEVICE_CLASS, name) is None]
    said = [
        (pod, found)
        for pod in part.in_phase(Phase.PENDING)
        if (found := fields.is_false(pod, "PodScheduled")) is not None and "device class" in found.message
    ]
    if not gone or (not said and len(gone) < len(part.device_classes)):
        return
    words = f"the device class `{gone[0]}` is not in the cluster, so no device can be found for its pods"
    remedy = (
        f"name another card in `gpu:`, or ask {ADMINISTRATOR} for the class (`allot render "
        "--platform-objects`)"
    )
    template = part.templates[0] if part.templates else "the claim"
    shown = [
        Evidence(
            f"ResourceClaimTemplate {part.namespace}/{template}",
            "deviceClassName",
            f"{gone[0]}, which is not there",
        )
    ]
    shown += [evidence(pod, "status.conditions[PodScheduled]", found.words) for pod, found in said[:1]]
    yield Cause("class-missing", State.NEVER, words, remedy, tuple(shown))


def gated(part: Part) -> Iterator[Cause]:
    """Pods that a gate keeps from the scheduler."""
    held = part.in_phase(Phase.GATED)
    if not held:
        return
    names = tuple(dict.fromkeys(gate for pod in held for gate in gates(pod)))
    shown = [evidence(held[0], "spec.schedulingGates", listed(names))]
    stopping = part.in_phase(Phase.STOPPING)
    elastic = ELASTIC_GATE in names
    if elastic and not part.queue:
        words = "its pods are held by Kueue's gate, and its Job names no queue, so nobody will lift it"
        remedy = anew(part)
        yield Cause("gate-without-queue", State.NEVER, words, remedy, tuple(shown))
    elif elastic and stopping:
        words = (
            f"{counted(len(held), 'new pod')} {'is' if len(held) == 1 else 'are'} held back until "
            f"{counted(len(stopping), 'old one')} {'has' if len(stopping) == 1 else 'have'} stopped"
        )
        shown += [
            evidence(
                stopping[0],
                "metadata.deletionTimestamp",
                fields.text(stopping[0], "metadata", "deletionTimestamp"),
            )
        ]
        yield Cause(
            "gated-while-stopping",
            State.WAITING,
            words,
            "nothing: it takes a grace period at most",
            tuple(shown),
        )
    elif (overlooked := _overlooked(part, held)) is not None:
        yield overlooked
    elif part.wished is None:
        words = (
            f"{counted(len(held), 'pod')} {'is' if len(held) == 1 else 'are'} held by the gate "
            f"{listed(names)}"
        )
        remedy = "nothing, if it has just started; else see whether what set the gate still runs"
        yield Cause("gated", State.WAITING, words, remedy, tuple(shown))


def _overlooked(part: Part, held: tuple[Object, ...]) -> Cause | None:
    """Pods that Kueue has admitted and not let go: it looked before they were there, and not since."""
    live = part.live
    admitted = None if live is None else fields.condition(live, "Admitted")
    if live is None or admitted is None or not admitted.holds or part.wished is not None:
        return None
    going = [pod for phase, pods in part.phases.items() if phase not in _ENDED for pod in pods]
    made = [at for pod in held if (at := fields.created(pod)) is not None]
    if any(gates(pod) != (ELASTIC_GATE,) for pod in held) or len(going) > pods_of(live) or not made:
        return None
    age = part.now - max(*made, admitted.since or 0.0)
    if age < PATIENCE:
        return None
    one = len(held) == 1
    words = (
        f"Kueue has admitted it, and has not taken its gate off {counted(len(held), 'pod')} for {age:.0f} s: "
        f"it looked before {'the pod was' if one else 'the pods were'} there, and not since"
    )
    remedy = (
        "touch its Job, so that Kueue looks again: `kubectl annotate --overwrite "
        f"-n {part.namespace} job {fields.name(part.owner)} {PREFIX}touched={int(part.now)}`"
    )
    shown = (
        *by_condition(live, "Admitted"),
        evidence(held[0], "spec.schedulingGates", ELASTIC_GATE),
        evidence(held[0], "metadata.creationTimestamp", fields.text(held[0], *_CREATED)),
    )
    return Cause("gate-overlooked", State.WAITING, words, remedy, shown)


def _seen_at(event: Object) -> float:
    found = fields.moment(event, "lastTimestamp")
    return found if found is not None else fields.moment(event, "eventTime") or 0.0
