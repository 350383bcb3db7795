"""A platform on a real server: what an administrator does before a team can use a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.kinds import POD, Kind, Object, kind_of
from tests.controlplane import kueue_module
from tests.controlplane.plane import Plane
from tests.controlplane.processes import until

MANAGER: Final = "administrator"
FOREIGN: Final = ("kai.scheduler/", "scheduling.run.ai/")
"""Groups whose definitions of kinds are in no published module."""
DEFINITION: Final = Kind(
    "apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", is_namespaced=False
)
RESTRICTED: Final[Mapping[str, Any]] = {
    "runAsNonRoot": True,
    "runAsUser": 1000,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def pod(namespace: str, name: str = "probe", image: str = "example.org/x:latest") -> dict[str, Any]:
    """A restricted pod."""
    container = {
        "name": "main",
        "image": image,
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"securityContext": dict(RESTRICTED), "containers": [container]},
    }


def known(objects: Iterable[Object]) -> tuple[Object, ...]:
    """Those of kinds whose definitions can be had."""
    return tuple(each for each in objects if not str(each["apiVersion"]).startswith(FOREIGN))


def install(client: Client, objects: Iterable[Object], manager: str = MANAGER) -> tuple[Object, ...]:
    """The platform's objects, as far as they are known here, with its admission policies in force."""
    mine = known(objects)
    for each in mine:
        client.apply(each, manager=manager, force=True)
    for namespace in _namespaces(mine):
        until(partial(_refused, client, namespace), "the admission policies to be in force")
    return mine


@contextmanager
def installed(client: Client, objects: Iterable[Object]) -> Iterator[None]:
    """The platform's objects, with its admission policies in force until the block ends."""
    mine = install(client, objects)
    try:
        yield
    finally:
        for each in reversed(mine):
            if each["kind"] != "Namespace":
                client.delete(kind_of(each), each["metadata"]["name"], each["metadata"].get("namespace"))
        for namespace in _namespaces(mine):
            until(partial(_let_in, client, namespace), "the policies to be gone")


def define_kueue(plane: Plane, definitions: Iterable[Object] | None = None) -> None:
    """The kinds of Kueue, as they are published or otherwise."""
    client, names = plane.client(), set()
    for each in kueue_module.definitions() if definitions is None else definitions:
        plane.put(DEFINITION, each)
        names.add(each["metadata"]["name"])
    until(lambda: names <= set(_established(client)), "the kinds of Kueue to be served")


def _namespaces(objects: Iterable[Object]) -> list[str]:
    return [each["metadata"]["name"] for each in objects if each["kind"] == "Namespace"]


def _established(client: Client) -> Iterator[str]:
    for each in client.listed(DEFINITION):
        told = {one["type"]: one["status"] for one in each.get("status", {}).get("conditions") or ()}
        if told.get("Established") == "True":
            yield each["metadata"]["name"]


def _let_in(client: Client, namespace: str) -> bool:
    return not _refused(client, namespace)


def _refused(client: Client, namespace: str) -> bool:
    try:
        client.create(pod(namespace), manager=MANAGER, dry_run=True)
    except ApiError as error:
        return POD.plural in error.message and "ValidatingAdmissionPolicy" in error.message
    return False
