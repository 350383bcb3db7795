"""A cluster read once: its objects at one time, from its API, a file, or a scheduler's own snapshot."""

from allotment.kubernetes.cluster.snapshot import Missing, Snapshot

__all__ = ["Missing", "Snapshot"]
