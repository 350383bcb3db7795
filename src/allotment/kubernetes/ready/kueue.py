"""Whether Kueue runs, takes work for the teams, and is a release without the defects that windows meet.

Facts: Kueue 0.19 (``kueue.x-k8s.io/v1beta2``): the condition ``Active`` of ClusterQueues and LocalQueues with
its reasons, the Deployment ``kueue-controller-manager`` of the namespace ``kueue-system``; while the manager
is down every Job of the cluster is refused, for its webhooks (``mjob.kb.io``) fail. Its configuration is
`kueue_config`'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from allotment.answers import Answer, fine, note, problem
from allotment.kubernetes import kinds
from allotment.kubernetes.follow.fields import items, number, text
from allotment.kubernetes.kinds import Kind, Object
from allotment.kubernetes.ready.seen import KUEUE_NAMESPACE, Seen, conditions, listed
from allotment.kubernetes.render.context import namespace_of, release_of
from allotment.kubernetes.render.platform.kueue import SINCE_MENDED
from allotment.pictures.counts import counted

CHECK: Final = "kueue"
MANAGER: Final = "kueue-controller-manager"
KUEUES: Final = ".kb.io"
GROUP: Final = "kueue.x-k8s.io/"
NEEDED: Final = "kueue.x-k8s.io/v1beta2"
INSTALL: Final = "install Kueue 0.19.6 or later, or write another `scheduler` in the platform's file"
WHAT_TO_DO: Final = {
    "Stopped": "its stopPolicy is Hold or HoldAndDrain: write None",
    "FlavorNotFound": "it names a ResourceFlavor that is not there: `allot render --platform-objects`",
    "TopologyNotFound": "its flavor names a Topology that is not there",
    "AdmissionCheckNotFound": "it names an AdmissionCheck that is not there",
    "AdmissionCheckInactive": "an AdmissionCheck of it is not active: kubectl get admissionchecks",
    "ClusterQueueIsInactive": "mend the ClusterQueue first",
    "ClusterQueueDoesNotExist": "its ClusterQueue is not there: `allot render --platform-objects`",
    "Terminating": "somebody deletes it: it waits for its Workloads to end",
}


def kueue(seen: Seen) -> Iterator[Answer]:
    """Whether it is there, in which release, and whether its manager runs."""
    if not seen.with_kueue:
        return
    if seen.served is not None and NEEDED not in seen.served:
        older = sorted(each for each in seen.served if each.startswith(GROUP))
        had = f"only {listed(older)}" if older else "nothing of Kueue"
        yield problem(CHECK, f"the cluster serves {had}, and what is rendered is {NEEDED}", INSTALL)
        return
    if not seen.serves(kinds.CLUSTER_QUEUE):
        yield problem(CHECK, f"the cluster does not serve {NEEDED}: Kueue is not there", INSTALL)
        return
    manager = seen.snapshot.named(kinds.DEPLOYMENT, MANAGER, KUEUE_NAMESPACE)
    yield from _tried(seen)
    if manager is None:
        could = seen.can_tell(kinds.DEPLOYMENT)
        why = f"there is no Deployment {MANAGER}" if could else "Deployments could not be read"
        what = "whether Kueue's manager runs, and in which release,"
        if seen.webhook is not None and seen.webhook.answers:
            what = "in which release Kueue is"
        words = f"{what} cannot be told: {why}"
        remedy = "see where it is installed" if could else "let somebody who may read them run this"
        yield note(CHECK, f"{words} in {KUEUE_NAMESPACE}", remedy)
        said = seen.platform.versions.kueue
        if release_of(said) < release_of(SINCE_MENDED):
            yield _defects(f"the platform's file says Kueue {said}, which")
        return
    yield from _manager(seen, manager)


def _tried(seen: Seen) -> Iterator[Answer]:
    """What became of a Job that was tried."""
    if seen.webhook is None:
        return
    if seen.webhook.answers:
        yield fine(CHECK, "Kueue's manager answers: it suspends a Job that is tried")
        return
    name = seen.webhook.name
    whose = "Kueue's manager" if name.endswith(KUEUES) else "another program"
    words = f"no Job can be made: the server asks {whose} about each (webhook {name}), and it does not answer"
    remedy = f"kubectl -n {KUEUE_NAMESPACE} get pods" if name.endswith(KUEUES) else "mend what is behind it"
    yield problem(CHECK, words, remedy)


def _manager(seen: Seen, manager: Object) -> Iterator[Answer]:
    ready = number(manager, "status", "readyReplicas")
    if not ready:
        words = "Kueue's manager does not run: every Job is refused while its webhook does not answer"
        yield problem(CHECK, words, f"kubectl -n {KUEUE_NAMESPACE} describe deployment {MANAGER}")
    release, said = _release(manager), seen.platform.versions.kueue
    if release is None:
        yield note(CHECK, "which release of Kueue this is cannot be told by its image")
        return
    if release_of(release)[:2] != release_of(said)[:2]:
        words = (
            f"this is Kueue {release}, and the platform's file says {said}: what is told of it may be wrong"
        )
        yield note(CHECK, words, f'write `versions: {{kueue: "{release}"}}`')
    if release_of(release) < release_of(SINCE_MENDED):
        yield _defects(f"Kueue {release}")
    elif ready:
        yield fine(CHECK, f"Kueue {release} runs")


def _defects(who: str) -> Answer:
    words = (
        f"{who} has defects that windows meet which grow: pods that run without quota after an eviction, "
        "quota that is held by nothing"
    )
    return note(CHECK, words, f"update it to {SINCE_MENDED} or later")


def _release(manager: Object) -> str | None:
    """The release by the tag of the manager's image."""
    for container in items(manager, "spec", "template", "spec", "containers"):
        if found := re.search(r":v?(\d+\.\d+(?:\.\d+)?)(?:[-@].*)?$", str(container.get("image", ""))):
            return found[1]
    return None


def active_queues(seen: Seen) -> Iterator[Answer]:
    """Whether the teams' queues take work, by what Kueue says of them."""
    if not seen.with_kueue or not seen.serves(kinds.CLUSTER_QUEUE):
        return
    well: list[str] = []
    for team in seen.teams:
        for kind, namespace in ((kinds.CLUSTER_QUEUE, None), (kinds.LOCAL_QUEUE, namespace_of(team))):
            live = seen.snapshot.named(kind, team.name, namespace) if seen.can_tell(kind) else None
            if live is None:
                continue
            found = _inactive(kind, live)
            if found is None:
                well.append(f"{kind.name} {team.name}")
            else:
                yield found
    if well:
        yield fine("active queues", f"{counted(len(well), 'queue')} active: {listed(well)}")
    yield from _flavors(seen)


def _inactive(kind: Kind, live: Object) -> Answer | None:
    name = f"{kind.name} {live['metadata']['name']}"
    active = next((each for each in conditions(live) if each.get("type") == "Active"), None)
    if active is None:
        words = f"{name} has no condition `Active`: Kueue has not looked at it"
        return problem("active queues", words, "see whether Kueue's manager runs")
    if active.get("status") == "True":
        return None
    reason = active.get("reason", "")
    words = f"{name} takes no work: {reason}: {active.get('message', '')}".rstrip(": ")
    return problem(
        "active queues",
        words,
        WHAT_TO_DO.get(reason, f"kubectl describe {kind.shown} {live['metadata']['name']}"),
    )


def _flavors(seen: Seen) -> Iterator[Answer]:
    """Flavors that queues of ours name and the cluster has not."""
    if not seen.can_tell(kinds.FLAVOR):
        return
    known = {each["metadata"]["name"] for each in seen.snapshot.of(kinds.FLAVOR)}
    for team in seen.teams:
        live = seen.snapshot.named(kinds.CLUSTER_QUEUE, team.name)
        groups = items(live, "spec", "resourceGroups")
        named = {text(flavor, "name") for group in groups for flavor in items(group, "flavors")}
        for name in sorted(named - known):
            words = f"ClusterQueue {team.name} names the flavor {name}, and there is none"
            yield problem("active queues", words, WHAT_TO_DO["FlavorNotFound"])
