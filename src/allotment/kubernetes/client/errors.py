"""What a cluster refused, as one sentence and a remedy, from the parts of its answer and never from its text.

Facts: ``metav1.Status`` of Kubernetes: ``reason`` says which kind of refusal it is, ``details.causes`` which
fields are meant.
"""

from __future__ import annotations

from dataclasses import dataclass

from allotment.errors import AllotmentError


@dataclass(eq=False)
class ApiError(AllotmentError):
    """A refusal of the API server. ``status`` is HTTP's (0 where no answer came), ``reason`` Kubernetes'.

    ``message`` is what the server said; ``causes`` are pairs of a field and what is wrong with it, or of a
    manager and the field that it owns where the reason is ``Conflict``.
    """

    status: int = 0
    reason: str = ""
    message: str = ""
    causes: tuple[tuple[str, str], ...] = ()
