"""foretrain: records a PyTorch model for the simulator, and asks the simulator from Python.

capture and time need torch; predict, compare and collective need the program, and nothing else.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import CaptureError, ForetrainError
from .program import Collective, Comparison, Prediction, collective, compare, find_program, predict
from .version import VERSION as __version__

if TYPE_CHECKING:
    from .recording import Capture, capture
    from .timing import Timing, time

_NEED_TORCH = {"capture": "recording", "Capture": "recording", "time": "timing", "Timing": "timing"}

__all__ = [
    "Capture",
    "CaptureError",
    "Collective",
    "Comparison",
    "ForetrainError",
    "Prediction",
    "Timing",
    "__version__",
    "capture",
    "collective",
    "compare",
    "find_program",
    "predict",
    "time",
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
