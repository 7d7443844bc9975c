"""The function mode: groups operators by the torch function that issued them, and puts in CUDA's form what a
CPU runs otherwise."""
from __future__ import annotations

import contextlib
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import torch
import torch.nn.functional
from torch.overrides import TorchFunctionMode

from .attention import run_attention
from .autocasting import Autocast
from .graph import Graph
from .recorder import Recorder, is_fake
from .recurrent import CELLS, RECURRENT, run_cell, run_recurrent
from .sequences import pad_packed

_QUIET = {
    "__get__",
    "__set__",
    "size",
    "dim",
    "stride",
    "numel",
    "is_contiguous",
    "data_ptr",
    "storage",
    "untyped_storage",
    "is_floating_point",
    "is_complex",
    "element_size",
    "__len__",
    "__hash__",
    "register_hook",
    "requires_grad_",
    "get_device",
    "_is_view",
    "__repr__",
    "nelement",
    "type",
    "is_cuda",
}


def _is_cuda(value: Any) -> bool:
    if isinstance(value, torch.device):
        return value.type == "cuda"
    return isinstance(value, str) and value.split(":")[0] == "cuda"


class Calls(TorchFunctionMode):
    """Sees every torch function; `device` is where the step runs, whatever the model's code says of
    "cuda"."""

    def __init__(self, recorder: Recorder, graph: Graph, autocast: Autocast, device: torch.device) -> None:
        super().__init__()
        self.recorder, self.graph, self.autocast, self.device = recorder, graph, autocast, device

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Optional[Dict[str, Any]] = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if name in _QUIET:
            return func(*args, **kwargs)
        if name == "backward" and args and isinstance(args[0], torch.Tensor):
            with self:
                return torch.autograd.backward(args[:1], *args[1:3], **kwargs)
        if self.device.type != "cuda":
            args, kwargs = self._here(name, args, kwargs)
            if name == "cuda":
                return args[0]
        before, self.recorder.call = self.recorder.call, self.recorder.next_call()
        try:
            self.recorder.autocast = self.autocast.dtype() is not None
            args, kwargs = self.autocast.cast(name, args, kwargs)
            result = self._run(func, name, args, kwargs)
        finally:
            self.recorder.call = before
        self.graph.made(result)
        return result

    def _here(
        self, name: str, args: Tuple[Any, ...], kwargs: Dict[str, Any]
    ) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
        if _is_cuda(kwargs.get("device")):
            kwargs["device"] = self.device
        if name == "to":
            args = tuple(self.device if _is_cuda(a) else a for a in args)
        return args, kwargs

    def _run(self, func: Callable[..., Any], name: str, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
        on_cpu = self.device.type != "cuda"
        if on_cpu and name == "dropout":
            return _dropout(func, *args, **kwargs)
        if on_cpu and name in RECURRENT:
            return run_recurrent(self.recorder, func, name, args)
        if on_cpu and name in CELLS:
            return run_cell(self.recorder, func, name, args, kwargs)
        if on_cpu and name == "scaled_dot_product_attention":
            return run_attention(self.recorder, func, args, kwargs)
        if name == "_pad_packed_sequence" and self.recorder.known is not None and not is_fake(args[1]):
            return pad_packed(*args, **kwargs)
        return func(*args, **kwargs)


def _dropout(
    func: Callable[..., Any], input: torch.Tensor, p: float = 0.5, train: bool = True, **more: Any
) -> torch.Tensor:
    """CUDA's dropout is one operator; a CPU's is four."""
    if "training" in more or not train or not 0 < p < 1 or input.numel() == 0:
        return func(input, p, train, **more)
    return torch.native_dropout(input, p, True)[0]


_ASKS = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")


@contextlib.contextmanager
def bodies_run() -> Iterator[None]:
    """torch.nn.functional's Python functions run their bodies under the function mode, so that it sees
    what they call."""
    held: List[Tuple[Any, str, Any]] = []
    for place in (torch.nn.functional, torch.functional):
        for name in _ASKS:
            if hasattr(place, name):
                held.append((place, name, getattr(place, name)))
                setattr(place, name, lambda *_: False)
    try:
        yield
    finally:
        for place, name, value in held:
            setattr(place, name, value)
