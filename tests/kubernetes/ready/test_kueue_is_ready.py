"""Whether Kueue runs, was started rightly and takes the teams' work."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.answers import State
from allotment.kubernetes import kinds
from allotment.kubernetes.ready import Webhook
from tests.kubernetes.ready.alterations import (
    FINE,
    NOTE,
    PROBLEM,
    Alter,
    Case,
    chain,
    configured,
    instead,
    lacking,
    setting,
    told,
)
from tests.kubernetes.ready.clusters import (
    manager_of,
    pod_of,
    with_more,
    without,
)


def tried(webhook: Webhook) -> Alter:
    return lambda seen: replace(seen, webhook=webhook)


CASES: list[Case] = [
    (
        "kueue",
        "kueue",
        lambda seen: replace(seen, served=frozenset({"kueue.x-k8s.io/v1beta1"})),
        PROBLEM,
        "serves only kueue.x-k8s.io/v1beta1, and what is rendered is",
    ),
    ("kueue", "kueue", lambda seen: replace(seen, served=frozenset()), PROBLEM, "serves nothing of Kueue"),
    (
        "kueue",
        "kueue",
        chain(lambda seen: replace(seen, served=None), lacking(kinds.CLUSTER_QUEUE, why="not served")),
        PROBLEM,
        "Kueue is not there",
    ),
    (
        "kueue",
        "kueue",
        instead("Deployment", "kueue-controller-manager", manager_of("v0.19.2")),
        NOTE,
        "Kueue 0.19.2 has defects that windows meet which grow",
    ),
    (
        "kueue",
        "kueue",
        instead("Deployment", "kueue-controller-manager", manager_of("v0.20.1")),
        NOTE,
        "this is Kueue 0.20.1, and the platform's file says 0.19.7",
    ),
    (
        "kueue",
        "kueue",
        instead("Deployment", "kueue-controller-manager", manager_of("main")),
        NOTE,
        "cannot be told by its image",
    ),
    (
        "kueue",
        "kueue",
        instead("Deployment", "kueue-controller-manager", manager_of(ready=0)),
        PROBLEM,
        "Kueue's manager does not run: every Job is refused",
    ),
    (
        "kueue",
        "kueue",
        lacking(kinds.DEPLOYMENT),
        NOTE,
        "whether Kueue's manager runs, and in which release, cannot be told: Deployments could not be read",
    ),
    (
        "kueue",
        "kueue",
        chain(tried(Webhook()), lacking(kinds.DEPLOYMENT)),
        NOTE,
        "in which release Kueue is cannot be told: Deployments could not be read in kueue-system",
    ),
    ("kueue", "kueue", tried(Webhook()), FINE, "Kueue's manager answers: it suspends a Job that is tried"),
    (
        "both",
        "kueue",
        tried(Webhook("mjob.kb.io", answers=False)),
        PROBLEM,
        "no Job can be made: the server asks Kueue's manager about each (webhook mjob.kb.io), and it",
    ),
    (
        "kueue",
        "kueue",
        tried(Webhook("jobs.example.org", answers=False)),
        PROBLEM,
        "the server asks another program about each (webhook jobs.example.org), and it does not answer",
    ),
    (
        "kueue",
        "kueue's configuration",
        lambda seen: without(seen, "ConfigMap"),
        NOTE,
        "cannot be told: ConfigMap kueue-manager-config",
    ),
    (
        "kueue",
        "kueue's configuration",
        configured(resources={}),
        PROBLEM,
        "no deviceClassMappings for gpu.nvidia.com, mig.nvidia.com, gpu-a100-80,",
    ),
    (
        "kueue",
        "kueue's configuration",
        configured(resources={"deviceClassMappings": [{"name": "cards", "deviceClassNames": ["gpu-l4"]}]}),
        PROBLEM,
        "class gpu-l4 is counted as `cards`, and the queues' quota is of `gpus`",
    ),
    (
        "kueue",
        "kueue's configuration",
        configured(integrations={"frameworks": ["pod", "deployment"]}),
        PROBLEM,
        "leaves out batch/job: campaigns would run past every quota",
    ),
    (
        "kueue",
        "kueue's configuration",
        configured(integrations={"frameworks": ["batch/job"]}),
        NOTE,
        "leaves out pod, deployment: fleets",
    ),
    (
        "kueue",
        "kueue's configuration",
        configured(featureGates={"ElasticJobsViaWorkloadSlices": False}),
        PROBLEM,
        "the gate ElasticJobsViaWorkloadSlices is switched off: windows do not grow",
    ),
    (
        "kueue",
        "kueue's configuration",
        configured(featureGates={}),
        NOTE,
        "SchedulingEquivalenceHashing is on (by default)",
    ),
    (
        "kueue",
        "kueue's configuration",
        configured(waitForPodsReady={"timeout": "5m"}),
        NOTE,
        "waitForPodsReady.timeout is 5m: what is not ready then is evicted; large",
    ),
    (
        "both",
        "kueue's configuration",
        configured(waitForPodsReady={}),
        PROBLEM,
        "waitForPodsReady.timeout is 30m (by default): what is not ready then is",
    ),
    (
        "both",
        "kueue's configuration",
        configured(waitForPodsReady={"timeout": "soon"}),
        PROBLEM,
        "`soon` is not a duration",
    ),
    (
        "kueue",
        "kueue's configuration",
        configured(waitForPodsReady={"timeout": "24h0m0s", "blockAdmission": True}),
        NOTE,
        "blockAdmission holds everybody back",
    ),
    (
        "kueue",
        "kueue's configuration",
        setting("ConfigMap", "kueue-manager-config", "a: [", "data", "controller_manager_config.yaml"),
        PROBLEM,
        "of ConfigMap kueue-manager-config cannot be read",
    ),
    (
        "kueue",
        "kueue's configuration",
        chain(
            setting(
                "ConfigMap",
                "kueue-manager-config",
                [{"time": "2026-11-02T00:00:00Z"}],
                "metadata",
                "managedFields",
            ),
            lambda seen: with_more(seen, pod_of("kueue-system", "kueue-controller-manager-1")),
        ),
        PROBLEM,
        "it was changed after Kueue's manager had started",
    ),
    (
        "kueue",
        "active queues",
        setting(
            "ClusterQueue",
            "archive",
            [{"type": "Active", "status": "False", "reason": "FlavorNotFound", "message": "no flavor"}],
            "status",
            "conditions",
        ),
        PROBLEM,
        "ClusterQueue archive takes no work: FlavorNotFound: no flavor (it names a",
    ),
    (
        "kueue",
        "active queues",
        setting("LocalQueue", "archive", [], "status", "conditions"),
        PROBLEM,
        "LocalQueue archive has no condition `Active`: Kueue has not looked at it",
    ),
    (
        "kueue",
        "active queues",
        lambda seen: without(seen, "ResourceFlavor"),
        PROBLEM,
        "ClusterQueue archive names the flavor allotment, and there is none",
    ),
]


@pytest.mark.parametrize(("scheduler", "check", "alter", "state", "words"), CASES)
def test_it_is_told(scheduler: str, check: str, alter: Alter, state: State, words: str) -> None:
    told(scheduler, check, alter, state, words)
