"""The autograd side: which node runs, of which module it is, which gradient is ready when, what is kept for
backward."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

import torch

from .recorder import Operator, Recorder, tensors_in

_NODE_MARK = "foretrain"


class Kept:
    """What autograd holds in place of a tensor: the tensor, and word to the recorder when it is given up."""

    __slots__ = ("tensor", "key", "recorder", "__weakref__")

    def __init__(self, tensor: torch.Tensor, recorder: Recorder) -> None:
        self.recorder = recorder
        self.key = recorder.storages.save(tensor)
        self.tensor = tensor if self.key is not None or recorder.fake is not None else _no_number(tensor)

    def __del__(self) -> None:
        key, recorder = self.key, self.recorder
        self.tensor = None  # type: ignore[assignment]
        if key is not None:
            recorder.storages.let_go(key)


def _no_number(tensor: torch.Tensor) -> torch.Tensor:
    """The 2.0 of `x * 2.0` as a tensor of its own: torch 1.13 hands modes the number itself, which no
    hook can give back."""
    if tensor.dim() > 0 or tensor.requires_grad or not hasattr(torch._C, "_DisableTorchDispatch"):
        return tensor
    off = torch._C._DisableTorchDispatch()
    copy = tensor.clone()
    del off
    return copy


class Graph:
    """Marks autograd nodes with their module as forward makes them; in backward gives operators to the
    node that issued them."""

    def __init__(self, recorder: Recorder, parameters: Sequence[torch.Tensor]) -> None:
        self.recorder = recorder
        self._given = 0
        self._ready: Dict[int, int] = {}
        self._accumulators: List[Any] = []
        self.order: List[int] = []
        for index, parameter in enumerate(parameters):
            if parameter.requires_grad:
                self._watch(index, parameter)

    def _watch(self, index: int, parameter: torch.Tensor) -> None:
        with torch.enable_grad():
            node = parameter.view_as(parameter).grad_fn.next_functions[0][0]  # type: ignore[union-attr]
        self._accumulators.append(node)  # or it would be made anew, without the hook

        def accumulated(*_: Any) -> None:
            self._give("torch::autograd::AccumulateGrad", None)
            self._ready.pop(index, None)
            self._ready[index] = max(len(self.recorder.operators) - 1, 0)

        node.register_hook(accumulated)

    def hooks(self) -> Any:
        """saved_tensors_hooks that tell the recorder which storages are kept."""
        recorder = self.recorder
        return torch.autograd.graph.saved_tensors_hooks(
            lambda tensor: Kept(tensor, recorder), lambda kept: kept.tensor
        )

    def made(self, result: Any) -> None:
        """A call's result: the nodes behind it that are new belong to the module that is running."""
        for tensor in tensors_in(result):
            if tensor.grad_fn is not None:
                self._mark(tensor.grad_fn)

    def _mark(self, first: Any) -> None:
        module = self.recorder.modules[-1] if self.recorder.modules else ""
        waiting = [first]
        while waiting:
            node = waiting.pop()
            marks = node.metadata
            if _NODE_MARK in marks:
                continue
            marks[_NODE_MARK] = True
            name = node.name()
            if "AccumulateGrad" in name:
                continue
            node.register_hook(self._done(name, module))
            waiting.extend(n for n, _ in node.next_functions if n is not None)

    def _done(self, name: str, module: str) -> Any:
        def done(*_: Any) -> None:
            self._give(name, module)

        return done

    def _give(self, name: str, module: Optional[str]) -> None:
        """A node has run: what was issued since the last one is its own, but for sums of gradients
        that came before it."""
        operators = self.recorder.operators
        fresh = [o for o in operators[self._given :] if o.backward and o.node is None and not o.recomputed]
        self._given = len(operators)
        while fresh and _is_sum(fresh[0]) and not name.startswith("Add"):
            fresh[0].of = module or ""
            fresh.pop(0)
        call = self.recorder.next_call() if len(fresh) > 1 else None
        for operator in fresh:
            operator.node = "" if name.startswith("_Fused") else name
            if operator.call is None:
                operator.call = call
            if module is not None:
                operator.of = module

    def begin_backward(self) -> None:
        self._given = len(self.recorder.operators)

    def close(self) -> None:
        """Writes the gradients' order: each parameter at the operator after which its gradient was
        complete."""
        self.order = list(self._ready)
        for parameter, index in self._ready.items():
            self.recorder.operators[index].ready.append(parameter)
        self._accumulators.clear()


def _is_sum(operator: Operator) -> bool:
    return (
        operator.op == "aten::add"
        and len(operator.ins) == 2
        and operator.ins[0] == operator.ins[1] == operator.outs[0]
    )
