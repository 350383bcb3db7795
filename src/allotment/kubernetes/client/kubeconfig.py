"""Which cluster is meant and as whom: the files that `kubectl` reads, as it reads them.

Several files of ``KUBECONFIG`` are one: of each name the first that has it counts, and a path is relative to
its own file. Source: Kubernetes' documentation, "Organizing Cluster Access Using kubeconfig Files", and
"Accessing the API from a Pod" for a process within a cluster.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from allotment.errors import AllotmentError, UsageError, WorldError, did_you_mean
from allotment.kubernetes.client.secrets import without_quotes

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_LISTS: Final = (("clusters", "cluster"), ("contexts", "context"), ("users", "user"))
_PATHS: Final = {
    "cluster": ("certificate-authority",),
    "user": ("client-certificate", "client-key", "tokenFile"),
}


@dataclass(frozen=True, slots=True)
class Access:
    """A cluster and who asks it: ``cluster`` and ``user`` are as the file has them; ``files``: whence."""

    name: str
    cluster: Mapping[str, Any]
    user: Mapping[str, Any] = field(default_factory=dict)
    namespace: str = "default"
    user_name: str = ""
    files: str = ""

    @property
    def server(self) -> str:
        """The address."""
        return str(self.cluster.get("server") or "")


def access(context: str | None, environ: Mapping[str, str], home: Path) -> Access:
    """What the context says, or the current one; in a cluster and without files, the pod's own."""
    paths = _paths(environ, home)
    present = [path for path in paths if path.is_file()]
    if not present:
        return _without_files(context, paths, environ)
    return _chosen(_merged(present), context, ", ".join(map(str, present)))


def _paths(environ: Mapping[str, str], home: Path) -> list[Path]:
    named = [Path(each) for each in environ.get("KUBECONFIG", "").split(os.pathsep) if each]
    return named or [home / ".kube" / "config"]


def _without_files(context: str | None, paths: Sequence[Path], environ: Mapping[str, str]) -> Access:
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if context is None and host and port and (SERVICE_ACCOUNT / "token").is_file():
        return in_cluster(SERVICE_ACCOUNT, host, port)
    shown = ", ".join(map(str, paths))
    raise WorldError(
        f"no cluster is known: there is no file {shown}",
        remedy="name one that your cluster's administrator gave you: export KUBECONFIG=FILE",
    )


def in_cluster(account: Path, host: str, port: str) -> Access:
    """The cluster around this pod, by its service account, whose token the kubelet keeps fresh."""
    address = f"[{host}]" if ":" in host else host
    namespace = account / "namespace"
    return Access(
        "the cluster of this pod",
        {"server": f"https://{address}:{port}", "certificate-authority": str(account / "ca.crt")},
        {"tokenFile": str(account / "token")},
        namespace.read_text(encoding="utf-8").strip() if namespace.is_file() else "default",
        "this pod's service account",
        str(account),
    )


def _merged(paths: Sequence[Path]) -> Mapping[str, Any]:
    found: dict[str, Any] = {plural: {} for plural, _ in _LISTS} | {"current-context": ""}
    for path in paths:
        told = _read(path)
        found["current-context"] = found["current-context"] or told.get("current-context") or ""
        for plural, key in _LISTS:
            for name, value in _entries(told, plural, key, path):
                found[plural].setdefault(name, _absolute(value, key, path.parent))
    return found


def _read(path: Path) -> Mapping[str, Any]:
    try:
        told = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WorldError(f"it cannot be read: {error.strerror}", where=str(path)) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        problem = without_quotes(getattr(error, "problem", None) or "not UTF-8")
        raise _unfit(place, f"it is no YAML: {problem}") from None
    if told is None:
        return {}
    if not isinstance(told, dict):
        raise _unfit(str(path), "it is no mapping with clusters, contexts and users")
    return told


def _unfit(where: str, what: str) -> AllotmentError:
    return WorldError(what, where=where, remedy="have it written anew, or show it with: kubectl config view")


def _entries(
    told: Mapping[str, Any], plural: str, key: str, path: Path
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    listed = told.get(plural) or []
    if not isinstance(listed, list):
        raise _unfit(str(path), f"`{plural}` is no list")
    for each in listed:
        value = each.get(key) if isinstance(each, dict) else None
        if not isinstance(value, dict | None) or not isinstance(each, dict) or "name" not in each:
            raise _unfit(str(path), f"an entry of `{plural}` is no `name` with a `{key}`")
        yield str(each["name"]), value or {}


def _absolute(value: Mapping[str, Any], key: str, folder: Path) -> Mapping[str, Any]:
    """The value with paths as from anywhere; a program is a path only where it has a separator."""
    found = dict(value)
    for name in _PATHS.get(key, ()):
        if found.get(name):
            found[name] = str((folder / str(found[name])).absolute())
    program = found.get("exec")
    if key == "user" and isinstance(program, dict) and os.sep in str(program.get("command", "")):
        found["exec"] = {**program, "command": str((folder / str(program["command"])).absolute())}
    return found


def _chosen(conf: Mapping[str, Any], context: str | None, files: str) -> Access:
    name = context if context is not None else conf["current-context"]
    if not name:
        raise UsageError(
            "no cluster was named, and no context is the current one",
            where=files,
            remedy=f"write --cluster CONTEXT; {did_you_mean('', conf['contexts'])}".rstrip("; "),
        )
    told = _named(conf, "contexts", name, files)
    cluster = _named(conf, "clusters", str(told.get("cluster") or ""), files, of=name)
    if not cluster.get("server"):
        raise _unfit(files, f"the cluster `{told.get('cluster')}` has no `server`")
    user = str(told.get("user") or "")
    return Access(
        name,
        cluster,
        _named(conf, "users", user, files, of=name) if user else {},
        str(told.get("namespace") or "default"),
        user,
        files,
    )


def _named(conf: Mapping[str, Any], plural: str, name: str, files: str, *, of: str = "") -> Mapping[str, Any]:
    found: Mapping[str, Any] | None = conf[plural].get(name)
    if found is not None:
        return found
    sort, hint = plural.removesuffix("s"), did_you_mean(name, conf[plural])
    if of:
        what = f"the context `{of}` names a {sort} `{name}`, which is not there"
        raise WorldError(what, where=files, remedy=hint or f"the file has no {plural}")
    remedy = f"{hint}; " if hint else ""
    raise UsageError(
        f"there is no context `{name}`",
        where=files,
        remedy=f"{remedy}a bare --cluster takes the current one, if it stands last or as `--cluster=`",
    )
