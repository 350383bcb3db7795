"""The forms that names and amounts have in the API.

From ``k8s.io/apimachinery`` (pkg/util/validation) and the validation of ``resource.k8s.io/v1``. Forms are
remembered by text: a large cluster's objects repeat the same few.
"""

from __future__ import annotations

import re
from functools import lru_cache

from allotment.quantities.kubernetes import Quantity
from allotment.quantities.quantity_text import QuantityTextError

LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_PART = "[a-z0-9]([a-z0-9-]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_PART}(\.{_PART})*")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}")
_LABEL_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")


@lru_cache(maxsize=65536)
def is_label(text: str) -> bool:
    """Whether a text is a DNS label."""
    return LABEL.fullmatch(text) is not None


@lru_cache(maxsize=65536)
def is_subdomain(text: str, longest: int = 253) -> bool:
    """Whether a text is a DNS subdomain of at most so many characters; its labels may be as long."""
    return len(text) <= longest and _SUBDOMAIN.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def is_qualified(key: str) -> bool:
    """Whether a key is a C identifier with or without a domain before it; more slashes the API lets pass."""
    parts = key.split("/")
    if len(parts) > 2:
        return True
    domain_is_right = len(parts) == 1 or is_subdomain(parts[0], 63)
    return domain_is_right and _IDENTIFIER.fullmatch(parts[-1]) is not None


@lru_cache(maxsize=4096)
def is_label_key(key: str) -> bool:
    """Whether a text can be the key of a label, which taints and conditions have too."""
    prefix, slash, name = key.rpartition("/")
    prefix_is_right = not slash or is_subdomain(prefix)
    return prefix_is_right and _LABEL_NAME.fullmatch(name) is not None


@lru_cache(maxsize=4096)
def is_label_value(text: str) -> bool:
    """Whether a text can be the value of a label."""
    return not text or _LABEL_NAME.fullmatch(text) is not None


@lru_cache(maxsize=65536)
def amount(text: str) -> Quantity | None:
    """The quantity that a text says, or None when it says none."""
    try:
        return Quantity.parse(text)
    except QuantityTextError:
        return None
