"""The programs of a control plane: which published modules they are built from, and in which versions.

``ALLOT_KUBERNETES`` chooses the minor version of Kubernetes.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from tests.go_programs import Program

HERE: Final = Path(__file__).parent / "programs"
MINOR: Final = os.environ.get("ALLOT_KUBERNETES", "1.36")
KUBERNETES: Final = {"1.36": "1.36.3", "1.37": "1.37.2"}[MINOR]
ETCD: Final = "3.6.16"
KUEUE: Final = "0.17.0"
_STAMP: Final = "k8s.io/component-base/version"
_SMALL: Final = "-s -w"


def _program(
    name: str,
    version: str,
    *,
    module: str = "go.mod",
    package: str = ".",
    stamps: dict[str, str] | None = None,
) -> Program:
    linked = " ".join([_SMALL, *(f"-X {key}={value}" for key, value in (stamps or {}).items())])
    return Program(
        f"{name}-{version}",
        HERE / name / module,
        package,
        ("-trimpath", "-ldflags", linked),
        shelf="controlplane",
    )


PROGRAMS: Final = {
    "etcd": _program("etcd", ETCD),
    "kubernetes": _program(
        "kubernetes",
        KUBERNETES,
        module="go.mod" if MINOR == "1.36" else f"{MINOR}.mod",
        stamps={
            f"{_STAMP}.gitVersion": f"v{KUBERNETES}",
            f"{_STAMP}.gitMajor": MINOR.split(".")[0],
            f"{_STAMP}.gitMinor": MINOR.split(".")[1],
        },
    ),
    "kueue": _program(
        "kueue",
        KUEUE,
        package="sigs.k8s.io/kueue/cmd/kueue",
        stamps={"sigs.k8s.io/kueue/pkg/version.GitVersion": f"v{KUEUE}"},
    ),
}
"""In the order in which they are worth having."""
