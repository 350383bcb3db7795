"""Every example for every scheduler: as stored, the same twice, in one order, and valid to the letter."""

from __future__ import annotations

import json
from dataclasses import replace

import kubernetes_validate
import pytest
import yaml

from allotment.devices.validation import Server, validate
from allotment.kubernetes.render import to_stream, to_yaml
from allotment.kubernetes.render.rendered import KINDS
from tests.kubernetes.stored import VERSIONS, Case, cases

CASES = [
    pytest.param(case, id=f"{case.example}-{case.scheduler}-{'platform' if case.of_platform else 'team'}")
    for case in cases()
]
FOREIGN = ("kueue.x-k8s.io/", "kai.scheduler/", "scheduling.run.ai/")


@pytest.mark.parametrize("case", CASES)
def test_it_is_as_stored(case: Case) -> None:
    stored = case.path.read_text(encoding="utf-8")
    assert to_stream(case.rendered()) == stored, "python -m tests.kubernetes.stored writes what is new"


@pytest.mark.parametrize("case", CASES)
def test_the_stream_is_the_objects_and_comments(case: Case) -> None:
    rendered = case.rendered()
    read = [value for value in yaml.safe_load_all(to_stream(rendered)) if value is not None]
    assert read == [dict(value) for value in rendered.objects]
    assert to_yaml(case.rendered().objects) == to_yaml(rendered.objects)


@pytest.mark.parametrize("case", CASES)
def test_objects_are_in_the_order_in_which_they_can_be_made_and_each_is_there_once(case: Case) -> None:
    objects = case.rendered().objects
    places = [(KINDS.index(value["kind"]), value["metadata"].get("namespace", "")) for value in objects]
    assert places == sorted(places)
    names = [(value["apiVersion"], value["kind"], *value["metadata"].values()) for value in objects]
    assert len({str(name[:4]) for name in names}) == len(objects)
    assert all(
        value["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "allotment" for value in objects
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_takes_every_object(version: str) -> None:
    """Of every case for the version that the examples name, and of those with gang objects for all."""
    seen = set()
    for case in cases():
        if version != "1.36" and (case.scheduler, case.example) != ("default", "cluster"):
            continue
        for value in replace(case, version=version).rendered().objects:
            text = json.dumps(value)
            if text in seen or str(value["apiVersion"]).startswith(FOREIGN):
                continue
            seen.add(text)
            kubernetes_validate.validate(dict(value), version, strict=True)


@pytest.mark.parametrize("case", CASES)
def test_our_own_reading_of_the_rules_takes_claims_and_classes(case: Case) -> None:
    for value in case.rendered().objects:
        if str(value["apiVersion"]).startswith("resource.k8s.io/"):
            verdict = validate(value["kind"], value, server=Server.of("1.36"))
            assert (verdict.problems, verdict.dropped) == ((), ())
