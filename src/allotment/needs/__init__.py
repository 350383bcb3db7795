"""From what a pipeline needs to what it claims: the one place where a need becomes a claim.

``check``, ``run`` and whatever renders for a cluster take the same claim from here, so that none of them can
promise what another does not see.
"""
