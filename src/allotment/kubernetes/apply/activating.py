"""Pausing and resuming a Job at Kueue: every Workload of it that has not finished, until all are as wished.

A Job that is new has none for a moment, and one that grows has a second: so they are looked at again until
nothing is left to change. While a Job has none it is suspended, and none of its pods is started.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from allotment.errors import EXIT_REFUSED
from allotment.kubernetes.apply.fields import PAUSE, owners_of
from allotment.kubernetes.apply.pausing import ACTIVE, is_active, slices_of, workloads_of
from allotment.kubernetes.apply.steps import Activate
from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.kinds import WORKLOAD, Object

LOOKS: Final = 20
SECONDS: Final = 0.5


def activate(client: Client, step: Activate, sleep: Callable[[float], None]) -> None:
    """Do it; ApiError where Kueue has made no Workload in time."""
    namespace = step.job["metadata"]["namespace"]
    own: list[Object] = []
    for _ in range(LOOKS):
        own = list(workloads_of(step.job, client.listed(WORKLOAD, namespace)))
        slices = list(slices_of(step.job, own))
        wrong = [each for each in slices if is_active(each) != step.active]
        if step.active:
            wrong = [each for each in wrong if PAUSE in owners_of(each, *ACTIVE)]
        if not wrong and (slices or step.active):
            return
        for each in wrong:
            change = {"metadata": {"uid": each["metadata"]["uid"]}, "spec": {"active": step.active}}
            client.patch(WORKLOAD, each["metadata"]["name"], namespace, change, manager=PAUSE)
        if not wrong:
            sleep(SECONDS)
    if own:
        raise ApiError(
            f"Kueue has finished every Workload of {step.name}, so there is nothing to pause, and none "
            "of its pods starts",
            where=client.name,
            remedy=f"delete it (`kubectl delete -n {namespace} {step.name}`); --again makes it anew",
            exit_code=EXIT_REFUSED,
        )
    raise ApiError(
        f"Kueue has made no Workload of {step.name} within {LOOKS * SECONDS:.0f} s, so it cannot be paused; "
        "none of its pods starts as long as there is none",
        where=client.name,
        remedy="see whether Kueue runs (`kubectl get pods -n kueue-system`), and apply again",
        exit_code=EXIT_REFUSED,
    )
