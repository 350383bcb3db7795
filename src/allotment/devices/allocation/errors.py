"""The errors with which an allocation ends, in upstream's words.

Programs and people search for these texts, so they are kept to the letter (``structured/internal`` of
k8s.io/dynamic-resource-allocation). One that only concerns a node leaves the other nodes to be tried.
"""

from __future__ import annotations

from typing import Final


class AllocationError(Exception):
    """Why nothing can be allocated, whatever is free."""

    def __init__(self, text: str, *, only_this_node: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.only_this_node = only_this_node


INVALID_POOLS: Final = "invalid resource pools were encountered"


def of_request(claim: str, request: str, words: str) -> AllocationError:
    """Something is wrong with a request."""
    return AllocationError(f"{of_claim(claim, ', ')}request {request}: {words}")


def of_claim(claim: str, then: str) -> str:
    """The beginning of an error about a claim; a claim without a name is not named."""
    return f"claim {claim}{then}" if claim else ""
