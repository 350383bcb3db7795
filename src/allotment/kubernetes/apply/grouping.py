"""One group of objects while it is planned: its steps in order, or why it is refused. Pure: it asks nothing.

A Job is created once. One that is gone and is remembered stays gone, one that has ended is left alone and
written down, one that runs is settled. Of a campaign without such a Job nothing is sent at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from allotment.kubernetes.apply.admissible import claim_faults, cluster_faults, quota_faults
from allotment.kubernetes.apply.asked import claims_among, claims_named
from allotment.kubernetes.apply.depending import as_kept
from allotment.kubernetes.apply.fields import owned_part, owners_of
from allotment.kubernetes.apply.frozen import content_faults
from allotment.kubernetes.apply.given_up import given_up
from allotment.kubernetes.apply.groups import (
    OURS,
    REPOSITORY_LABEL,
    address,
    group_of,
    labels,
    notes_on,
    shown,
    team_of,
)
from allotment.kubernetes.apply.memory import (
    JOB_UID,
    ending_of,
    ending_words,
    had_job,
    holder_of,
    is_prepare,
)
from allotment.kubernetes.apply.outcome import Refusal, Verb
from allotment.kubernetes.apply.pausing import pause_steps
from allotment.kubernetes.apply.same import has_values
from allotment.kubernetes.apply.scene import Scene
from allotment.kubernetes.apply.settling import remembered, settled_words, settling
from allotment.kubernetes.apply.steps import Apply, Delete, GroupPlan, Step
from allotment.kubernetes.kinds import WORKLOAD, Object
from allotment.kubernetes.kueue_jobs import QUEUE, change_faults, creation_faults

WORK = ("campaigns/", "fleets/", "gangs/")
CLAIMS = frozenset({"ResourceClaim", "ResourceClaimTemplate"})


class Group:
    """One group while it is planned."""

    def __init__(self, scene: Scene, name: str) -> None:
        wish, wanted = scene.wish, scene.wanted
        self._context = scene.context
        self._wish = wish
        self._snapshot = scene.live
        self._live = scene.here
        self._name = name
        self._objects = wanted.groups[name]
        self._makers = scene.makers
        self._claims = claims_among(self._objects)
        self._said: list[str] = []
        self._refusals: list[Refusal] = []
        folder, _, own = name.partition("/")
        campaign = wish.repository.campaigns.get(own) if folder == "campaigns" else None
        self._suspend = campaign is not None and campaign.suspend
        self._again = own in wish.again and folder in {"campaigns", "gangs"}
        self._refusals += wanted.refusals.get(f"pipelines/{campaign.pipeline}", ()) if campaign else ()

    def plan(self) -> GroupPlan:
        """The steps, or the refusals."""
        self._refusals += self._foreign()
        jobs: list[Step] = [] if self._refusals else [*self._jobs()]
        out = any(isinstance(step, Apply) and step.rendered is not None for step in jobs)
        has_jobs = any(each["kind"] == "Job" for each in self._objects)
        needed = [*self._others(jobs)] if out or not has_jobs else []
        if any(isinstance(step, Apply) and step.live is None for step in (*needed, *jobs)):
            self._refusals += cluster_faults(self._context, self._snapshot)
        if self._refusals:
            return GroupPlan(
                self._name, said=tuple(self._said), refusals=tuple(dict.fromkeys(self._refusals))
            )
        return GroupPlan(self._name, (*needed, *jobs), tuple(self._said))

    def _foreign(self) -> Iterator[Refusal]:
        for each in self._objects:
            others = [name for name in self._makers[address(each)] if name != self._name]
            if others:
                words = f"{shown(each)} would be of {' and '.join(others)} as well"
                yield Refusal(words, "rename one of the files")
            live = self._live.get(address(each))
            if live is None:
                continue
            team, mark = team_of(live), labels(live).get(REPOSITORY_LABEL)
            if team is None and self._is_remembered(live):
                words = f"{shown(live)} is there, and somebody took our label from it: it is not touched"
                place, said = f"-n {self._context.namespace} {shown(live)}", " ".join(OURS.split(","))
                yield Refusal(words, f"put it back with `kubectl label {place} {said}`, and apply again")
            elif team != self._context.team.name:
                whose = f"of team `{team}`" if team else "nobody's of ours"
                yield Refusal(
                    f"{shown(live)} is there, and is {whose}: it is not touched",
                    "rename the file, or delete the object if it is nobody's",
                )
            elif mark is not None and self._wish.mark is not None and mark != self._wish.mark:
                yield Refusal(
                    f"{shown(live)} was applied from another repository of team `{team}`",
                    f"rename the file; if the repository has moved, label its objects anew: `kubectl label "
                    f"--overwrite -n {self._context.namespace} -l {REPOSITORY_LABEL}={mark} "
                    f"jobs,configmaps,services,deployments,resourceclaimtemplates {REPOSITORY_LABEL}="
                    f"{self._wish.mark}`",
                )
            elif group_of(live).startswith(WORK) and group_of(live) != self._name:
                yield Refusal(
                    f"{shown(live)} is there, and is of {group_of(live)}",
                    "rename the file; or, if that one is no longer in the repository, --prune first",
                )

    def _is_remembered(self, live: Object) -> bool:
        """Whether what stays of a Job says that this one is ours."""
        holder = self._live.get(holder_of(live)) if live["kind"] == "Job" else None
        return holder is not None and notes_on(holder).get(JOB_UID) == live["metadata"]["uid"]

    def _jobs(self) -> Iterator[Step]:
        for rendered in self._objects:
            if rendered["kind"] != "Job":
                continue
            live = self._live.get(address(rendered))
            holder = self._live.get(holder_of(rendered))
            if live is None:
                yield from self._new(rendered, holder)
            elif ending_of(live) is not None:
                yield from self._ended(rendered, live, holder)
            else:
                yield from self._running(rendered, live, holder)

    def _new(self, rendered: Object, holder: Object | None) -> Iterator[Step]:
        name = rendered["metadata"]["name"]
        if self._suspend:
            self._said.append(f"paused: Job {name} is created when its file says `suspend: false`")
        elif had_job(holder) and (not self._again or is_prepare(rendered)):
            if not is_prepare(rendered):
                again = f"`allot apply --again {self._name.partition('/')[2]}` runs it anew"
                self._said.append(f"Job {name}: {ending_words(None, holder)}; {again}")
        else:
            self._refusals += self._of_new(rendered)
            yield Apply(rendered, rendered=rendered)

    def _of_new(self, rendered: Object) -> Iterator[Refusal]:
        yield from self._wish.impossible.get(self._name, ())
        yield from claim_faults(self._context, self._snapshot, rendered, self._claims)
        yield from quota_faults(self._context, self._snapshot, rendered, self._claims)
        if self._context.with_kueue:
            for fault in creation_faults(rendered):
                yield Refusal(f"Kueue refuses {shown(rendered)}: {fault.field}: {fault.message}")

    def _ended(self, rendered: Object, live: Object, holder: Object | None) -> Iterator[Step]:
        self._said.append(f"Job {live['metadata']['name']}: {ending_words(live, holder)}")
        if not self._again or is_prepare(rendered):
            yield from remembered(live, holder)
            return
        self._refusals += self._of_new(rendered)
        yield Delete(live, Verb.CONFIGURED, is_awaited=True)
        yield Apply(rendered, rendered=rendered)

    def _running(self, rendered: Object, live: Object, holder: Object | None) -> Iterator[Step]:
        name = live["metadata"]["name"]
        workloads = self._snapshot.of(WORKLOAD, self._context.namespace)
        why = given_up(live, workloads) if self._context.with_kueue else None
        if why is not None:
            yield from self._lost(rendered, live, why)
            return
        if self._again and not is_prepare(rendered):
            words = f"Job {name} has not ended, so it cannot be run anew"
            self._refusals.append(Refusal(words, "leave out --again, or delete the Job first"))
            return
        if live["metadata"].get("deletionTimestamp"):
            self._refusals.append(Refusal(f"Job {name} is being deleted", "apply again when it is gone"))
            return
        self._refusals += self._of_change(rendered, live)
        self._said += settled_words(self._context, rendered, live)
        for step in settling(self._context, rendered, live, holder):
            yield Apply(step.value, step.live, step.manager, rendered, step.follows, step.verb)
        if not is_prepare(rendered):
            steps, said = pause_steps(self._context, live, workloads, suspend=self._suspend)
            self._said += said
            yield from steps

    def _lost(self, rendered: Object, live: Object, why: str) -> Iterator[Step]:
        """A Job that nobody starts again: made anew where that is wished, or where it only prepares."""
        if self._suspend:
            self._said.append(f"paused: Job {live['metadata']['name']} holds nothing and does not run")
            return
        if not self._again and not is_prepare(rendered):
            words = f"{shown(live)} will never start, for Kueue has given it up: {why}"
            own = self._name.partition("/")[2]
            self._refusals.append(
                Refusal(words, f"`allot apply --again {own}` makes it anew; what is done stays done")
            )
            return
        self._refusals += self._of_new(rendered)
        yield Delete(live, Verb.CONFIGURED, is_awaited=True)
        yield Apply(rendered, rendered=rendered)

    def _of_change(self, rendered: Object, live: Object) -> Iterator[Refusal]:
        """What Kueue refuses of the change, told as what it means."""
        was, now = labels(live).get(QUEUE), labels(rendered).get(QUEUE)
        if was is None and now is None:
            return
        for fault in change_faults(live, _after(rendered, live)):
            what = f"{shown(live)}: {fault.field}: {fault.message}"
            if was != now:
                what = (
                    f"{shown(live)} is in queue `{was or '-'}` and never moves; it would be in `{now or '-'}`"
                )
            yield Refusal(what, "let it end, or delete it; what is done is in the bucket and stays done")

    def _others(self, jobs: list[Step]) -> Iterator[Apply]:
        """What is no Job: of claims only those that something names which is to be there."""
        named = {each for step in jobs if isinstance(step, Apply) for each in claims_named(step.value)} | {
            each for value in self._objects if value["kind"] == "Deployment" for each in claims_named(value)
        }
        for value in self._objects:
            live = self._live.get(address(value))
            if value["kind"] == "Job" or (value["kind"] in CLAIMS and address(value) not in named):
                continue
            if live is None and self._suspend:
                continue
            if live is not None and value["kind"] == "ConfigMap":
                self._refusals += content_faults(value, live)
            if value["kind"] == "Deployment" and not _has_pods_of(value, live):
                self._refusals += self._of_new(value)
            yield Apply(as_kept(_without_others(value, live), live), live)


def _has_pods_of(value: Object, live: Object | None) -> bool:
    """Whether a live Deployment's pods are those that are rendered."""
    return live is not None and has_values(value["spec"]["template"], live["spec"]["template"])


def _after(rendered: Object, live: Object) -> Object:
    """A live Job as it would be: with the labels and annotations that are rendered, and those of others."""
    ours = owned_part(live)["metadata"]
    changed = {
        key: {
            name: each
            for name, each in ((live["metadata"].get(key) or {}) | rendered["metadata"].get(key, {})).items()
            if name in rendered["metadata"].get(key, {}) or name not in ours.get(key, {})
        }
        for key in ("labels", "annotations")
    }
    return {**live, "metadata": {**live["metadata"], **changed}}


def _without_others(value: Object, live: Object | None) -> Object:
    """A Deployment without its replicas, where something else moves them."""
    if live is None or value["kind"] != "Deployment":
        return value
    others = set(owners_of(live, "spec", "replicas")) - {"allotment"}
    if not others:
        return value
    return {**value, "spec": {key: each for key, each in value["spec"].items() if key != "replicas"}}
