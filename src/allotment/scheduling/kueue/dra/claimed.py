"""Workloads whose claims are charged before they stand in line, or that are told why they do not.

What claims are charged is added to what pods ask for, and the extended resources that it stands for are left
out. A workload with a fault is not queued before it is changed (Requeued=False); one whose devices lack is
looked at again when its reader does so. The rules are those of ``handleDRA`` in
``pkg/controller/core/workload_controller.go``. The message has the words of one fault: the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from allotment.scheduling.kueue.dra.charging import Charger, ClaimError, FaultKind
from allotment.scheduling.kueue.dra.extended import Extended, ExtendedClass, extended_charges
from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.state.amounts import plus
from allotment.scheduling.state.read_workloads import Charge, as_asked, read_workload
from allotment.scheduling.state.workloads import Waiting, Workload

Raw = Mapping[str, Any]
BY_NAME: Final = "KueueDRAIntegration feature does not support use of resource claims"
_WORDS: Final = {
    FaultKind.INVALID: "Invalid value",
    FaultKind.NOT_FOUND: "Not found",
    FaultKind.RETRY: "Internal error",
}


@dataclass(frozen=True, slots=True)
class ClaimReader:
    """Reads workloads with claims. ``charge`` is what is done to other requests."""

    charger: Charger
    extended: tuple[ExtendedClass, ...] = ()
    charge: Charge = as_asked

    def read(self, raw: Raw) -> Workload:
        """The workload with its charges, or held back with the reason."""
        pod_sets = (raw.get("spec") or {}).get("podSets") or ()
        if any(claim.get("resourceClaimName") is not None for claim in _claims(pod_sets)):
            return self._held_back(raw, BY_NAME)
        try:
            charges = self.charger.charges(raw["metadata"].get("namespace", ""), pod_sets)
            extended = {each.get("name", ""): self._extended(each) for each in pod_sets}
        except ClaimError as fault:
            return self._held_back(raw, f"{fault.place}: {_WORDS[fault.kind]}: {fault.detail}")

        def charged(pod_set: Raw, requests: Mapping[str, int]) -> dict[str, int]:
            name = pod_set.get("name", "")
            more = extended[name]
            found = {
                resource: amount
                for resource, amount in self.charge(pod_set, requests).items()
                if resource not in more.replaced
            }
            for added in (charges.get(name, {}), more.charges):
                for resource, amount in added.items():
                    found[resource] = plus(found.get(resource, 0), amount)
            return found

        return read_workload(raw, charge=charged)

    def _extended(self, pod_set: Raw) -> Extended:
        if Gate.EXTENDED not in self.charger.gates:
            return Extended()
        spec = (pod_set.get("template") or {}).get("spec") or {}
        return extended_charges(spec, self.extended, self.charger.mapping, self.charger.gates)

    def _held_back(self, raw: Raw, message: str) -> Workload:
        workload = read_workload(raw, charge=self.charge)
        reserved = workload.reserved or workload.finished
        if reserved:
            return workload
        return replace(workload, held_back=True, waiting=Waiting("Misconfigured", message))


def _claims(pod_sets: Iterable[Raw]) -> Iterable[Raw]:
    for pod_set in pod_sets:
        yield from ((pod_set.get("template") or {}).get("spec") or {}).get("resourceClaims") or ()
