"""The simulator in this process: libforetrain.so through ctypes, or else the program as a process of its own."""
from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path
from typing import List, NamedTuple, Optional, Sequence

from .errors import ForetrainError

_PACKAGE = Path(__file__).resolve().parent
_TOP = _PACKAGE.parents[1]
#: In a wheel; it says what it needs of a system that has it not.
_PACKED = _PACKAGE / "program"


class Ran(NamedTuple):
    """What a command came to: 0 ok, 1 wrong input, 2 wrong usage, 3 environment error, 130 interrupted."""

    exit_code: int
    output: str
    messages: str


def _is_this_package(path: str) -> bool:
    """Whether a program is the script that pip made of this package, which would only come back here."""
    with open(path, "rb") as file:
        begin = file.read(4096)
    return begin.startswith(b"#!") and b"foretrain.__main__" in begin


def find_program() -> str:
    """The program: $FORETRAIN, the one in this package, PATH, or build/release or build/dev of the checkout
    that this package lies in."""
    named = os.environ.get("FORETRAIN")
    if named:
        if not os.access(named, os.X_OK) or os.path.isdir(named):
            raise ForetrainError(f"FORETRAIN={named}: no program\n  hint: the path of the foretrain binary")
        return named
    on_path = shutil.which("foretrain")
    if on_path is not None and _is_this_package(on_path):
        on_path = None
    built = [_TOP / "build/release/foretrain", _TOP / "build/dev/foretrain"]
    for place in [_PACKED / "bin/foretrain", on_path, *built]:
        if place is not None and os.access(place, os.X_OK):
            return str(place)
    raise ForetrainError(
        "the program foretrain is not there\n  hint: put it on PATH, set FORETRAIN to its path, "
        "or build it: make build"
    )


def find_library() -> Optional[str]:
    """libforetrain.so: $FORETRAIN_LIBRARY, or the one in this package. None: the program is asked instead, as with
    $FORETRAIN."""
    named = os.environ.get("FORETRAIN_LIBRARY")
    if named:
        return named
    packed = _PACKED / "lib/libforetrain.so"
    return str(packed) if not os.environ.get("FORETRAIN") and packed.is_file() else None


class Library:
    """The functions of sim/app/library/foretrain.h. Threads may call at the same time: each call lets go of the
    interpreter's lock while the simulator works."""

    def __init__(self, path: str) -> None:
        try:
            self._functions = ctypes.CDLL(path)
        except OSError as error:
            raise ForetrainError(
                f"{path} cannot be loaded: {error}\n  hint: a wheel for this system: pip wheel ./python in a checkout"
            ) from error
        at, size = ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)
        for name, given, returned in (
            ("run", [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)], at),
            ("exit_code", [at], ctypes.c_int),
            ("output", [at, size], at),
            ("messages", [at, size], at),
            ("free", [at], None),
            ("version", [], ctypes.c_char_p),
        ):
            function = getattr(self._functions, f"foretrain_{name}")
            function.argtypes, function.restype = given, returned

    @property
    def version(self) -> str:
        return str(self._functions.foretrain_version().decode())

    def _text(self, of: str, result: int) -> str:
        size = ctypes.c_size_t()
        begin = getattr(self._functions, f"foretrain_{of}")(result, ctypes.byref(size))
        return ctypes.string_at(begin, size.value).decode("utf-8", "replace")

    def run(self, arguments: Sequence[str]) -> Ran:
        words = [os.fsencode(word) for word in arguments]
        if any(b"\0" in word for word in words):
            raise ForetrainError("an argument holds a NUL character")
        result = self._functions.foretrain_run(len(words), (ctypes.c_char_p * len(words))(*words))
        if not result:
            raise MemoryError("foretrain: out of memory")
        try:
            code = self._functions.foretrain_exit_code(result)
            return Ran(code, self._text("output", result), self._text("messages", result))
        finally:
            self._functions.foretrain_free(result)


_opened: List[Library] = []


def library() -> Optional[Library]:
    """The library, loaded once; None where there is none."""
    path = find_library()
    if path is None:
        return None
    if not _opened:
        _opened.append(Library(path))
    return _opened[0]


def run(arguments: Sequence[str], timeout_s: Optional[float] = None) -> Ran:
    """Carries out a command line, as ["predict", "mahti-resnet50-ddp"]: in this process, or by the program where there is no
    library. With a limit of time it is the program's process that is ended. KeyboardInterrupt where the command was
    interrupted; everything else that goes wrong is in the exit code and the messages."""
    words = [str(word) for word in arguments]
    in_process = library() if timeout_s is None else None
    done = in_process.run(words) if in_process is not None else _run_program(words, timeout_s)
    if done.exit_code == 130:
        raise KeyboardInterrupt(done.messages.strip())
    return done


def _run_program(words: List[str], timeout_s: Optional[float]) -> Ran:
    command = [find_program(), *words]
    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired as error:
        raise ForetrainError(f"foretrain {words[0] if words else ''} took longer than {timeout_s} s") from error
    except (OSError, ValueError) as error:
        raise ForetrainError(f"{command[0]}: {getattr(error, 'strerror', error)}") from error
    return Ran(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
