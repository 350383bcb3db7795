"""Manifests that count GPUs, turned into claims: a pure function from a text to a text, with reasons."""

from __future__ import annotations

from allotment.kubernetes.convert.converting import convert
from allotment.kubernetes.convert.outcome import Converted, Hunk, Outcome, Verdict, hunks
from allotment.kubernetes.convert.plans import Asked

__all__ = ["Asked", "Converted", "Hunk", "Outcome", "Verdict", "convert", "hunks"]
