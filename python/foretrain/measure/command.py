"""The command line: `measure about`, `steps`, `kernels` and `capture`, as `calibrate machine` starts them."""
from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any, Dict, List, Optional

from ..errors import CaptureError, ForetrainError


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="foretrain measure", description="Measures training steps on this machine.")
    commands = made.add_subparsers(dest="command", required=True)
    about = commands.add_parser("about", help="write what this machine is")
    about.add_argument("-o", "--out", required=True, help="the JSON file to write")
    steps = commands.add_parser("steps", help="measure training steps")
    kernels = commands.add_parser("kernels", help="write kernels.jsonl: what the profiler's traces say")
    capture = commands.add_parser("capture", help="record the networks that were measured as model files")
    for command in (steps, kernels, capture):
        command.add_argument("--folder", required=True, help="where results go")
        command.add_argument("--budget", type=float, default=240.0, help="seconds (240)")
    steps.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    steps.add_argument("--networks", default="", help="only these, with commas")
    steps.add_argument("--size", choices=["full", "small"], help="small: the networks of tests (default on a CPU)")
    steps.add_argument("--loader", type=float, help="of the budget, seconds for the DataLoader (a thirtieth)")
    steps.add_argument("--traces", action="store_true", help="profile a step of each network")
    return made


def _steps(options: argparse.Namespace) -> None:
    # Only the processes that measure hold a context on the GPU: this one asks the driver's library.
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    import torch

    from .supervisor import Journal, Run
    from .worker import rows_of

    if options.device == "cuda" and not torch.cuda.is_available():
        raise ForetrainError(
            "PyTorch sees no GPU here\n  hint: it is built for the CPU, or the driver is older than its CUDA; --device cpu"
            " measures the CPU"
        )
    small = (options.size or ("small" if options.device == "cpu" else "full")) == "small"
    chosen = [name for name in options.networks.split(",") if name]
    known = [row.name for row in rows_of(small)]
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise ForetrainError(f"no network {unknown[0]!r}\n  hint: one of {', '.join(sorted(set(known)))}")
    loader_s = options.budget / 30 if options.loader is None else options.loader
    run = Run(options.folder, options.device, small, chosen, options.traces)
    count = run.measure(options.budget - loader_s)
    print(f"{count} configurations measured")
    if loader_s > 0 and not os.path.exists(os.path.join(options.folder, "loader.jsonl")):
        from .loader import rates

        journal = Journal(os.path.join(options.folder, "loader.jsonl"))
        for row in rates(loader_s):
            journal.add(row)
            print(f"DataLoader, {row['workers']} workers: {row['images_per_s']:.0f} images/s")


def _about(options: argparse.Namespace) -> None:
    from .about import about
    from .supervisor import write_whole

    write_whole(options.out, json.dumps(about(), indent=1) + "\n")


def _kernels(options: argparse.Namespace) -> None:
    from .supervisor import summarize_traces

    summarize_traces(options.folder)


def _capture(options: argparse.Namespace) -> None:
    from .captures import captured

    captured(options.folder, options.budget)


def main(arguments: Optional[List[str]] = None) -> int:
    """Exit code 0, 1 with the reason on standard error, 3 where a file cannot be written."""
    options = parser().parse_args(arguments)
    actions = {"about": _about, "steps": _steps, "kernels": _kernels, "capture": _capture}
    try:
        actions[options.command](options)
    except (ForetrainError, CaptureError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        print("error: this Python has no PyTorch\n  hint: FORETRAIN_PYTHON names the Python of your trainings", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error.filename or getattr(options, 'folder', '')}: {error.strerror}", file=sys.stderr)
        return 3
    return 0
