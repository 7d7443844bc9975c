"""Traces of single training steps, and what they say: seconds on the GPU by operator, shapes and kernel.

PyTorch writes a trace in a second; its operators are found in it later, without the GPU.
"""
from __future__ import annotations

import gzip
import json
import os
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Tuple

#: Rows that are kept of a trace, by GPU time.
_MOST_ROWS = 250
_LONGEST_TEXT = 200
#: A trace that is larger is not read, bytes.
_LARGEST_TRACE = 1 << 30

#: What part of an operator's or kernel's name says its kind; the first that is found.
_KINDS: Tuple[Tuple[str, Tuple[str, ...]], ...] = (
    ("optimizer", ("_foreach", "_fused_adam", "_fused_sgd", "adam", "multi_tensor_apply", "_amp_")),
    ("attention", ("attention", "flash", "fmha")),
    ("convolution", ("conv", "cudnn::cnn", "wgrad", "dgrad", "xmma_fprop")),
    ("normalization", ("norm",)),
    ("matrix_product", ("addmm", "bmm", "mm", "linear", "gemm", "matmul", "nvjet")),
    ("recurrent", ("lstm", "rnn", "gru")),
    ("pooling", ("pool",)),
    ("softmax_and_loss", ("softmax", "nll_loss", "cross_entropy")),
    ("embedding", ("embedding", "index", "gather", "scatter")),
    ("copy", ("copy", "memcpy", "memset", "clone", "fill", "zero", "cat", "transpose")),
    ("reduction", ("sum", "mean", "reduce")),
)


def kind_of(operator: str, kernel: str) -> str:
    """The kind of an operator, by its name first; pointwise where nothing says more."""
    for text in (operator.lower(), kernel.lower()):
        for kind, parts in _KINDS:
            if any(part in text for part in parts):
                return kind
    return "pointwise"


def traced(step: Any, path: str) -> None:
    """Profiles one step and writes the profiler's trace to `path`, which ends in .json.gz."""
    from torch.profiler import ProfilerActivity, profile

    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if step.device == "cuda" else [])
    step()
    step.sync()
    with profile(activities=activities, record_shapes=True) as prof:
        step()
        step.sync()
    prof.export_chrome_trace(path + ".part.json.gz")
    os.replace(path + ".part.json.gz", path)


def read_trace(path: str) -> List[Dict[str, Any]]:
    """The events of a trace. ValueError where it is no trace, or too large."""
    with gzip.open(path, "rb") as file:
        content = file.read(_LARGEST_TRACE + 1)
    if len(content) > _LARGEST_TRACE:
        raise ValueError(f"{os.path.basename(path)}: larger than {_LARGEST_TRACE >> 30} GiB")
    told = json.loads(content)
    events = told.get("traceEvents") if isinstance(told, dict) else told  # PyTorch 1.13 on a CPU: the list alone
    if not isinstance(events, list):
        raise ValueError(f"{os.path.basename(path)}: no trace of PyTorch's profiler")
    return [event for event in events if isinstance(event, dict)]


def kernels_of(events: Iterable[Dict[str, Any]]) -> Tuple[List[Dict[str, Any]], Dict[str, Any]]:
    """Rows of kernels.jsonl, largest first, and their sums. Without kernels (a CPU): operators by their own time."""
    operators: Dict[int, _Operator] = {}
    kernels: List[Dict[str, Any]] = []
    optimizer: List[Tuple[float, float]] = []
    launches = 0
    for event in events:
        category, name = event.get("cat"), str(event.get("name"))
        begin, seconds = float(event.get("ts", 0.0)), float(event.get("dur", 0.0)) * 1e-6
        if name.startswith("Optimizer.step"):
            optimizer.append((begin, begin + seconds * 1e6))
        elif category == "cpu_op" or event.get("pid") == "CPU functions":
            more = _more(event)
            shapes = json.dumps(more.get("Input Dims", []))[:_LONGEST_TEXT]
            number = more.get("External id", -len(operators) - 2)
            operators[number] = _Operator(name, shapes, str(event.get("tid")), begin, seconds)
        elif category in ("kernel", "gpu_memcpy", "gpu_memset"):
            kernels.append(event)
        elif category in ("cuda_runtime", "cuda_driver") and "Launch" in name:
            launches += 1
    for operator in operators.values():
        operator.updates = any(begin <= operator.begin <= end for begin, end in optimizer)
    rows: Dict[Tuple[str, str, str, str], List[float]] = {}
    if not kernels:
        for operator, own_s in _own_times(list(operators.values())):
            _count(rows, operator, "", own_s)
        return _sorted(rows, "host_s"), {"launches": None, "gpu_busy_s": None}
    busy = 0.0
    unknown = _Operator("", "", "", 0.0, 0.0)
    for event in kernels:
        seconds = float(event.get("dur", 0.0)) * 1e-6
        operator = operators.get(_more(event).get("External id", -1), unknown)
        _count(rows, operator, str(event.get("name"))[:_LONGEST_TEXT], seconds)
        busy += seconds
    return _sorted(rows, "gpu_s"), {"launches": launches, "gpu_busy_s": busy}


@dataclass
class _Operator:
    name: str
    shapes: str
    thread: str
    begin: float  #: microseconds
    seconds: float
    updates: bool = False  #: inside the optimizer's step


def _more(event: Dict[str, Any]) -> Dict[str, Any]:
    more = event.get("args")
    return more if isinstance(more, dict) else {}


def _count(rows: Dict[Tuple[str, str, str, str], List[float]], operator: _Operator, kernel: str, seconds: float) -> None:
    kind = "optimizer" if operator.updates else kind_of(operator.name, kernel)
    row = rows.setdefault((operator.name, kind, operator.shapes, kernel), [0, 0.0])
    row[0] += 1
    row[1] += seconds


def _own_times(operators: List[_Operator]) -> List[Tuple[_Operator, float]]:
    """Each operator with its time less that of the operators directly inside it, seconds."""
    order = sorted(operators, key=lambda one: (one.thread, one.begin, -one.seconds))
    own = {id(one): one.seconds for one in order}
    around: List[_Operator] = []
    for one in order:
        while around and (around[-1].thread != one.thread or around[-1].begin + around[-1].seconds * 1e6 <= one.begin):
            around.pop()
        if around:
            own[id(around[-1])] -= one.seconds
        around.append(one)
    return [(one, max(0.0, own[id(one)])) for one in order]


def _sorted(rows: Dict[Tuple[str, str, str, str], List[float]], unit: str) -> List[Dict[str, Any]]:
    made = [
        {"op": op, "kind": kind, "shapes": shapes, "kernel": kernel, "calls": int(calls),
         "gpu_s": seconds if unit == "gpu_s" else None, "host_s": seconds if unit == "host_s" else None}
        for (op, kind, shapes, kernel), (calls, seconds) in rows.items()
    ]
    made.sort(key=lambda row: -row[unit])
    return made[:_MOST_ROWS]
