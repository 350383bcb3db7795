"""Variables that a pipeline may not set, because its runner lives by them, each with what it would change.

A pipeline's variables reach the process that also speaks to the bucket. One that sends its requests through a
proxy, changes whom it is or trusts, or loads foreign code into it, would be a way to the team's credentials.
Names of proxies count in any case, as libraries read them. Facts: the environment that curl, reqwest and
Python's urllib read; "Environment variables" of the AWS SDKs; ld.so(8); "Environment variables" of CPython.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OURS: Final = "it tells a program of ours where it is and what it has"
LOADS: Final = "it loads foreign code into the runner"
PROXY: Final = "it sends the bucket's requests elsewhere"
TRUST: Final = "it says whom the bucket's client trusts"
FINDS: Final = "it says which programs and files the runner finds"

PREFIXES: Final[Mapping[str, str]] = {
    "ALLOT_": OURS,
    "AWS_": "it says with whose credentials the bucket is reached, and where",
    "DYLD_": LOADS,
    "LD_": LOADS,
}
NAMES: Final[Mapping[str, str]] = {
    "ALL_PROXY": PROXY,
    "BASH_ENV": LOADS,
    "GCONV_PATH": LOADS,
    "HOME": FINDS,
    "HTTPS_PROXY": PROXY,
    "HTTP_PROXY": PROXY,
    "NO_PROXY": PROXY,
    "PATH": FINDS,
    "PYTHONHOME": LOADS,
    "PYTHONPATH": LOADS,
    "PYTHONSTARTUP": LOADS,
    "PYTHONUSERBASE": LOADS,
    "SSL_CERT_DIR": TRUST,
    "SSL_CERT_FILE": TRUST,
}


def why_reserved(name: str) -> str | None:
    """Why a pipeline may not set this variable, or None where it may."""
    upper = name.upper()
    if upper in NAMES:
        return NAMES[upper]
    return next((why for prefix, why in PREFIXES.items() if upper.startswith(prefix)), None)


def why_ours(name: str) -> str | None:
    """Why no file may set this variable, whatever it starts, or None where it may."""
    return OURS if name.upper().startswith("ALLOT_") else None
