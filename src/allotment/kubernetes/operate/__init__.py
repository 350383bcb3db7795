"""The window controller: it moves the width of campaigns that run, and is never needed for them to finish."""

from allotment.kubernetes.operate.deciding import decide
from allotment.kubernetes.operate.values import Decision, Memory, Pace, Verb

__all__ = ["Decision", "Memory", "Pace", "Verb", "decide"]
