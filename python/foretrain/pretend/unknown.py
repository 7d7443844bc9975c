"""What the host asks of values: known ones are answered, unknown ones guessed, counted and said."""

from __future__ import annotations

import os
import sys
from typing import Any, List, Optional, Tuple

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_map
from torch.utils._python_dispatch import _disable_current_modes

#: Operators whose unknown whole results are places of a dimension.
_PLACES = ("topk", "argmax", "argmin", "sort", "multinomial", "max", "min")


def read_of(mode: Any, tensor: torch.Tensor) -> None:
    """The host waits for the GPU and reads the tensor."""
    if tensor.device.type == "cuda":
        mode.communication.read(tensor.numel() * tensor.element_size())


def answer(mode: Any, func: Any, base: str, args: Any, inputs: List[torch.Tensor]) -> Optional[Tuple[Any]]:
    """The answer to a question of the host, in a tuple; None if the operator is no such question."""
    values, session = mode.values, mode.session
    if base in ("_local_scalar_dense", "item"):
        tensor = inputs[0]
        read_of(mode, tensor)
        known = values.of(tensor)
        if known is not None:
            return (known.item(),)
        if tensor.dtype == torch.bool:
            session.guess("False was taken for an unknown truth value")
            return (False,)
        if tensor.is_floating_point():
            session.guess("1.0 was taken for an unknown number")
            return (1.0,)
        session.guess("0 was taken for an unknown whole number")
        return (0,)
    if base == "is_nonzero":
        read_of(mode, inputs[0])
        known = values.of(inputs[0])
        if known is None:
            session.guess("False was taken for an unknown truth value")
        return (bool(known),)
    if base == "equal":
        read_of(mode, inputs[0])
        both = [values.of(t) for t in inputs]
        if any(v is None for v in both):
            session.guess("Two tensors with unknown values were taken for different")
            return (False,)
        with _disable_current_modes():
            return (torch.equal(*both),)  # type: ignore[arg-type]
    if base in ("isnan", "isinf", "isfinite") and values.of(inputs[0]) is None:
        out = mode.recorder.observe(func, args, {}, _in(mode, func))
        with _disable_current_modes():
            values.put(out, torch.full(out.shape, base == "isfinite", dtype=torch.bool))
        return (out,)
    return None


def _in(mode: Any, func: Any) -> Any:
    def run(*args: Any, **kwargs: Any) -> Any:
        with mode.fake:
            return func(*args, **kwargs)

    return run


def guess_shape(
    mode: Any, func: Any, base: str, args: Any, kwargs: Any, computed: Any
) -> Tuple[Any, Optional[Any]]:
    """Operators whose result has a size that values decide: the arguments with masks as indices, and the
    result where it is known or made up."""
    if base in ("index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index"):
        return (args[0], [p for i in args[1] for p in _places(mode, base, i)]) + tuple(args[2:]), None
    tensors = [a for a in args if isinstance(a, torch.Tensor)]
    device = tensors[0].device if tensors else torch.device("cpu")
    if tensors:
        read_of(mode, tensors[0])
    if computed is None:
        mode.session.guess(f"Values were drawn at random for the size of the result of {base}")
        with _disable_current_modes():
            drawn = tree_map(lambda x: _drawn(mode, x) if isinstance(x, torch.Tensor) else x, (args, kwargs))
            computed = func(*drawn[0], **drawn[1])
    return args, mode.wrapped(computed, device)


def _drawn(mode: Any, tensor: torch.Tensor) -> torch.Tensor:
    known = mode.values.of(tensor)
    if known is not None:
        return known
    if tensor.dtype == torch.bool:
        return torch.rand(tensor.shape) < 0.5
    if tensor.is_floating_point():
        return torch.rand(tensor.shape)
    return torch.randint(0, 8, tensor.shape)


def _places(mode: Any, base: str, index: Any) -> List[Any]:
    if index is None or index.dtype not in (torch.bool, torch.uint8):
        return [index]
    read_of(mode, index)
    known = mode.values.of(index)
    with _disable_current_modes():
        if known is None and _counts_of_ranks():
            known = torch.ones(index.shape, dtype=torch.bool)
        elif known is None:
            mode.session.guess(f"Half of an unknown mask was taken for true in {base}")
            known = torch.arange(index.numel()).reshape(index.shape) % 2 == 0
        places = known.nonzero(as_tuple=True)
    return [mode.wrapped(p, index.device) for p in places]


def _counts_of_ranks() -> bool:
    """SyncBatchNorm leaves out ranks without samples: there are none."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename.endswith(os.path.join("nn", "modules", "_functions.py")):
            return True
        frame = frame.f_back
    return False


def guess_indices(mode: Any, base: str, args: Any, out: Any) -> None:
    """Places that unknown values decide, as the experts of tokens: drawn at random, each as often."""
    if base not in _PLACES or not isinstance(args[0], torch.Tensor) or args[0].dim() == 0:
        return
    for tensor in out if isinstance(out, (list, tuple)) else [out]:
        if not isinstance(tensor, FakeTensor) or tensor.dtype != torch.int64:
            continue
        places = max(args[0].shape[-1], 1)
        with _disable_current_modes():
            if base == "topk" and tensor.dim():
                each = tensor.shape[-1]
                start = torch.arange(max(tensor.numel() // max(each, 1), 1)) * each
                drawn = (start[:, None] + torch.arange(each)) % places
                mode.values.put(tensor, drawn.reshape(tensor.shape))
            else:
                mode.values.put(tensor, torch.randint(0, places, tensor.shape))
        mode.session.guess(f"Places that unknown values decide in {base} were taken evenly")
