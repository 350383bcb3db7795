"""What most likely is not what is meant, or will not do: one function a rule, one module a subject.

``on_needs`` looks at a need alone, ``on_platforms`` at a need on the platform that it is for, ``on_kueue`` at
one that Kueue admits, ``on_campaigns`` at what runs it, ``on_worlds`` at devices that are published,
``on_all`` at the platform and all needs together.
"""

from __future__ import annotations

from allotment.needs.lints.linting import lint_findings

__all__ = ["lint_findings"]
