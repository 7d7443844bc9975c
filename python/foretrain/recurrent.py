"""Recurrent layers as CUDA runs them: one operator over all layers and time steps, or one a cell; a CPU takes
dozens of small ones."""
from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple

import torch

from .recorder import Operator, Recorder, tensors_in
from .sizes import size_of

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


class _OneOperator(torch.autograd.Function):
    """An operator that is recorded, not run: results of the right sizes forward, gradients of the inputs'
    sizes backward."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any,
        recorder: Recorder,
        names: Tuple[str, str],
        settings: Dict[str, Any],  # type: ignore[override]
        results: Sequence[Tuple[int, ...]],
        kept: Sequence[Tuple[int, ...]],
        *inputs: torch.Tensor,
    ) -> Any:
        # States come last, as in aten::_cudnn_rnn: autograd hands on gradients in the order of the arguments.
        like = inputs[0]
        ctx.set_materialize_grads(False)
        recorder.silent += 1
        try:
            outputs = tuple(like.new_zeros(shape) for shape in results)
            workspace = tuple(like.new_zeros(shape) for shape in kept)
        finally:
            recorder.silent -= 1
        everything = outputs + workspace
        recorder.add(
            Operator(
                names[0],
                "",
                tuple(size_of(t) for t in inputs),
                tuple(size_of(t) for t in everything),
                dict(settings),
            ),
            everything,
        )
        ctx.save_for_backward(*inputs, *outputs, *workspace)
        ctx.of_recorder, ctx.of_backward, ctx.of_settings, ctx.of_inputs = (
            recorder,
            names[1],
            dict(settings),
            len(inputs),
        )
        ctx.mark_non_differentiable(*workspace)
        return everything

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        recorder = ctx.of_recorder
        saved = ctx.saved_tensors
        needs = ctx.needs_input_grad[5:]
        recorder.silent += 1
        try:
            results = [
                torch.zeros_like(t) if need else None for t, need in zip(saved[: ctx.of_inputs], needs)
            ]
        finally:
            recorder.silent -= 1
        given = [g for g in grads if g is not None]
        made = [r for r in results if r is not None]
        recorder.add(
            Operator(
                ctx.of_backward,
                "",
                tuple(size_of(t) for t in list(saved) + given),
                tuple(size_of(t) for t in made),
                ctx.of_settings,
            ),
            made,
        )
        return (None, None, None, None, None, *results)


def run_recurrent(recorder: Recorder, name: str, args: Sequence[Any]) -> Any:
    """torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu with all their arguments, packed sequences
    too."""
    packed = isinstance(args[1], torch.Tensor) and isinstance(args[3], (list, tuple))
    if packed:
        data, _, state, weights, biases, layers, dropout, training, both = args
        batch_first = False
    else:
        data, state, weights, biases, layers, dropout, training, both, batch_first = args
    states = list(tensors_in(state))
    directions = 2 if both else 1
    hidden = states[0].shape[-1]
    shape = tuple(data.shape[:-1]) + (
        states[-1 if name == "lstm" and len(states) == 1 else 0].shape[-1] * directions,
    )
    cell = states[1].shape[-1] if name == "lstm" else hidden
    gates, keeps = RECURRENT[name]
    steps = 1
    for size in data.shape[:-1]:
        steps *= int(size)
    results = [shape] + [tuple(s.shape) for s in states]
    kept = [(layers * directions, steps, keeps * cell)] if keeps and training else []
    if layers > 1 and training:
        mask = shape[-1] // 4 if dropout > 0 else 0  # a byte each
        kept.append((layers - 1, steps, shape[-1] + mask))
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
    tensors = [data, *weights, *states]
    out = _OneOperator.apply(
        recorder, ("aten::_cudnn_rnn", "aten::_cudnn_rnn_backward"), settings, results, kept, *tensors
    )
    return tuple(out[: len(results)])


def run_cell(recorder: Recorder, name: str, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
    """torch.lstm_cell and torch.gru_cell: two products, then CUDA's fused gates."""
    names = ["input", "hx", "w_ih", "w_hh", "b_ih", "b_hh"]
    given = dict(zip(names, args))
    given.update(kwargs)
    data, state = given["input"], given["hx"]
    hidden = list(tensors_in(state))
    left = torch.matmul(data, given["w_ih"].t())
    right = torch.matmul(hidden[0], given["w_hh"].t())
    fused, gates, keeps = CELLS[name]
    tensors: List[torch.Tensor] = [left, right, hidden[-1]]
    tensors += [given[b] for b in ("b_ih", "b_hh") if given.get(b) is not None]
    kept = [(data.shape[0], keeps * hidden[0].shape[-1])]
    out = _OneOperator.apply(
        recorder,
        (f"aten::{fused}", f"aten::{fused}_backward"),
        {"gates": gates},
        [tuple(h.shape) for h in hidden],
        kept,
        *tensors,
    )
    return tuple(out[:2]) if name == "lstm_cell" else out[0]
