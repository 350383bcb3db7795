"""A team's files: pipelines and campaigns as frozen values, and every finding with its place."""

from __future__ import annotations

from allotment.repository.load import Loaded, load_repository

__all__ = ["Loaded", "load_repository"]
