"""What a file of a cluster can tell: a kind that is not in it, or of another namespace, is not missing."""

from __future__ import annotations

from dataclasses import replace

from allotment.answers import State, examine
from allotment.kubernetes import kinds
from allotment.kubernetes.cluster import Missing
from allotment.kubernetes.ready import checks
from allotment.kubernetes.ready.filed import of_snapshot
from tests.kubernetes.ready.clusters import answers, said, seen_of, without


def test_a_whole_file_tells_what_is_missing() -> None:
    seen = without(seen_of("kueue"), "LocalQueue")
    filed = of_snapshot(seen.snapshot, seen.platform, seen.teams)
    assert "1 LocalQueue is not there: archive/archive" in said(answers(filed, "queues"))
    assert filed.rights is None
    assert answers(filed, "rights") == answers(filed, "clock") == []


def test_a_file_of_another_namespace_does_not() -> None:
    seen = without(seen_of("kueue"), "LocalQueue")
    partly = (Missing(kinds.LOCAL_QUEUE, "forbidden outside of namespace laboratory"),)
    filed = of_snapshot(replace(seen.snapshot, partly=partly), seen.platform, seen.teams)
    assert "LocalQueue" not in said(answers(filed, "queues"))
    assert "localqueues.kueue.x-k8s.io" in said(answers(filed, "not looked at"))


def test_a_file_that_somebody_has_put_together_does_not_either() -> None:
    seen = seen_of("both")
    kept = tuple(each for each in seen.snapshot.objects if each["kind"] in {"Node", "ResourceSlice"})
    filed = of_snapshot(replace(seen.snapshot, objects=kept), seen.platform, seen.teams)
    found = list(examine(checks(filed)))
    assert [each for each in found if each.state is State.PROBLEM] == []
    assert "fine gpu.nvidia.com publishes 4 devices of 2 nodes ()" in said(found)
