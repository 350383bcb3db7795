"""What `--operate IMAGE` adds to the platform's objects, and that `deploy/` is made of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import kubernetes_validate
import pytest
import yaml

from allotment.errors import UsageError
from allotment.kubernetes.render import to_stream
from allotment.kubernetes.render.platform import render_platform
from allotment.platform.file import scan_platform
from allotment.platform.model import Platform
from tests.kubernetes.stored import CONTROLLER as IMAGE
from tests.kubernetes.stored import DEPLOY, deployed


@pytest.fixture(scope="module")
def platform() -> Platform:
    found, findings = scan_platform(DEPLOY / "platform.yaml", "platform.yaml")
    assert not findings
    return found


def added(platform: Platform) -> list[Any]:
    without = render_platform(platform).objects
    return [each for each in render_platform(platform, controller=IMAGE).objects if each not in without]


def test_deploy_is_made_of_the_platform_beside_it() -> None:
    assert (DEPLOY / "objects.yaml").read_text() == to_stream(deployed()), "python -m tests.kubernetes.stored"


def test_what_kustomize_names_is_there() -> None:
    told = yaml.safe_load((DEPLOY / "kustomization.yaml").read_text())
    assert [(DEPLOY / name).is_file() for name in told["resources"]] == [True]
    (image,) = told["images"]
    assert f"{image['name']}@{image['digest']}" == IMAGE


@pytest.mark.parametrize("version", ["1.35", "1.36"])
def test_every_object_is_valid(platform: Platform, version: str) -> None:
    for each in added(platform):
        kubernetes_validate.validate(dict(each), version, strict=True)


def test_it_may_patch_jobs_of_teams_and_write_nothing_else(platform: Platform) -> None:
    verbs = {
        (each["kind"], each["metadata"].get("namespace"), resource, verb)
        for each in added(platform)
        for rule in each.get("rules") or ()
        for resource in rule["resources"]
        for verb in rule["verbs"]
        if verb not in {"get", "list", "watch"}
    }
    assert verbs == {
        ("Role", "archive", "jobs", "patch"),
        ("Role", "laboratory", "jobs", "patch"),
        ("Role", "allotment-system", "leases", "create"),
        ("Role", "allotment-system", "leases", "update"),
    }
    read = {
        resource
        for each in added(platform)
        for rule in each.get("rules") or ()
        for resource in rule["resources"]
    }
    assert not read & {"secrets", "configmaps"}


def test_its_pod_is_restricted_and_its_root_read_only(platform: Platform) -> None:
    (deployment,) = (each for each in added(platform) if each["kind"] == "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert container["image"] == IMAGE
    assert "--grow" in container["args"]


def test_under_an_older_kueue_it_lets_nothing_grow_and_says_so(platform: Platform) -> None:
    old = replace(platform, versions=replace(platform.versions, kueue="0.17.0"))
    rendered = render_platform(old, controller=IMAGE)
    (deployment,) = (each for each in rendered.objects if each["kind"] == "Deployment")
    assert "--no-grow" in deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    assert "lets nothing grow" in "\n".join(map(str, rendered.notes))


@pytest.mark.parametrize(
    ("scheduler", "image", "words"),
    [("kueue", "allotment:latest", "digest"), ("kai", IMAGE, "KAI moves windows itself")],
)
def test_what_is_refused(platform: Platform, scheduler: str, image: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        render_platform(platform, scheduler, controller=image)
