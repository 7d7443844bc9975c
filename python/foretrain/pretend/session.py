"""What a pretend rank knows of itself: who it is, what it had to stand in for, what it guessed."""

from __future__ import annotations

import os
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, NoReturn, Optional, Set

from ..errors import ForetrainError, is_library

#: Who asks for the same unknown value more often than this loops on it.
MOST_GUESSES = 5000
#: How the reason begins where a script ended itself; what it printed last tells why.
ENDED = "the script ended with exit code"


class RecordError(ForetrainError):
    """A script that cannot be recorded; the text says where and what to do."""


class Refused(BaseException):
    """Raised in the script where it cannot go on; no `except Exception` of the script catches it."""


@dataclass
class Session:
    """One pretend rank while it runs."""

    rank: int
    world: int
    local: int
    per_node: int
    steps: int
    launcher: str = ""
    guesses: Counter = field(default_factory=Counter)
    notes: List[str] = field(default_factory=list)
    frameworks: List[str] = field(default_factory=list)
    scratch: str = ""
    #: Real tensors stay real while data is loaded.
    loading: int = 0
    on: bool = False
    answers: Dict[str, Any] = field(default_factory=dict)
    #: Whether a backward pass has begun.
    trained: Callable[[], bool] = lambda: False
    #: Called with the command line and the environment of a process that the script would start.
    starts: Optional[Callable[[List[str], Dict[str, str]], None]] = None
    _said: Set[str] = field(default_factory=set)

    def guess(self, what: str) -> None:
        """Counts a value that was made up for the line of the script that asked for it."""
        asked = (what, user_place() or "a library")
        self.guesses[asked] += 1
        if self.guesses[asked] > MOST_GUESSES:
            refuse(
                f"the script loops on a value that is not there: {what}, {MOST_GUESSES} times",
                "give the loop a bound that does not depend on computed values",
            )

    def note(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            self.notes.append(sentence)

    def uses(self, framework: str) -> None:
        if framework not in self.frameworks:
            self.frameworks.append(framework)

    def guessed(self) -> List[str]:
        """The guesses as sentences."""
        made = []
        for (what, place), count in sorted(self.guesses.items(), key=lambda one: -one[1]):
            often = "once" if count == 1 else f"{count} times"
            made.append(f"{what} at {place} ({often}).")
        return made


def user_frame() -> Optional[Any]:
    """The innermost frame of the user's code, or None."""
    frame: Optional[Any] = sys._getframe(1)
    while frame is not None:
        if not is_library(frame.f_code.co_filename):
            return frame
        frame = frame.f_back
    return None


def user_place() -> Optional[str]:
    """`train.py:88` of the innermost frame of the user's code, else of a library on top of torch."""
    frame = user_frame()
    if frame is not None:
        return f"{os.path.relpath(frame.f_code.co_filename)}:{frame.f_lineno}"
    other: Optional[Any] = sys._getframe(1)
    while other is not None:
        path = other.f_code.co_filename
        if "-packages" in path and os.sep + "torch" + os.sep not in path:
            short = path.rsplit("-packages" + os.sep, 1)[1]
            if short.split(os.sep)[0] not in ("foretrain", "numpy", "torchvision"):
                return f"{short}:{other.f_lineno}"
        other = other.f_back
    return None


def refuse(sentence: str, hint: str) -> NoReturn:
    """Ends the recording with the user's line, the reason and what to do."""
    place = user_place()
    at = f"{place}: " if place else ""
    raise Refused(f"{at}{sentence}\n  hint: {hint}")
