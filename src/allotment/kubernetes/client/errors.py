"""What a cluster refused, as one sentence and a remedy; the sentences are made in `refusals`.

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
    manager and the field that it owns where the reason is ``Conflict``. ``is_unsure`` says that nobody knows
    whether the request was done, ``is_absence`` that one object is not there, though its kind is served.
    """

    status: int = 0
    reason: str = ""
    message: str = ""
    causes: tuple[tuple[str, str], ...] = ()
    is_unsure: bool = False
    is_absence: bool = False

    @property
    def is_conflict(self) -> bool:
        """Whether others own fields: ``causes`` are pairs of a manager and a field of its."""
        return self.status == 409 and self.reason == "Conflict" and bool(self.causes)


@dataclass(eq=False)
class ExpiredError(ApiError):
    """The version from which to go on is older than what the cluster remembers: list anew."""
