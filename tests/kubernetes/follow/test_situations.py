"""Recorded situations: the one sentence names the cause, and says what to do."""

from __future__ import annotations

import pytest

from allotment.kubernetes.follow import State
from tests.kubernetes.follow.told import NAMES, told

# situation: state, kind of the root, words of the sentence, words of what to do
TABLE = {
    "bad-class": ("never", "class-missing", ["device class `gpu-a100-80` is not in"], ["another card"]),
    "class-not-mapped": ("never", "class-not-mapped", ["`gpu-a100-80`"], ["deviceClassMappings", "restarts"]),
    "deadline": ("failed", "volumes-failed", ["ran longer than a pod", "R0001205"], ["allot retry"]),
    "device-taint": ("waiting", "no-devices-free", ["1 pod of it finds no node"], ["allot why"]),
    "devices-not-free-yet": (
        "waiting",
        "devices-not-free-yet",
        ["quota is granted", "4 pods of others that are stopping still have 4 devices"],
        ["grace period"],
    ),
    "endless-reclaims": (
        "waiting",
        "reclaimed-often",
        ["had borrowed quota", "took it back", "7 times", "all 6 of its pods"],
        ["stay within it"],
    ),
    "finished": ("finished", "finished", ["all 10 volumes are done"], []),
    "fragmentation": (
        "waiting",
        "no-devices-free",
        ["2 pods of it find no node", "none of 3 has"],
        ["allot why"],
    ),
    "gang": ("waiting", "gang", ["4 of its pods have to start together", "room for 3"], ["smaller `min`"]),
    "growth-never-fits": (
        "running",
        "growth-never-fits",
        ["from 2 to 8", "can ever have", "6 at most"],
        ["`window: 6` or less"],
    ),
    "growth-waits": (
        "running",
        "growth-waits",
        ["2 more wait", "quota of `archive` is used up"],
        ["nothing"],
    ),
    "image": ("waiting", "image", ["image cannot be pulled", "registry does not have it"], ["push it"]),
    "kai-over-limit": ("waiting", "over-limit", ["`archive` is at its limit", "11 of 12"], ["nothing"]),
    "kai-reclaim": ("waiting", "waiting-for-reclaim", ["on node-a", "have stopped"], ["nothing"]),
    "lost-node": ("running", "lost-node", ["node-b does not answer", "R0001203"], ["remove the node"]),
    "never-fits": (
        "never",
        "never-fits",
        ["more at once than the queue `archive` can ever have", "8 `gpus`", "at most 6"],
        ["`window: 6`", "more quota"],
    ),
    "no-driver": (
        "never",
        "no-driver",
        ["no node offers devices of the driver `gpu.nvidia.com`"],
        ["installs"],
    ),
    "no-kueue": ("never", "no-kueue", ["this cluster has no Kueue"], ["installs Kueue"]),
    "no-local-queue": ("waiting", "no-local-queue", ["no LocalQueue `archive`"], ["creates it"]),
    "no-runner": (
        "waiting",
        "no-runner",
        ["2 volumes failed for good", "runner cannot be started"],
        ["docs/"],
    ),
    "out-of-memory": (
        "running",
        "out-of-memory",
        ["is tried again", "more memory than it may"],
        ["`memory`"],
    ),
    "paused": ("paused", "paused", ["somebody has paused it"], ["suspend: false"]),
    "prepare-devices": ("waiting", "prepare-devices", ["device driver on node-a"], ["look at the driver"]),
    "prepare-failed": ("waiting", "prepare-failed", ["recipe could not be prepared"], ["allot logs letters"]),
    "queue-stopped": ("paused", "queue-stopped", ["the queue `archive` is stopped"], ["stopPolicy: None"]),
    "quota": (
        "waiting",
        "waiting-for-quota",
        ["quota of `archive` is used up", "2 more `gpus`", "number 2 of 2"],
        ["starts by itself", "narrower"],
    ),
    "reclaimed": (
        "waiting",
        "reclaimed",
        ["took it back", "3 pods are still stopping", "1 more `gpus` is needed"],
        ["stay done"],
    ),
    "running": ("running", None, ["it runs 2 volumes at once"], []),
    "secret-missing": (
        "waiting",
        "secret-missing",
        ["no secret `archive-bucket`"],
        ["kubectl create secret"],
    ),
    "selector-key": ("never", "selector-fails", ["`memroy`", "off every node"], ["orValue"]),
    "taken-for-another": (
        "running",
        "taken-for-another",
        ["as many pods (4) as job-registers-55cd3", "takes both for one"],
        ["another size"],
    ),
    "template-missing": ("waiting", "template-missing", ["claim template", "is gone"], ["allot apply"]),
    "topology": ("running", "topology", ["together in one `example.org/rack`"], ["prefer"]),
    "volumes-failed": (
        "running",
        "permanent",
        ["2 volumes failed for good", "exit code 13", "R0001202, R0001204"],
        ["allot logs R0001202 --cluster"],
    ),
    "waiting-for-reclaim": (
        "waiting",
        "waiting-for-reclaim",
        ["others have borrowed", "2 `gpus`"],
        ["nothing"],
    ),
    "webhook-down": (
        "waiting",
        "webhook-down",
        ["no pod can be created", "Kueue's manager"],
        ["ask whoever"],
    ),
}


def test_every_situation_is_held_to_something() -> None:
    assert set(TABLE) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_sentence_names_the_cause_and_the_remedy_helps(name: str) -> None:
    state, kind, words, remedies = TABLE[name]
    found = told(name)
    root = found.root
    assert found.state is State(state)
    assert (None if root is None else root.kind) == kind
    for each in words:
        assert each in found.sentence
    for each in remedies:
        assert root is not None
        assert each in root.remedy


@pytest.mark.parametrize("name", NAMES)
def test_every_cause_has_evidence_in_an_object_and_a_field(name: str) -> None:
    for cause in told(name).causes:
        assert cause.evidence, cause.kind
        for each in cause.evidence:
            assert each.about
            assert each.field
            assert each.text.strip()


@pytest.mark.parametrize("name", NAMES)
def test_a_sentence_is_one_line_that_a_person_can_read(name: str) -> None:
    sentence = told(name).sentence
    assert "\n" not in sentence
    assert len(sentence) < 320
    assert sentence.startswith(("it ", "nothing of it runs now"))
    assert "  " not in sentence
    assert "None" not in sentence
