"""What Kueue was started with: which device classes it counts, which Jobs it looks at, how long it waits.

Its configuration is read once, at the start, from a ConfigMap that the platform renders only for its
administrator to copy from. A device class that is not mapped makes every claim of it refused for good.
Facts: Kueue 0.19, ``config.kueue.x-k8s.io/v1beta2``: ConfigMap ``kueue-manager-config``, key
``controller_manager_config.yaml``; batch/job is integrated when nothing is said, and waiting for ready pods
is on with 30 minutes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from allotment.answers import Answer, fine, note, problem
from allotment.documents.stream import scan_stream_bytes
from allotment.kubernetes import kinds
from allotment.kubernetes.follow.fields import items, mapping, text
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.ready.seen import KUEUE_NAMESPACE, Seen, listed
from allotment.kubernetes.render.platform.kueue import (
    MOST_CLASSES,
    RESOURCE,
    counted_classes,
    kueue_objects,
)
from allotment.quantities.duration import format_duration, parse_duration
from allotment.quantities.quantity import QuantityError

CHECK: Final = "kueue's configuration"
NAME: Final = "kueue-manager-config"
KEY: Final = "controller_manager_config.yaml"
BY_DEFAULT: Final = "30m"
RENDERED: Final = (
    "`allot render --platform-objects` prints the part to put there; then restart Kueue's manager"
)
NEEDED_GATES: Final = {
    "ElasticJobsViaWorkloadSlices": "windows do not grow",
    "KueueDRAIntegration": "claims are not counted",
}
HASHING: Final = "SchedulingEquivalenceHashing"


def configuration(seen: Seen) -> Iterator[Answer]:
    """The parts of Kueue's configuration that the platform's work depends on."""
    if not seen.with_kueue or not seen.serves(kinds.CLUSTER_QUEUE):
        return
    found = seen.snapshot.named(kinds.CONFIG_MAP, NAME, KUEUE_NAMESPACE)
    written = text(found, "data", KEY)
    if found is None or not written:
        words = f"cannot be told: ConfigMap {NAME} of {KUEUE_NAMESPACE} is not there, or could not be read"
        remedy = "let somebody who may read it run this; claims of unmapped device classes are refused"
        yield note(CHECK, words, remedy)
        return
    documents, findings = scan_stream_bytes(written.encode(), name=NAME)
    value = documents[0].value if documents else None
    if not isinstance(value, Mapping):
        wrong = findings[0].message if findings else "it holds no mapping"
        yield problem(CHECK, f"{KEY} of ConfigMap {NAME} cannot be read: {wrong}", RENDERED)
        return
    yield from _mappings(seen, value)
    yield from _integrations(value)
    yield from _gates(value)
    yield from _waiting(seen, value)
    yield from _since_start(seen, found)


def _mappings(seen: Seen, value: Mapping[str, Any]) -> Iterator[Answer]:
    mapped = {
        name: text(each, "name")
        for each in items(value, "resources", "deviceClassMappings")
        for name in each.get("deviceClassNames") or ()
    }
    wanted = counted_classes(seen.platform)[:MOST_CLASSES]
    missing = [name for name in wanted if name not in mapped]
    other = [name for name in wanted if mapped.get(name, RESOURCE) != RESOURCE]
    if missing:
        words = (
            f"no deviceClassMappings for {listed(missing)}: Kueue refuses every claim of it (Misconfigured)"
        )
        yield problem(CHECK, words, RENDERED)
    for name in other:
        words = f"class {name} is counted as `{mapped[name]}`, and the queues' quota is of `{RESOURCE}`"
        yield problem(CHECK, words, RENDERED)
    if not missing and not other:
        yield fine(CHECK, f"{listed(wanted)} are counted as `{RESOURCE}`")


def _integrations(value: Mapping[str, Any]) -> Iterator[Answer]:
    frameworks = mapping(value, "integrations").get("frameworks")
    if frameworks is not None and "batch/job" not in frameworks:
        words = "`integrations.frameworks` leaves out batch/job: campaigns would run past every quota"
        yield problem(CHECK, words, RENDERED)
    absent = [each for each in ("pod", "deployment") if each not in (frameworks or ())]
    if absent:
        words = f"`integrations.frameworks` leaves out {listed(absent)}: fleets run past quota"
        yield note(CHECK, words, RENDERED)


def _gates(value: Mapping[str, Any]) -> Iterator[Answer]:
    gates = mapping(value, "featureGates")
    for name, becomes in NEEDED_GATES.items():
        if gates.get(name) is False:
            yield problem(
                CHECK, f"the gate {name} is switched off: {becomes}", "leave it on, as it is by default"
            )
    if gates.get(HASHING) is False:
        yield fine(CHECK, f"{HASHING} is off, so that no window waits behind a job of the same shape")
    else:
        words = (
            f"{HASHING} is on (by default): a window can stop growing behind a waiting job of its shape, "
            "which claim templates of each campaign's own mostly prevent"
        )
        yield note(CHECK, words, f"featureGates: {{{HASHING}: false}}")


def _waiting(seen: Seen, value: Mapping[str, Any]) -> Iterator[Answer]:
    (setting,) = kueue_objects(seen.platform).settings
    wanted = str(setting.value["waitForPodsReady"]["timeout"])
    block = mapping(value, "waitForPodsReady")
    timeout = str(block.get("timeout") or BY_DEFAULT)
    try:
        seconds = parse_duration(timeout)
    except QuantityError as error:
        yield problem(CHECK, f"waitForPodsReady.timeout: {error}", f"write {wanted}")
        return
    if block.get("blockAdmission"):
        words = "waitForPodsReady.blockAdmission holds everybody back while one window's pods start"
        yield note(CHECK, words, "write `blockAdmission: false`")
    if seconds >= parse_duration(wanted):
        yield fine(CHECK, f"it waits {format_duration(seconds)} for pods to be ready")
        return
    said = "" if block.get("timeout") else " (by default)"
    words = f"waitForPodsReady.timeout is {format_duration(seconds)}{said}: what is not ready then is evicted"
    if seen.with_kai:
        yield problem(CHECK, f"{words}, and KAI may take longer to place it", f"write `timeout: {wanted}`")
    else:
        yield note(CHECK, f"{words}; large images and models take long", f"write `timeout: {wanted}`")


def _since_start(seen: Seen, found: Object) -> Iterator[Answer]:
    """Whether somebody has changed the configuration after the manager had read it."""
    changed = [_time(text(each, "time")) for each in items(found, "metadata", "managedFields")]
    pods = seen.snapshot.of(kinds.POD, KUEUE_NAMESPACE)
    started = [_time(text(pod, "status", "startTime")) for pod in pods]
    times, starts = [each for each in changed if each], [each for each in started if each]
    if times and starts and max(times) > max(starts):
        words = "it was changed after Kueue's manager had started, which reads it only then"
        remedy = f"kubectl -n {KUEUE_NAMESPACE} rollout restart deployment kueue-controller-manager"
        yield problem(CHECK, words, remedy)


def _time(said: str) -> datetime | None:
    try:
        return datetime.fromisoformat(said) if said else None
    except ValueError:
        return None
