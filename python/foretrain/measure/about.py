"""What this machine is: versions of the software and the GPU, without names of people, hosts or paths."""
from __future__ import annotations

import os
import platform
import subprocess
from typing import Any, Dict, Optional


def _driver() -> Optional[str]:
    try:
        told = subprocess.run(
            ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
            capture_output=True, text=True, timeout=20, check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return told.stdout.strip().splitlines()[0] if told.returncode == 0 and told.stdout.strip() else None


def _cpu() -> Optional[str]:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or None


def about() -> Dict[str, Any]:
    """The object of about.json; what cannot be found is null."""
    told: Dict[str, Any] = {
        "python": platform.python_version(), "system": platform.system() + " " + platform.release(), "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)), "driver": _driver(), "torch": None, "cuda": None, "cudnn": None,
        "nccl": None, "gpu": None, "gpus": 0, "memory_bytes": None, "capability": None, "device": "cpu",
        "transformers": None, "torchvision": None,
    }
    try:
        import torch
    except ImportError:
        return told
    told.update(torch=str(torch.__version__), cuda=torch.version.cuda, cudnn=torch.backends.cudnn.version())
    for package in ("transformers", "torchvision"):
        try:
            from importlib.metadata import version

            told[package] = version(package)
        except Exception:
            pass
    if torch.cuda.is_available():
        one = torch.cuda.get_device_properties(0)
        told.update(gpu=one.name, gpus=torch.cuda.device_count(), memory_bytes=one.total_memory, device="cuda",
                    capability=f"{one.major}.{one.minor}", processors=one.multi_processor_count)
        try:
            told["nccl"] = ".".join(map(str, torch.cuda.nccl.version()))
        except Exception:
            pass
    return told
