"""A namespace that is deleted goes with what is in it, and takes nothing more meanwhile."""

from __future__ import annotations

import pytest

from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.kinds import CONFIG_MAP, NAMESPACE, SERVICE
from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.transport import FakeTransport

HELD = ["example.org/held"]


def config_map(name: str, **metadata: object) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "books", **metadata},
    }


@pytest.fixture
def client() -> Client:
    found = Client(FakeTransport(FakeApiServer()))
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "books"}}
    found.create(namespace, manager="admin")
    return found


def test_it_goes_with_all_that_is_in_it(client: Client) -> None:
    client.create(config_map("a"), manager="me")
    client.delete(NAMESPACE, "books")
    assert client.get(NAMESPACE, "books") is None
    assert client.listed(CONFIG_MAP) == ()


def test_it_is_there_while_anything_is_held_in_it(client: Client) -> None:
    client.create(config_map("a"), manager="me")
    client.create(config_map("held", finalizers=HELD), manager="me")
    client.delete(NAMESPACE, "books")
    found = client.get(NAMESPACE, "books")
    assert found is not None
    assert found["status"]["phase"] == "Terminating"
    assert [each["metadata"]["name"] for each in client.listed(CONFIG_MAP)] == ["held"]
    for send in (client.create, client.apply):
        with pytest.raises(ApiError, match="its namespace is being deleted"):
            send(config_map("late"), manager="me")
    client.patch(NAMESPACE, "books", None, {"metadata": {"labels": {"a": "b"}}}, manager="me")
    client.patch(CONFIG_MAP, "held", "books", {"metadata": {"finalizers": None}}, manager="me")
    client.delete(NAMESPACE, "books")
    assert client.get(NAMESPACE, "books") is None


def test_its_name_is_a_label_that_nobody_takes_away(client: Client) -> None:
    client.patch(NAMESPACE, "books", None, {"metadata": {"labels": None}}, manager="me")
    found = client.get(NAMESPACE, "books")
    assert found is not None
    assert found["metadata"]["labels"] == {"kubernetes.io/metadata.name": "books"}


@pytest.mark.parametrize("address", ["None", None])
def test_a_service_keeps_the_addresses_that_it_was_given(client: Client, address: str | None) -> None:
    spec = {"ports": [{"port": 80}], **({"clusterIP": address} if address else {})}
    value = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "a", "namespace": "books"},
        "spec": spec,
    }
    first = client.apply(value, manager="me")
    given = first["spec"]["clusterIP"]
    assert given == address if address else given.startswith("10.")
    assert first["spec"]["clusterIPs"] == [given]
    assert client.apply(value, manager="me") == first
    replaced = client.replace({**value, "metadata": first["metadata"]}, manager="me")
    assert replaced["spec"] == first["spec"]
    found = client.get(SERVICE, "a", "books")
    assert found is not None
    assert found["spec"]["ipFamilies"] == ["IPv4"]
