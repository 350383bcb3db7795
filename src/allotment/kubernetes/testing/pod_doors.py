"""The doors of a Pod that a scheduler and a drain come through: binding and eviction.

With these and the status a test plays the cluster around a server in which nothing runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from allotment.kubernetes.testing.answers import Answer, RequestError, not_found
from allotment.kubernetes.testing.asked import DeleteOptions, Request
from allotment.kubernetes.testing.bodies import Place
from allotment.kubernetes.testing.deletes import Deleter
from allotment.kubernetes.testing.store import Store

Object = dict[str, Any]
DOORS: Final = frozenset({"binding", "eviction"})
_DONE: Final = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


@dataclass(frozen=True)
class PodDoors:
    """What binds and evicts; ``now`` gives the time."""

    store: Store
    deleter: Deleter
    now: Callable[[], str]

    def bind(self, place: Place, request: Request) -> Answer:
        """Give a Pod its node, once."""
        pod = self._present(place)
        node = pod["spec"].get("nodeName")
        if node:
            about = {"name": place.name, "kind": "pods/binding"}
            text = (
                f'Operation cannot be fulfilled on pods/binding "{place.name}": pod {place.name} is already '
            )
            raise RequestError(409, "Conflict", f'{text}assigned to node "{node}"', about)
        target = json.loads(request.body)["target"]["name"]
        bound = {**pod, "spec": {**pod["spec"], "nodeName": target}}
        self.store.put(place.key, self._with_condition(bound, {"type": "PodScheduled", "status": "True"}))
        return Answer(201, dict(_DONE))

    def evict(self, place: Place, request: Request) -> Answer:
        """Delete a Pod, saying that it was disrupted."""
        pod = self._present(place)
        options = json.loads(request.body).get("deleteOptions") or {}
        told = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting",
        }
        self.store.put(place.key, self._with_condition(pod, told))
        self.deleter.delete(place, DeleteOptions(grace=options.get("gracePeriodSeconds")))
        return Answer(201, dict(_DONE))

    def _present(self, place: Place) -> Object:
        found = self.store.get(place.key)
        if found is None:
            raise not_found(place.resource, place.name)
        return found

    def _with_condition(self, pod: Object, condition: Object) -> Object:
        others = [each for each in pod["status"].get("conditions") or () if each["type"] != condition["type"]]
        told = {**condition, "lastProbeTime": None, "lastTransitionTime": self.now()}
        return {**pod, "status": {**pod["status"], "conditions": [*others, told]}}
