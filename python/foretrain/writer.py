"""The model file: `[recorded]` with inline rows, written under a temporary name and renamed."""
from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, Dict, List, Optional, Sequence


def text(value: str) -> str:
    """A TOML basic string."""
    made = []
    for letter in value:
        if letter in '"\\':
            made.append("\\" + letter)
        elif ord(letter) < 32 or ord(letter) == 127:
            made.append(f"\\u{ord(letter):04x}")
        else:
            made.append(letter)
    return '"' + "".join(made) + '"'


def value(one: Any) -> str:
    """A TOML value: bool, int, float, string, list or inline table."""
    if isinstance(one, bool):
        return "true" if one else "false"
    if isinstance(one, int):
        return str(one)
    if isinstance(one, float):
        if one != one or one in (float("inf"), float("-inf")):
            return "nan" if one != one else ("inf" if one > 0 else "-inf")
        written = repr(one)
        return written if any(c in written for c in ".e") else written + ".0"
    if isinstance(one, (list, tuple)):
        return "[" + ", ".join(value(v) for v in one) + "]"
    if isinstance(one, dict):
        return "{ " + ", ".join(f"{k} = {value(v)}" for k, v in one.items()) + " }"
    return text(str(one))


def rows(name: str, entries: Sequence[Dict[str, Any]]) -> List[str]:
    """An array of inline tables, one a line."""
    if not entries:
        return [f"{name} = []"]
    return [f"{name} = ["] + [f"  {value(e)}," for e in entries] + ["]"]


def write_whole(path: str, content: str, check: Optional[Callable[[str], None]] = None) -> None:
    """The file is there whole, or not at all; not, where `check` raises on it."""
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(prefix="." + os.path.basename(path), suffix=".toml", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(content)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        if check is not None:
            check(temporary)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
