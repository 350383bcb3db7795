"""From what a pipeline needs to what it claims: the one place where a need becomes a claim.

``check``, ``run`` and whatever renders for a cluster take the same claim from here, so that none of them can
promise what another does not see.
"""

from __future__ import annotations

from allotment.needs.claim import claim_for
from allotment.needs.findings import need_findings
from allotment.needs.words import describe

__all__ = ["claim_for", "describe", "need_findings"]
