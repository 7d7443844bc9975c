"""Recurrent layers as CUDA runs them: one operator over all layers and time steps, or one a cell; a CPU takes
dozens of small ones."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Sequence, Tuple

import torch

from .fused import FusedCall, Made
from .recorder import Recorder, tensors_in

#: Functions over a sequence: gates of a step, and what cuDNN keeps of a step for backward, in hidden sizes
#: (gates, state, its tanh).
RECURRENT: Dict[str, Tuple[int, int]] = {
    "lstm": (4, 6),
    "gru": (3, 4),
    "rnn_tanh": (1, 0),
    "rnn_relu": (1, 0),
}
#: Functions of a single step: CUDA's operator, if it is a fused one, with its gates and workspace in hidden
#: sizes.
CELLS: Dict[str, Tuple[str, int, int]] = {
    "lstm_cell": ("_thnn_fused_lstm_cell", 4, 4),
    "gru_cell": ("_thnn_fused_gru_cell", 3, 5),
}


def run_recurrent(recorder: Recorder, func: Callable[..., Any], name: str, args: Sequence[Any]) -> Any:
    """torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu with all their arguments, packed sequences
    too."""
    packed = isinstance(args[1], torch.Tensor) and isinstance(args[3], (list, tuple))
    if packed:
        data, _, state, weights, biases, layers, dropout, training, both = args
        batch_first = False
    else:
        data, state, weights, biases, layers, dropout, training, both, batch_first = args
    states = list(tensors_in(state))
    hidden, cell = states[0].shape[-1], states[-1].shape[-1]  # they differ with proj_size
    directions = 2 if both else 1
    gates, keeps = RECURRENT[name]
    steps = data.numel() // max(1, data.shape[-1])
    width = hidden * directions
    results: List[Made] = [(tuple(data.shape[:-1]) + (width,), None)]
    results += [(tuple(s.shape), None) for s in states]
    kept: List[Made] = [((layers * directions, steps, keeps * cell), None)] if keeps and training else []
    if layers > 1 and training:
        mask = width // 4 if dropout > 0 else 0  # a byte each
        kept.append(((layers - 1, steps, width + mask), None))
    settings = {
        "mode": name,
        "num_layers": int(layers),
        "bidirectional": bool(both),
        "batch_first": bool(batch_first),
        "has_biases": bool(biases),
        "dropout": float(dropout),
        "gates": gates,
        "hidden": int(cell),
    }
    call = FusedCall(recorder, "_cudnn_rnn", settings, results, kept, lambda: func(*args))
    return call([data, *weights, *states])


def run_cell(
    recorder: Recorder, func: Callable[..., Any], name: str, args: Sequence[Any], kwargs: Dict[str, Any]
) -> Any:
    """torch.lstm_cell and torch.gru_cell: two products, then CUDA's fused gates."""
    given = dict(zip(["input", "hx", "w_ih", "w_hh", "b_ih", "b_hh"], args))
    given.update(kwargs)
    hidden = list(tensors_in(given["hx"]))
    tensors = [
        torch.matmul(given["input"], given["w_ih"].t()),
        torch.matmul(hidden[0], given["w_hh"].t()),
        hidden[-1],
    ]
    tensors += [given[b] for b in ("b_ih", "b_hh") if given.get(b) is not None]
    fused, gates, keeps = CELLS[name]
    results: List[Made] = [(tuple(h.shape), None) for h in hidden]
    kept: List[Made] = [((given["input"].shape[0], keeps * hidden[0].shape[-1]), None)]
    call = FusedCall(recorder, fused, {"gates": gates}, results, kept, lambda: func(*args, **kwargs))
    out = call(tensors)
    return out if name == "lstm_cell" else out[0]
