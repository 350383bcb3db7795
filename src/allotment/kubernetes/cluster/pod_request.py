"""What a pod asks for in the ways that KAI tells apart: whole GPUs, parts of one, MIG instances, others.

A part of a GPU stands in annotations. Facts: KAI 0.17, ``gpu-fraction``, ``gpu-memory`` (MiB) and
``gpu-fraction-num-devices``; any resource whose name ends in ``/gpu`` counts whole GPUs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from allotment.scheduling.state.pod_groups import PodRequest
from allotment.scheduling.state.pod_requests import pod_requests

Raw = Mapping[str, Any]
FRACTION: Final = "gpu-fraction"
GPU_MEMORY: Final = "gpu-memory"
DEVICES: Final = "gpu-fraction-num-devices"
_MIG: Final = "nvidia.com/mig-"
_GPU: Final = "/gpu"


def request_of(spec: Raw, annotations: Raw) -> PodRequest:
    """The request of a pod with this spec and these annotations."""
    amounts = pod_requests(spec)
    gpus = sum(amount for name, amount in amounts.items() if name.endswith(_GPU))
    mig = tuple(sorted((name, amount) for name, amount in amounts.items() if name.startswith(_MIG)))
    named = {"cpu", "memory", *(name for name, _ in mig)}
    others = tuple(
        sorted(
            (name, float(amount))
            for name, amount in amounts.items()
            if name not in named and not name.endswith(_GPU)
        )
    )
    fraction, memory = _number(annotations.get(FRACTION)), _number(annotations.get(GPU_MEMORY))
    return PodRequest(
        cpu=float(amounts.get("cpu", 0)),
        memory=float(amounts.get("memory", 0)),
        gpus=0 if fraction or memory else gpus,
        fraction=fraction,
        gpu_memory=int(memory),
        devices=max(1, int(_number(annotations.get(DEVICES)))),
        mig=mig,
        others=others,
    )


def _number(text: object) -> float:
    try:
        number = float(str(text))
    except ValueError:
        return 0.0
    return number if math.isfinite(number) else 0.0
