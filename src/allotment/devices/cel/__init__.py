"""CEL selectors over devices, as Kubernetes evaluates them.

    program = compile_selector("device.driver == 'gpu.nvidia.com'", Environment())
    program.evaluate(device_view(driver, device))

The language is that of cel-spec with cel-go's limits and messages, the functions and the device are those of
Kubernetes' dynamic resource allocation. Parts: ``parser`` (text to tree), ``checker`` (types), ``closures``
(tree to Python functions), ``costs`` (estimated and counted), ``library`` (functions), ``regex`` (RE2),
``environment`` (what which version of Kubernetes has).
"""

from __future__ import annotations

from allotment.devices.cel.devices import DeviceView, DeviceViews, device_view
from allotment.devices.cel.environment import Environment
from allotment.devices.cel.problems import EvaluationError
from allotment.devices.cel.program import COST_LIMIT, Program, compile_selector
from allotment.devices.cel.source import CompileError

__all__ = [
    "COST_LIMIT",
    "CompileError",
    "DeviceView",
    "DeviceViews",
    "Environment",
    "EvaluationError",
    "Program",
    "compile_selector",
    "device_view",
]
