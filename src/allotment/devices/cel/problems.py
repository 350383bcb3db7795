"""What goes wrong when an expression meets a device, in cel-go's words.

``&&`` and ``||`` forgive an error on one side when the other side decides, so errors are exceptions that
these two catch; whatever reaches the end ends the evaluation.
"""

from __future__ import annotations


class EvaluationError(Exception):
    """An expression that could not be evaluated; the text is the one that Kubernetes would give."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @property
    def explained(self) -> str:
        """The message with the advice that Kubernetes adds to it where a key was missing."""
        if "no such key:" not in self.message:
            return self.message
        return (
            f"{self.message}. consider using CEL optional chaining (.? followed by orValue()) "
            "or guarding the check with has() for optional fields"
        )


def no_such_overload() -> EvaluationError:
    """A function met values that it has no form for."""
    return EvaluationError("no such overload")
