"""Claim templates that pods on a cluster name and that are gone, made again of the claims they became."""

from __future__ import annotations

from allotment.kubernetes import kinds
from allotment.kubernetes.follow import fields
from allotment.kubernetes.kinds import Object
from allotment.planning.scenes.owners import Owner
from allotment.planning.scenes.stage import Stage


def lost_templates(stage: Stage) -> tuple[Object, ...]:
    """Them, as objects to be put beside those that are there."""
    if stage.real is None:
        return ()
    claims = {f"{each.namespace}/{each.name}": each for each in stage.world.claims}
    found: dict[Owner, Object] = {}
    for pod in stage.real.of(kinds.POD):
        namespace = str(pod["metadata"].get("namespace") or "")
        made = {
            fields.text(each, "name"): fields.text(each, "resourceClaimName")
            for each in fields.items(pod, "status", "resourceClaimStatuses")
        }
        for each in fields.items(pod, "spec", "resourceClaims"):
            template = fields.text(each, "resourceClaimTemplateName")
            claim = claims.get(f"{namespace}/{made.get(fields.text(each, 'name'))}")
            if not template or claim is None or (namespace, template) in found:
                continue
            if stage.snapshot.named(kinds.CLAIM_TEMPLATE, template, namespace) is None:
                value = claim.spec.to_template(template)
                meta = {**value["metadata"], "namespace": namespace}
                found[namespace, template] = {**value, "metadata": meta}
    return tuple(found.values())
