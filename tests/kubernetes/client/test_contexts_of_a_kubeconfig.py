"""Which cluster and who: contexts, several files, their paths, a pod's own account, what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from allotment.errors import AllotmentError
from allotment.kubernetes.client import kubeconfig
from allotment.kubernetes.client.kubeconfig import access, in_cluster
from allotment.kubernetes.client.proxies import goes_straight

BLUE = {"name": "blue", "cluster": {"server": "https://blue.example.org"}}
GREEN = {
    "name": "green",
    "cluster": {"server": "https://green.example.org", "certificate-authority": "ca.crt"},
}
ADA = {"name": "ada", "user": {"token": "t"}}


def context(name: str, cluster: str = "blue", **more: str) -> dict[str, Any]:
    return {"name": name, "context": {"cluster": cluster, **more}}


def written(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else yaml.safe_dump(value), encoding="utf-8")
    return path


WHOLE = {
    "clusters": [BLUE, GREEN],
    "contexts": [context("one", user="ada"), context("two", "green", namespace="team-a")],
    "users": [ADA],
    "current-context": "one",
}


@pytest.mark.parametrize(
    ("named", "meant"),
    [
        (None, ("one", "https://blue.example.org", {"token": "t"}, "default")),
        ("two", ("two", "https://green.example.org", {}, "team-a")),
    ],
)
def test_a_context_is_the_current_or_the_named_one(tmp_path: Path, named: str | None, meant: Any) -> None:
    written(tmp_path / ".kube" / "config", WHOLE)
    found = access(named, {}, tmp_path)
    assert (found.name, found.server, found.user, found.namespace) == meant


def test_several_files_are_one_and_the_first_counts(tmp_path: Path) -> None:
    first = written(tmp_path / "a" / "config", {"contexts": [context("one", "green")], "users": None})
    second = written(tmp_path / "b" / "config", {**WHOLE, "current-context": "two"})
    environ = {"KUBECONFIG": f"{first}:{tmp_path / 'none'}::{second}"}
    assert access("one", environ, tmp_path).server == "https://green.example.org"
    assert access(None, environ, tmp_path).name == "two"


def test_a_path_is_relative_to_its_own_file(tmp_path: Path) -> None:
    user = {"client-certificate": "c.crt", "client-key": "/k", "exec": {"command": "bin/login"}}
    plain = {"exec": {"command": "login"}}
    told = {**WHOLE, "users": [{"name": "ada", "user": user}, {"name": "eve", "user": plain}]}
    told["contexts"] = [context("one", "green", user="ada"), context("two", user="eve")]
    environ = {"KUBECONFIG": str(written(tmp_path / "a" / "config", told))}
    found = access(None, environ, tmp_path)
    folder = tmp_path / "a"
    assert found.cluster["certificate-authority"] == str(folder / "ca.crt")
    assert (found.user["client-certificate"], found.user["client-key"]) == (str(folder / "c.crt"), "/k")
    assert found.user["exec"]["command"] == str(folder / "bin" / "login")
    assert access("two", environ, tmp_path).user == plain


@pytest.mark.parametrize(
    ("told", "named", "said"),
    [
        (WHOLE, "ones", "there is no context `ones`\n  did you mean `one`?"),
        ({**WHOLE, "current-context": ""}, None, "no context is the current one"),
        ({**WHOLE, "users": []}, None, "names a user `ada`, which is not there"),
        ({**WHOLE, "clusters": [GREEN]}, None, "names a cluster `blue`, which is not there"),
        ({**WHOLE, "clusters": [{"name": "blue", "cluster": {}}]}, None, "`blue` has no `server`"),
        ({**WHOLE, "clusters": "x"}, None, "`clusters` is no list"),
        ({**WHOLE, "users": [{"user": {}}]}, None, "an entry of `users` is no `name` with a `user`"),
        ({**WHOLE, "users": ["x"]}, None, "an entry of `users`"),
        ("- x", None, "it is no mapping"),
        ("a: [", None, "it is no YAML"),
        ("", None, "no context is the current one"),
    ],
)
def test_what_is_wrong_is_told_with_its_file(tmp_path: Path, told: Any, named: str | None, said: str) -> None:
    path = written(tmp_path / ".kube" / "config", told)
    with pytest.raises(AllotmentError) as caught:
        access(named, {}, tmp_path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert caught.value.remedy
    assert caught.value.exit_code in {2, 3}


def test_without_a_file_no_cluster_is_known(tmp_path: Path) -> None:
    with pytest.raises(AllotmentError, match=r"there is no file .*config\n  .*export KUBECONFIG"):
        access(None, {}, tmp_path)


def test_a_pod_takes_its_own_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "token", "t")
    written(tmp_path / "namespace", "team-a\n")
    monkeypatch.setattr(kubeconfig, "SERVICE_ACCOUNT", tmp_path)
    environ = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    found = access(None, environ, tmp_path / "home")
    assert found == in_cluster(tmp_path, "fd00::1", "443")
    assert (found.server, found.namespace) == ("https://[fd00::1]:443", "team-a")
    with pytest.raises(AllotmentError, match="no cluster is known"):
        access("blue", environ, tmp_path / "home")


@pytest.mark.parametrize(
    ("host", "environ", "straight"),
    [
        ("127.0.0.1", {}, True),
        ("::1", {}, True),
        ("localhost", {}, True),
        ("10.1.2.3", {}, False),
        ("10.1.2.3", {"NO_PROXY": "a, 10.0.0.0/8"}, True),
        ("10.1.2.3", {"no_proxy": "10.1.2.3"}, True),
        ("10.1.2.3", {"NO_PROXY": "192.168.0.0/16,,fd00::/8"}, False),
        ("kube.example.org", {"NO_PROXY": "10.0.0.0/8"}, False),
    ],
)
def test_a_proxy_is_passed_as_kubectl_passes_it(host: str, environ: dict[str, str], straight: bool) -> None:
    assert goes_straight(host, environ) is straight
