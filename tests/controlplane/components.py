"""The programs of a control plane: which published modules they are built from, and in which versions."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.go_programs import Program

HERE: Final = Path(__file__).parent / "programs"
KUBERNETES: Final = "1.36.3"
ETCD: Final = "3.6.16"
KUEUE: Final = "0.17.0"
_STAMP: Final = "k8s.io/component-base/version"
_SMALL: Final = "-s -w"


def _program(name: str, version: str, *, package: str = ".", stamps: dict[str, str] | None = None) -> Program:
    linked = " ".join([_SMALL, *(f"-X {key}={value}" for key, value in (stamps or {}).items())])
    return Program(
        f"{name}-{version}",
        HERE / name / "go.mod",
        package,
        ("-trimpath", "-ldflags", linked),
        shelf="controlplane",
    )


_MAJOR, _MINOR, _ = KUBERNETES.split(".")
PROGRAMS: Final = {
    "etcd": _program("etcd", ETCD),
    "kubernetes": _program(
        "kubernetes",
        KUBERNETES,
        stamps={
            f"{_STAMP}.gitVersion": f"v{KUBERNETES}",
            f"{_STAMP}.gitMajor": _MAJOR,
            f"{_STAMP}.gitMinor": _MINOR,
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
