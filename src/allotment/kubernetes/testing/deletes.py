"""Deletions: preconditions, grace, finalizers and what becomes of dependents.

A server deletes at once what nothing holds. A finalizer keeps the object with its ``deletionTimestamp``; a
Pod on a node stays for its grace period, a namespace as long as anything is in it. Dependents are the garbage
collector's and what is in a namespace is its controller's, which here act at once, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from allotment.kubernetes.testing.answers import Answer, RequestError, details, not_found, success
from allotment.kubernetes.testing.asked import DeleteOptions
from allotment.kubernetes.testing.bodies import Place
from allotment.kubernetes.testing.resources import Resource
from allotment.kubernetes.testing.store import Key, Store

Object = dict[str, Any]
_JOB_WARNING: Final = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove "
    "them or set propagationPolicy=Orphan to suppress this warning"
)
_HELD: Final = {"Orphan": "orphan", "Foreground": "foregroundDeletion"}


@dataclass(frozen=True)
class Deleter:
    """What deletions go by; ``later`` gives the time in so many seconds."""

    store: Store
    later: Callable[[int], str]
    collects: bool = True

    def delete(self, place: Place, options: DeleteOptions) -> Answer:
        """DELETE of one object."""
        warnings = [_JOB_WARNING] if place.resource.kind == "Job" and not options.policy else []
        old = self.store.get(place.key)
        if old is None:
            refused = not_found(place.resource, place.name)
            answer = refused.answer()
            answer.warnings = warnings
            return answer
        _check(place, old, options)
        policy = options.policy or ("Orphan" if place.resource.kind == "Job" else "Background")
        if place.resource.key == ("", "namespaces"):
            answer = self._delete_namespace(place, old, options)
        elif place.resource.kind == "Pod" and not place.resource.group:
            answer = self._delete_pod(place, old, options)
        else:
            answer = self._delete_object(place, old, policy, options)
        answer.warnings = warnings
        if self.collects and not options.is_dry_run:
            self._collect(old, policy)
        return answer

    def _delete_namespace(self, place: Place, old: Object, options: DeleteOptions) -> Answer:
        """It is Terminating until all that is in it is gone."""
        if "deletionTimestamp" not in old["metadata"]:
            metadata = {**old["metadata"], "deletionTimestamp": self.later(0)}
            status = {**(old.get("status") or {}), "phase": "Terminating"}
            old = {**old, "metadata": metadata, "status": status}
            old = old if options.is_dry_run else self.store.put(place.key, old)
        if options.is_dry_run or not self.collects:
            return Answer(200, old)
        for key, value in self.store.everything():
            if key.namespace == place.name:
                self._remove(key, value)
        if all(key.namespace != place.name for key, _ in self.store.everything()):
            self.store.remove(place.key)
        return Answer(200, old)

    def _delete_object(self, place: Place, old: Object, policy: str, options: DeleteOptions) -> Answer:
        resource, metadata = place.resource, old["metadata"]
        held = _HELD.get(policy, "")
        finalizers = list(metadata.get("finalizers") or ())
        if held and held not in finalizers and "deletionTimestamp" not in metadata:
            finalizers.append(held)
        if not finalizers:
            last = old if options.is_dry_run else self.store.remove(place.key)
            if resource.answers_deleted:
                return Answer(200, last)
            return Answer(200, success(details(resource, place.name, uid=metadata["uid"])))
        if "deletionTimestamp" in metadata:
            return Answer(200, old)
        going = _going(old, self.later(0), 0, finalizers)
        kept = going if options.is_dry_run else self.store.put(place.key, going)
        if self.collects and finalizers == [held] and not options.is_dry_run:
            self.store.remove(place.key)
        return Answer(200, kept)

    def _delete_pod(self, place: Place, old: Object, options: DeleteOptions) -> Answer:
        metadata, spec = old["metadata"], old["spec"]
        grace = spec.get("terminationGracePeriodSeconds", 30) if options.grace is None else options.grace
        if not spec.get("nodeName") or (old.get("status") or {}).get("phase") in {"Succeeded", "Failed"}:
            grace = 0
        if "deletionTimestamp" in metadata and grace and grace >= metadata["deletionGracePeriodSeconds"]:
            return Answer(200, old)
        finalizers = metadata.get("finalizers") or []
        going = _going(old, self.later(grace), grace, finalizers)
        if options.is_dry_run:
            return Answer(200, going)
        kept = self.store.put(place.key, going)
        return Answer(200, kept if grace or finalizers else self.store.remove(place.key))

    def _collect(self, owner: Object, policy: str) -> None:
        """What the garbage collector does with the dependents."""
        uid = owner["metadata"]["uid"]
        for key, value in self.store.everything():
            references = value["metadata"].get("ownerReferences") or ()
            if all(each.get("uid") != uid for each in references):
                continue
            if policy == "Orphan":
                self._put_without(key, value, uid)
            elif len(references) == 1:
                self._remove(key, value)
            else:
                self._put_without(key, value, uid)

    def _put_without(self, key: Key, value: Object, uid: str) -> None:
        kept = [each for each in value["metadata"]["ownerReferences"] if each.get("uid") != uid]
        metadata = {name: each for name, each in value["metadata"].items() if name != "ownerReferences"}
        self.store.put(
            key, {**value, "metadata": {**metadata, "ownerReferences": kept} if kept else metadata}
        )

    def _remove(self, key: Key, value: Object) -> None:
        if value["metadata"].get("finalizers"):
            if "deletionTimestamp" not in value["metadata"]:
                self.store.put(key, _going(value, self.later(0), 0, value["metadata"]["finalizers"]))
            return
        self.store.remove(key)
        self._collect(value, "Background")


def _going(old: Object, time: str, grace: int, finalizers: list[str]) -> Object:
    metadata = {**old["metadata"], "deletionTimestamp": time, "deletionGracePeriodSeconds": grace}
    if finalizers:
        metadata["finalizers"] = finalizers
    if metadata.get("generation") and "deletionTimestamp" not in old["metadata"]:
        metadata["generation"] += 1
    return {**old, "metadata": metadata}


def _check(place: Place, old: Object, options: DeleteOptions) -> None:
    metadata = old["metadata"]
    if options.uid and options.uid != metadata["uid"]:
        why = (
            f"the UID in the precondition ({options.uid}) does not match the UID in "
            f"record ({metadata['uid']})"
            ". The object might have been deleted and then recreated"
        )
        raise _unmet(place.resource, place.name, why)
    if options.version and options.version != metadata["resourceVersion"]:
        why = (
            f"the ResourceVersion in the precondition ({options.version}) does not match the ResourceVersion "
            f"in record ({metadata['resourceVersion']}). The object might have been modified"
        )
        raise _unmet(place.resource, place.name, why)


def _unmet(resource: Resource, name: str, why: str) -> RequestError:
    about = {
        key: each
        for key, each in (("name", name), ("group", resource.group), ("kind", resource.kind))
        if each
    }
    text = f'Operation cannot be fulfilled on {resource.kind_shown} "{name}": {why}'
    return RequestError(409, "Conflict", text, about)
