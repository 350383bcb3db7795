"""Whether a cluster is ready for the platform's file, and how to mend it: `allot doctor --cluster`."""

from __future__ import annotations

from allotment.kubernetes.ready.checks import CHECKS, checks
from allotment.kubernetes.ready.seen import Right, Secret, Seen, Webhook

__all__ = ["CHECKS", "Right", "Secret", "Seen", "Webhook", "checks"]
