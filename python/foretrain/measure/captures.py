"""Records each measured network as a model file, under the precisions in which it was measured."""
from __future__ import annotations

import concurrent.futures
import contextlib
import json
import os
import subprocess
import sys
import time
from typing import Any, Dict, List, Tuple

from .networks import Network
from .supervisor import Journal
from .worker import rows_of

#: Whether operators run in half precision is recorded; TF32 is the machine's affair.
_AUTOCAST = {"amp_fp16": "float16", "bf16": "bfloat16"}


def model_file(network: str, precision: str) -> str:
    """The file that a step of that precision is predicted from, inside networks/."""
    suffix = {"amp_fp16": "_amp_fp16", "bf16": "_amp_bf16", "pure_bf16": "_bf16"}.get(precision, "")
    return f"{network}{suffix}.toml"


def record(network: Network, precision: str, batch: int, path: str) -> None:
    """Records one step; from PyTorch 2.0 on without data: no GPU, and no memory for the weights."""
    import torch

    from ..known import KNOWS_VALUES
    from ..making import made_without_data
    from ..recording import capture

    with made_without_data() if KNOWS_VALUES else contextlib.nullcontext():
        model, make_batch, loss = network.make()
        if precision == "pure_bf16":
            model = model.to(torch.bfloat16)
        values = make_batch(batch)
        if precision == "pure_bf16":
            from ..batches import map_tensors

            values = map_tensors(values, lambda t: t.to(torch.bfloat16) if t.is_floating_point() else t)
    name = os.path.basename(path)[: -len(".toml")]
    capture(model.train(), values, loss, path, name=name, optimizer=network.optimizer,
            autocast=_AUTOCAST.get(precision), fake=True if KNOWS_VALUES else None)


def wanted(folder: str) -> List[Tuple[str, str, int]]:
    """Network, precision and batch of each model file that steps.jsonl asks for and that is not there."""
    files: Dict[str, Tuple[str, str, int]] = {}
    for row in Journal(os.path.join(folder, "steps.jsonl")).rows:
        name = model_file(row["network"], row["precision"])
        if not os.path.exists(os.path.join(folder, "networks", name)):
            files.setdefault(name, (row["network"], row["precision"], max(2, int(row["batch"]))))
    return list(files.values())


def captured(folder: str, budget_s: float) -> None:
    """Records all that are wanted, a process each, as many at once as there are cores."""
    os.makedirs(os.path.join(folder, "networks"), exist_ok=True)
    until = time.monotonic() + budget_s
    todo = wanted(folder)
    workers = max(1, min(8, (os.cpu_count() or 2) // 2))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for (name, precision, _), why in zip(todo, pool.map(lambda one: _in_process(folder, one, until), todo)):
            if why:
                print(f"{model_file(name, precision)}: {why}", flush=True)


def _in_process(folder: str, one: Tuple[str, str, int], until: float) -> str:
    """Why it could not be recorded; empty where it was."""
    left = until - time.monotonic()
    if left < 1.0:
        return "left out: the time is over"
    name, precision, batch = one
    path = os.path.join(folder, "networks", model_file(name, precision))
    command = [sys.executable, "-m", "foretrain.measure.captures", name, precision, str(batch), path]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=left, check=False)
    except subprocess.TimeoutExpired:
        return "left out: the time is over"
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return "" if done.returncode == 0 else (lines[-1][:200] if lines else f"ended with exit code {done.returncode}")


def main(arguments: List[str]) -> int:
    name, precision, batch, path = arguments
    row = next(row for small in (False, True) for row in rows_of(small) if row.name == name)
    record(row, precision, int(batch), path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
