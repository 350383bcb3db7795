"""Whether what drivers publish is as the API, the drivers' own documents, and good sense have it.

A reading of objects tells what an API server would refuse and what no scheduler can use. This goes further:
what is allowed, and still misleads who asks for devices by what they are.
"""

from __future__ import annotations

from allotment.devices.lint.linting import Linted, lint_documents, lint_files, lint_slices

__all__ = ["Linted", "lint_documents", "lint_files", "lint_slices"]
