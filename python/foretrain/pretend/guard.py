"""The compiled helper by which autograd runs on tensors of a GPU that is not there; loaded before torch."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from typing import Any, List, Optional

from .session import RecordError

_SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cuda_guard.cpp")
_END = ".dylib" if sys.platform == "darwin" else ".so"
_LOADED: List[Any] = []


#: What the fake process group and the modes of tensors need.
OLDEST = (2, 4)


def _top() -> str:
    """The folder of a PyTorch that can be recorded with."""
    needs = f"record needs PyTorch {OLDEST[0]}.{OLDEST[1]} or newer"
    hint = "\n  hint: run it in the environment of the training"
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise RecordError(f"{needs}, and there is none{hint}")
    top = os.path.dirname(spec.origin)
    with open(os.path.join(top, "version.py"), encoding="utf-8") as file:
        found = re.search(r"__version__\s*=\s*['\"](\d+)\.(\d+)", file.read())
    if found and (int(found[1]), int(found[2])) < OLDEST:
        raise RecordError(f"{needs}, this is {found[1]}.{found[2]}{hint}")
    return top


def _compiler() -> Optional[str]:
    return os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")


def _old_names(library: str) -> bool:
    """Whether a library was built with the C++ names of before 2015, as PyTorch's wheels until 2.5."""
    with open(library, "rb") as file:
        return b"_ZN3c106detail14torchCheckFailEPKcS2_jRKSs" in file.read()


def preload(scratch: str, devices: int) -> None:
    """Compiles the helper into `scratch` and puts its hooks where torch will look for those of CUDA."""
    os.environ["FORETRAIN_DEVICES"] = str(max(devices, 1))
    compiler, top = _compiler(), _top()
    if compiler is None or sys.platform == "win32":
        return
    libraries = os.path.join(top, "lib")
    made = os.path.join(scratch, "cuda_guard" + _END)
    names = int(not _old_names(os.path.join(libraries, "libc10" + _END)))
    said: List[str] = []
    for standard in ("c++20", "c++17"):
        done = subprocess.run(
            [compiler, "-O0", "-w", f"-std={standard}", "-fPIC", "-shared", f"-I{top}/include"]
            + [f"-D_GLIBCXX_USE_CXX11_ABI={names}", _SOURCE, "-o", made]
            + [f"-L{libraries}", "-ltorch_cpu", "-lc10"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            break
        said = [line for line in done.stderr.splitlines() if "error" in line] or ["no word"]
    else:
        print(f"{compiler} could not compile {_SOURCE}: {said[0]}", file=sys.stderr)
        return
    for name in ("libc10", "libtorch_cpu"):
        _LOADED.append(ctypes.CDLL(os.path.join(libraries, name + _END)))
    helper = ctypes.CDLL(made)
    helper.foretrain_hook_cuda()
    _LOADED.append(helper)


def install() -> None:
    """After torch is there: its guard of CUDA is the helper's; without a helper that of a CPU build."""
    import torch

    if _LOADED:
        _LOADED[-1].foretrain_show_cuda()
        if hasattr(torch._C, "_ensureCUDADeviceGuardSet"):
            torch._C._ensureCUDADeviceGuardSet = lambda: None  # type: ignore
        return
    if torch.version.cuda is None and hasattr(torch._C, "_ensureCUDADeviceGuardSet"):
        torch._C._ensureCUDADeviceGuardSet()
        return
    raise RecordError(
        f"PyTorch {torch.__version__} cannot show a GPU without a C++ compiler\n"
        "  hint: install g++ or clang++, or PyTorch 2.10 or newer for the CPU, which needs none"
    )
