"""What an API server holds the spec of a pod to, as far as batch work meets it.

From ``pkg/apis/core/validation`` of Kubernetes 1.36: containers, resources, tolerations and claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.kubernetes.testing.answers import Cause, doubled, forbidden, required, unsupported, wrong
from allotment.kubernetes.testing.names import of_label_name, of_labels, of_subdomain, quoted
from allotment.quantities.kubernetes import Quantity

Raw = Mapping[str, Any]
_NATIVE: Final = frozenset({"cpu", "memory", "storage", "ephemeral-storage"})
_LAST_PORT: Final = 65535
_PORT_WORDS: Final = "must be between 1 and 65535, inclusive"
_PULL: Final = ("Always", "IfNotPresent", "Never")
_NAMED_BY: Final = (
    ("configMap", "name"),
    ("secret", "secretName"),
    ("persistentVolumeClaim", "claimName"),
    ("hostPath", "path"),
)
_SOURCES: Final = ("resourceClaimName", "resourceClaimTemplateName")


def of_template(template: Raw, place: str) -> Iterator[Cause]:
    """A pod template: its labels and its spec."""
    metadata = template.get("metadata") or {}
    yield from of_labels(metadata.get("labels") or {}, f"{place}.labels")
    yield from of_spec(template.get("spec") or {}, f"{place}.spec")


def of_spec(spec: Raw, place: str) -> Iterator[Cause]:
    """The spec of a pod."""
    volumes = spec.get("volumes") or ()
    yield from _named_apart(volumes, f"{place}.volumes")
    for number, volume in enumerate(volumes):
        yield from _volume(volume, f"{place}.volumes[{number}]")
    claims = spec.get("resourceClaims") or ()
    yield from _claims(claims, f"{place}.resourceClaims")
    names = [claim.get("name", "") for claim in claims]
    containers = spec.get("containers") or ()
    if not containers:
        yield required(f"{place}.containers")
    mounts = {volume.get("name") for volume in volumes}
    for sort in ("containers", "initContainers"):
        listed = spec.get(sort) or ()
        for number, container in enumerate(listed):
            yield from _container(container, f"{place}.{sort}[{number}]", names, mounts)
        yield from _doubled_names(listed, f"{place}.{sort}")
    if spec.get("restartPolicy") not in {"Always", "OnFailure", "Never"}:
        yield unsupported(
            f"{place}.restartPolicy", quoted(spec.get("restartPolicy")), ("Always", "OnFailure", "Never")
        )
    for number, toleration in enumerate(spec.get("tolerations") or ()):
        yield from _toleration(toleration, f"{place}.tolerations[{number}]")
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline < 2**31:
        yield wrong(
            f"{place}.activeDeadlineSeconds", str(deadline), "must be between 1 and 2147483647, inclusive"
        )


def _volume(volume: Raw, place: str) -> Iterator[Cause]:
    sources = [name for name in volume if name != "name"]
    for name in sources[1:]:
        yield forbidden(f"{place}.{name}", "may not specify more than 1 volume type")
    for source, field in _NAMED_BY:
        if source in sources and not volume[source].get(field):
            yield required(f"{place}.{source}.{field}")


def _named_apart(items: Any, place: str) -> Iterator[Cause]:
    for number, item in enumerate(items):
        name = item.get("name", "")
        if not name:
            yield required(f"{place}[{number}].name")
        else:
            yield from (wrong(f"{place}[{number}].name", quoted(name), each) for each in of_label_name(name))
    yield from _doubled_names(items, place)


def _doubled_names(items: Any, place: str) -> Iterator[Cause]:
    seen = set()
    for number, item in enumerate(items):
        name = item.get("name", "")
        if name and name in seen:
            yield doubled(f"{place}[{number}].name", quoted(name))
        seen.add(name)


def _claims(claims: Any, place: str) -> Iterator[Cause]:
    seen = set()
    for number, claim in enumerate(claims):
        here, name = f"{place}[{number}]", claim.get("name", "")
        if not name:
            yield required(f"{here}.name")
        elif name in seen:
            yield doubled(f"{here}.name", quoted(name))
        else:
            yield from (wrong(f"{here}.name", quoted(name), each) for each in of_label_name(name))
        seen.add(name)
        given = [source for source in _SOURCES if claim.get(source) is not None]
        if len(given) != 1:
            fields = {
                "Name": name,
                **{source[0].upper() + source[1:]: claim.get(source) for source in _SOURCES},
            }
            why = (
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
                if given
                else "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            )
            yield wrong(here, quoted(fields), why)
        for source in given:
            yield from (
                wrong(f"{here}.{source}", quoted(claim[source]), each) for each in of_subdomain(claim[source])
            )


def _container(container: Raw, place: str, claims: list[str], mounts: set[Any]) -> Iterator[Cause]:
    name = container.get("name", "")
    if not name:
        yield required(f"{place}.name")
    else:
        yield from (wrong(f"{place}.name", quoted(name), each) for each in of_label_name(name))
    if not container.get("image"):
        yield required(f"{place}.image")
    if container.get("imagePullPolicy") not in _PULL:
        yield unsupported(f"{place}.imagePullPolicy", quoted(container.get("imagePullPolicy")), _PULL)
    yield from _variables(container, place)
    yield from _ports(container, place)
    for number, mount in enumerate(container.get("volumeMounts") or ()):
        here = f"{place}.volumeMounts[{number}]"
        if not mount.get("name"):
            yield required(f"{here}.name")
        elif mount["name"] not in mounts:
            yield Cause(f"{here}.name", "FieldValueNotFound", f"Not found: {quoted(mount['name'])}")
        if not mount.get("mountPath"):
            yield required(f"{here}.mountPath")
    yield from _resources(container.get("resources") or {}, f"{place}.resources", claims)


def _variables(container: Raw, place: str) -> Iterator[Cause]:
    for number, variable in enumerate(container.get("env") or ()):
        here = f"{place}.env[{number}]"
        if not variable.get("name"):
            yield required(f"{here}.name")
        if variable.get("value") and variable.get("valueFrom"):
            yield wrong(f"{here}.valueFrom", '""', "may not be specified when `value` is not empty")


def _ports(container: Raw, place: str) -> Iterator[Cause]:
    for number, port in enumerate(container.get("ports") or ()):
        if not 1 <= port.get("containerPort", 0) <= _LAST_PORT:
            here, shown = f"{place}.ports[{number}].containerPort", str(port.get("containerPort", 0))
            yield required(here) if shown == "0" else wrong(here, shown, _PORT_WORDS)


def _resources(resources: Raw, place: str, claims: list[str]) -> Iterator[Cause]:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for sort, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in sorted(amounts.items()):
            yield from _amount(name, Quantity.parse(str(amount)), f"{place}.{sort}[{name}]")
            if sort == "requests" and name in limits:
                yield from _within(name, amount, limits[name], f"{place}.requests")
            elif sort == "requests" and not _may_overcommit(name):
                yield required(f"{place}.limits", "Limit must be set for non overcommitable resources")
    yield from _claims_used(resources.get("claims") or (), f"{place}.claims", claims)


def _may_overcommit(name: str) -> bool:
    return name in _NATIVE or (
        ("/" not in name or "kubernetes.io/" in name) and not name.startswith("hugepages-")
    )


def _amount(name: str, amount: Quantity, place: str) -> Iterator[Cause]:
    if amount.sign < 0:
        yield wrong(place, quoted(str(amount)), "must be greater than or equal to 0")
    elif not _may_overcommit(name) and amount.as_integer() is None:
        yield wrong(place, quoted(str(amount)), "must be an integer")


def _within(name: str, asked: Any, limit: Any, place: str) -> Iterator[Cause]:
    wanted, most = Quantity.parse(str(asked)), Quantity.parse(str(limit))
    if not _may_overcommit(name):
        if wanted != most:
            yield wrong(place, quoted(str(wanted)), f"must be equal to {name} limit of {most}")
    elif most < wanted:
        yield wrong(place, quoted(str(wanted)), f"must be less than or equal to {name} limit of {most}")


def _claims_used(used: Any, place: str, claims: list[str]) -> Iterator[Cause]:
    seen = set()
    for number, claim in enumerate(used):
        here, name, request = f"{place}[{number}]", claim.get("name", ""), claim.get("request", "")
        if not name:
            yield required(f"{here}.name")
        elif (name, request) in seen:
            yield doubled(here, quoted(name if not request else f"{name}/{request}"))
        elif name not in claims:
            known = f"must be one of the names in pod.spec.resourceClaims: {','.join(dict.fromkeys(claims))}"
            why = known if claims else "must be one of the names in pod.spec.resourceClaims which is empty"
            yield Cause(here, "FieldValueNotFound", f"Not found: {quoted(name)}: {why}")
        seen.add((name, request))
        if request:
            yield from (wrong(f"{here}.request", quoted(request), each) for each in of_label_name(request))


def _toleration(toleration: Raw, place: str) -> Iterator[Cause]:
    key, operator = toleration.get("key", ""), toleration.get("operator", "")
    if not key and operator not in {"Exists"}:
        why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield wrong(f"{place}.operator", quoted(operator), why)
    seconds = toleration.get("tolerationSeconds")
    if seconds is not None and toleration.get("effect") != "NoExecute":
        why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield wrong(f"{place}.effect", quoted(toleration.get("effect", "")), why)
    if operator == "Exists" and toleration.get("value"):
        yield wrong(
            f"{place}.operator",
            quoted(toleration["value"]),
            "value must be empty when `operator` is 'Exists'",
        )
    elif operator not in {"", "Equal", "Exists"}:
        yield unsupported(f"{place}.operator", quoted(operator), ("Equal", "Exists"))
    effects = ("NoSchedule", "PreferNoSchedule", "NoExecute")
    if toleration.get("effect") not in {None, "", *effects}:
        yield unsupported(f"{place}.effect", quoted(toleration["effect"]), sorted(effects))
