"""Operators of CUDA whose results' sizes PyTorch does not know without a GPU."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional

import torch


def _channels(data: torch.Tensor) -> torch.Tensor:
    dtype = torch.float32 if data.dtype in (torch.float16, torch.bfloat16) else data.dtype
    return data.new_empty((data.shape[1],), dtype=dtype)


def _stats(data: Any, eps: float) -> Any:
    return _channels(data), _channels(data)


def _gather_stats(data: Any, *_: Any, **__: Any) -> Any:
    return _channels(data), _channels(data)


def _apply(data: Any, *_: Any, **__: Any) -> Any:
    return torch.empty_like(data)


def _reduce(grad: Any, data: Any, mean: Any, inverse: Any, weight: Any, *wanted: bool) -> Any:
    parameter = [torch.empty_like(weight) if w and weight is not None else None for w in wanted[1:]]
    sums = [torch.empty_like(mean) if wanted[0] else None for _ in range(2)]
    return (sums[0], sums[1], parameter[0], parameter[1])


def _gradient(grad: Any, *_: Any, **__: Any) -> Any:
    return torch.empty_like(grad)


_RULES: Dict[str, Callable[..., Any]] = {
    "aten::batch_norm_stats": _stats,
    "aten::batch_norm_gather_stats": _gather_stats,
    "aten::batch_norm_gather_stats_with_counts": _gather_stats,
    "aten::batch_norm_elemt": _apply,
    "aten::batch_norm_backward_reduce": _reduce,
    "aten::batch_norm_backward_elemt": _gradient,
}


def rule(func: Any) -> Optional[Callable[..., Any]]:
    """What makes results of the right sizes for an operator; None for one that PyTorch itself knows."""
    return _RULES.get(func._schema.name)
