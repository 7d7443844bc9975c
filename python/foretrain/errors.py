"""What goes wrong, told to people: the line of their own code, the reason, and what to do."""
from __future__ import annotations

import linecache
import os
import sysconfig
import traceback
from types import TracebackType
from typing import Optional

_HERE = os.path.dirname(os.path.abspath(__file__))


class ForetrainError(Exception):
    """Something that a user can put right; its text says how."""


class CaptureError(ForetrainError):
    """A model that cannot be recorded."""


class InputError(ForetrainError, ValueError):
    """What was given is wrong; the text has every mistake with its file, line and hint."""


class UsageError(InputError):
    """An option or a command that there is not."""


class EnvironmentError(ForetrainError, OSError):
    """A file or a device that failed, or no memory. Also an OSError, whose old name it has."""


def is_library(path: str) -> bool:
    if path.startswith("<"):
        return True
    full = os.path.abspath(path)
    if os.path.dirname(full) in (_HERE, os.path.join(_HERE, "pretend")) or os.path.basename(full) == "foretrain_capture.py":
        return True
    places = [sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return (
        any(full.startswith(place + os.sep) for place in places)
        or "dist-packages" in full
        or "site-packages" in full
    )


def user_line(trace: Optional[TracebackType]) -> Optional[str]:
    """`FILE:LINE: source` of the innermost frame of the user's code, else of a library on top of torch;
    or None."""
    own = other = None
    for frame, number in traceback.walk_tb(trace):
        path = frame.f_code.co_filename
        if not is_library(path):
            own = (path, number)
        elif os.sep + "torch" + os.sep not in path and "-packages" in path:
            other = (path, number)
    if own is None and other is None:
        return None
    path, number = own or other or ("", 0)
    source = linecache.getline(path, number).strip()
    return f"{path}:{number}: {source}" if source else f"{path}:{number}"


def reason(error: BaseException) -> str:
    """The first line of an error's text, with its kind."""
    text = str(error).strip().splitlines()
    first = text[0].strip() if text else ""
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def hint(error: BaseException) -> str:
    """What to do about an error that a step raised."""
    text = f"{type(error).__name__} {error}".lower()
    if "element 0 of tensors does not require grad" in text:
        return "check requires_grad of the parameters, and that the loss is computed with gradients enabled"
    if "inplace operation" in text:
        return "training itself would fail at this line: give up the in-place form"
    if "cuda" in text or "nvidia" in text:
        return (
            'move the model and the batch to one device, or take .cuda() and device="cuda" out of the code'
            " that runs here"
        )
    if "out of memory" in text or "can't allocate memory" in text or isinstance(error, MemoryError):
        return "record a smaller batch: sizes are written as they grow with it"
    if "shape" in text or "size" in text:
        return (
            "check that the batch is one that the training loop would pass; capture(..., loss=...) sets the"
            " loss"
        )
    if "unexpected keyword" in text or "positional argument" in text:
        return (
            "a tuple is passed as model(*batch), a dict as model(**batch), with the last entry left out as"
            " the target where forward does not take it"
        )
    return "run one training step of the model with this batch first; what fails there fails here"


def explain(error: BaseException, doing: str) -> CaptureError:
    """An error of a user's step, as a CaptureError that names the line."""
    if isinstance(error, CaptureError):
        return error
    where = user_line(error.__traceback__)
    lines = [f"{doing} failed", f"  {reason(error)}"]
    if where:
        lines.insert(1, f"  at {where}")
    lines.append(f"  hint: {hint(error)}")
    return CaptureError("\n".join(lines))
