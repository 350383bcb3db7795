"""Pods that have a node and do not run there yet: image, secrets, devices made ready.

Facts: the kubelet says why a container waits in ``state.waiting``, and in events of the pod what it tries
before there is a container: ``FailedMount``, ``FailedPrepareDynamicResources`` (the DRA driver of the
node).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.causes.phrases import ADMINISTRATOR, listed, short
from allotment.kubernetes.follow.model import Cause, State, evidence
from allotment.kubernetes.follow.part import Part
from allotment.kubernetes.follow.pods import Phase, image_of, node_of, waiting_for
from allotment.kubernetes.kinds import Object
from allotment.pictures.counts import counted

PULLS: Final = frozenset(
    {
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
        "ErrImageNeverPull",
        "RegistryUnavailable",
        "ImageInspectError",
    }
)
_NOT_THERE: Final = re.compile(r"not found|manifest unknown|does not exist|no such manifest", re.IGNORECASE)
_NOT_ALLOWED: Final = re.compile(
    r"unauthorized|denied|forbidden|authentication required|401|403", re.IGNORECASE
)
_NOT_REACHED: Final = re.compile(
    r"no such host|timeout|timed out|connection refused|unreachable|tls:", re.IGNORECASE
)
_SECRET: Final = re.compile(r'secret "([^"]+)" not found')
_KEY: Final = re.compile(r"couldn't find key (\S+) in (?:Secret|ConfigMap) (\S+)")
_MAP: Final = re.compile(r'configmap "([^"]+)" not found')


def image(part: Part) -> Iterator[Cause]:
    """An image that cannot be pulled."""
    for pod in part.in_phase(Phase.STARTING, Phase.RUNNING):
        for reason, message in waiting_for(pod):
            if reason not in PULLS:
                continue
            what, remedy = _pull(reason, message)
            words = f"its image cannot be pulled: {what} ({_short_image(image_of(pod))})"
            shown = [
                evidence(pod, "status.containerStatuses[].state.waiting", f"{reason}: {short(message, 400)}")
            ]
            told = (
                fields.text(each, "message")
                for each in part.seen.events(pod)
                if fields.text(each, "reason") == "Failed"
            )
            more = next((each for each in told if each.startswith("Failed to pull")), "")
            if more and more not in message:
                what, remedy = _pull(reason, more)
                words = f"its image cannot be pulled: {what} ({_short_image(image_of(pod))})"
                shown.append(evidence(pod, "event Failed", short(more, 400)))
            yield Cause("image", State.WAITING, words, remedy, tuple(shown))
            return


def _pull(reason: str, message: str) -> tuple[str, str]:
    if reason == "InvalidImageName":
        return (
            "its name is no image's name",
            "mend `image` in its pipeline (a new pipeline, for a used one is frozen)",
        )
    if _NOT_THERE.search(message):
        return (
            "the registry does not have it",
            "push it, or name one that is there in `image` (in a new pipeline)",
        )
    if _NOT_ALLOWED.search(message):
        return (
            "the registry does not give it to this cluster",
            f"ask {ADMINISTRATOR} for credentials of the registry",
        )
    if _NOT_REACHED.search(message):
        return (
            "the registry does not answer",
            f"nothing if it comes back: it is tried again; else ask {ADMINISTRATOR}",
        )
    return short(message, 120) or reason, "see whether the image is there and may be read; it is tried again"


def _short_image(named: str) -> str:
    before, at, digest = named.partition("@")
    return f"{before}@{digest[:19]}…" if at and len(digest) > 20 else named or "no image"


def configuration(part: Part) -> Iterator[Cause]:
    """A container that cannot be made of what it names: secrets, keys, ConfigMaps."""
    for pod in part.in_phase(Phase.STARTING):
        found = [
            (f"state.waiting {reason}", message)
            for reason, message in waiting_for(pod)
            if reason.startswith("Create")
        ]
        found += [
            (f"event {fields.text(each, 'reason')}", fields.text(each, "message"))
            for each in part.seen.events(pod)
            if fields.text(each, "reason") == "FailedMount"
        ]
        for place, message in found:
            yield _of_configuration(pod, place, message)
            return


def _of_configuration(pod: Object, place: str, message: str) -> Cause:
    shown = (evidence(pod, place, short(message, 400)),)
    secret, key, mapped = _SECRET.search(message), _KEY.search(message), _MAP.search(message)
    if secret is not None:
        words = f"its pods cannot start: the namespace has no secret `{secret[1]}`"
        remedy = (
            f"create it (`kubectl create secret generic {secret[1]} …`), or mend its name in the "
            "pipeline's `env`"
        )
        return Cause("secret-missing", State.WAITING, words, remedy, shown)
    if key is not None:
        words = f"its pods cannot start: `{key[2].split('/')[-1]}` has no key `{key[1]}`"
        return Cause(
            "key-missing",
            State.WAITING,
            words,
            "add the key, or mend its name in the pipeline's `env`",
            shown,
        )
    if mapped is not None:
        words = f"its pods cannot start: the ConfigMap `{mapped[1]}` is gone"
        return Cause("config-map-missing", State.WAITING, words, "`allot apply` makes it again", shown)
    words = f"its pods cannot start: {short(message, 160)}"
    return Cause(
        "container-configuration", State.WAITING, words, f"show the evidence to {ADMINISTRATOR}", shown
    )


def devices_not_ready(part: Part) -> Iterator[Cause]:
    """The driver on the node does not hand the devices over."""
    for pod in part.in_phase(Phase.STARTING):
        for event in part.seen.events(pod):
            if fields.text(event, "reason") != "FailedPrepareDynamicResources":
                continue
            message = fields.text(event, "message")
            node = node_of(pod)
            words = f"the device driver on {node} cannot make its devices ready: {short(_last(message), 140)}"
            if "not registered" in message or "not found in the list of registered" in message:
                words = f"the device driver on {node} does not run: the kubelet there knows none of that name"
            remedy = f"ask {ADMINISTRATOR} to look at the driver on {node}; it is tried again"
            shown = (evidence(pod, "event FailedPrepareDynamicResources", short(message, 400)),)
            yield Cause("prepare-devices", State.WAITING, words, remedy, shown)
            return


def starting(part: Part) -> Iterator[Cause]:
    """Pods that are on their way, as far as anything says."""
    pods = part.in_phase(Phase.STARTING)
    if not pods or part.in_phase(Phase.RUNNING):
        return
    moments = (fields.moment(pod, "status", "startTime") for pod in pods)
    since = min((each for each in moments if each is not None), default=None)
    age = None if since is None else part.now - since
    nodes = listed([node_of(pod) for pod in pods])
    words = (
        f"{counted(len(pods), 'pod')} of it {'has' if len(pods) == 1 else 'have'} a node, and no "
        "container yet"
    )
    words += f" (on {nodes})"
    remedy = "nothing: a large image takes minutes"
    if age is not None and age > 900:
        words += f" for {age / 60:.0f} min"
        remedy = f"see the events of the pod (`kubectl describe pod {fields.name(pods[0])}`)"
    phase = fields.text(pods[0], "status", "phase") or "not told"
    yield Cause(
        "starting",
        State.STARTING,
        words,
        remedy,
        (evidence(pods[0], "spec.nodeName", f"{node_of(pods[0])}, and its phase is {phase}"),),
    )


def _last(message: str) -> str:
    """The end of a chain of errors says most."""
    found = re.search(r"desc = (.*)", message, re.DOTALL)
    return found[1] if found is not None else message
