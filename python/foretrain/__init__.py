"""foretrain: how long a distributed training takes, asked from Python; and records of PyTorch models for that.

capture and time need torch; everything else needs nothing but the simulator, which a wheel holds (library.py).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .answers import Answer, Collective, Comparison, Plan, Plans, Prediction, Report, Table, Text, Validation
from .errors import CaptureError, EnvironmentError, ForetrainError, InputError, UsageError
from .library import find_library, find_program, run
from .pictures import Picture
from .program import (
    calibrate,
    check,
    collective,
    compare,
    evidence,
    explain,
    plan,
    predict,
    recommend,
    sweep,
    topology,
    tune,
    validate,
)
from .version import VERSION as __version__

if TYPE_CHECKING:
    from .recording import Capture, capture
    from .timing import Timing, time

_NEED_TORCH = {"capture": "recording", "Capture": "recording", "time": "timing", "Timing": "timing"}

__all__ = [
    "Answer",
    "Capture",
    "CaptureError",
    "Collective",
    "Comparison",
    "ForetrainError",
    "InputError",
    "Picture",
    "Plan",
    "Plans",
    "Prediction",
    "Report",
    "Table",
    "Text",
    "Timing",
    "UsageError",
    "EnvironmentError",
    "Validation",
    "__version__",
    "calibrate",
    "capture",
    "check",
    "collective",
    "compare",
    "evidence",
    "explain",
    "find_library",
    "find_program",
    "plan",
    "predict",
    "recommend",
    "run",
    "sweep",
    "time",
    "topology",
    "tune",
    "validate",
]


def __getattr__(name: str) -> Any:
    if name not in _NEED_TORCH:
        raise AttributeError(f"module 'foretrain' has no attribute {name!r}")
    from importlib import import_module

    try:
        return getattr(import_module(f".{_NEED_TORCH[name]}", __name__), name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ForetrainError(
            f"foretrain.{name} needs PyTorch 1.13 or newer\n  hint: run it in the environment of the training"
        ) from error
