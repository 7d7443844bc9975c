"""Operators that CUDA has and a CPU takes apart: written down as the one that CUDA runs."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch

from .recorder import Operator, Recorder, tensors_in
from .sizes import size_of

#: A tensor to make: its shape, and its type where that is not the first input's.
Made = Tuple[Tuple[int, ...], Optional[torch.dtype]]


class _Fused(torch.autograd.Function):
    """Records one operator forward and one backward. Results have the right sizes, and values where the
    step runs
    for real; gradients have the inputs' sizes, in the order of the arguments, as autograd hands them on."""

    @staticmethod
    def forward(ctx: Any, call: "FusedCall", *inputs: torch.Tensor) -> Any:  # type: ignore[override]
        ctx.set_materialize_grads(False)
        recorder = call.recorder
        recorder.silent += 1
        try:
            outputs = call.values()
            if outputs is None:
                outputs = tuple(inputs[0].new_zeros(s, dtype=t or inputs[0].dtype) for s, t in call.results)
            workspace = tuple(inputs[0].new_zeros(s, dtype=t or inputs[0].dtype) for s, t in call.kept)
        finally:
            recorder.silent -= 1
        made = outputs + workspace
        sizes = tuple(size_of(t) for t in inputs), tuple(size_of(t) for t in made)
        recorder.add(Operator(call.forward, "", *sizes, dict(call.settings)), made)
        ctx.save_for_backward(*inputs, *made)
        ctx.of_call, ctx.of_inputs = call, len(inputs)
        ctx.mark_non_differentiable(*workspace)
        return made

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        call, saved = ctx.of_call, ctx.saved_tensors
        call.recorder.silent += 1
        try:
            wanted = zip(saved[: ctx.of_inputs], ctx.needs_input_grad[1:])
            results = [torch.zeros_like(t) if needs else None for t, needs in wanted]
        finally:
            call.recorder.silent -= 1
        given = [g for g in grads if g is not None]
        taken = given + list(saved) if call.gradients_first else list(saved) + given
        made = [r for r in results if r is not None]
        sizes = tuple(size_of(t) for t in taken), tuple(size_of(t) for t in made)
        call.recorder.add(Operator(call.backward, "", *sizes, dict(call.settings)), made)
        return (None, *results)


class FusedCall:
    """One call: the operators' names, what comes out, what is kept besides for backward; `run` computes
    for real."""

    def __init__(
        self,
        recorder: Recorder,
        forward: str,
        settings: Dict[str, Any],
        results: Sequence[Made],
        kept: Sequence[Made],
        run: Callable[[], Any],
        gradients_first: bool = False,
    ) -> None:
        self.recorder, self.settings, self.results, self.kept = recorder, settings, results, kept
        self.forward, self.backward = f"aten::{forward}", f"aten::{forward}_backward"
        self.gradients_first = gradients_first
        self._run = run

    def values(self) -> Optional[Tuple[torch.Tensor, ...]]:
        """The results where tensors have data."""
        if self.recorder.fake is not None:
            return None
        return tuple(tensors_in(self._run()))

    def __call__(self, tensors: List[torch.Tensor]) -> Tuple[torch.Tensor, ...]:
        return tuple(_Fused.apply(self, *tensors)[: len(self.results)])
