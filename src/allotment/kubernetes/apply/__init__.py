"""Applying a repository to a cluster: what is live is read, all is planned and held against it, then sent."""

from allotment.kubernetes.apply.applying import World, anything, apply
from allotment.kubernetes.apply.groups import repository_id
from allotment.kubernetes.apply.outcome import Done, Outcome, Refusal, Report, Verb
from allotment.kubernetes.apply.scene import Wish

__all__ = [
    "Done",
    "Outcome",
    "Refusal",
    "Report",
    "Verb",
    "Wish",
    "World",
    "anything",
    "apply",
    "repository_id",
]
