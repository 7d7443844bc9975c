"""Scaled dot-product attention as CUDA runs it: one fused operator; a CPU has others, or takes it apart."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence

import torch

from .fused import FusedCall, Made
from .recorder import Recorder

_ARGUMENTS = ["query", "key", "value", "attn_mask", "dropout_p", "is_causal"]
_FLASH = "_scaled_dot_product_flash_attention"
_EFFICIENT = "_scaled_dot_product_efficient_attention"
_PRODUCTS = "_scaled_dot_product_attention_math"


def kernel(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: Any) -> str:
    """The operator that CUDA takes: flash attention for 16 bit without a mask and heads up to 256, grouped
    ones too; the memory-efficient kernel where every query head has a key head; else the plain products."""
    if query.dim() != 4 or key.dim() != 4:
        return _PRODUCTS
    half = query.dtype in (torch.float16, torch.bfloat16)
    if half and mask is None and query.shape[-1] <= 256 and query.shape[-1] == value.shape[-1]:
        return _FLASH
    return _EFFICIENT if key.shape[1] == query.shape[1] else _PRODUCTS


def run_attention(
    recorder: Recorder, func: Callable[..., Any], args: Sequence[Any], kwargs: Dict[str, Any]
) -> Any:
    """torch.nn.functional.scaled_dot_product_attention: both fused kernels keep q, k, v, the result and a
    number for each row."""
    given = dict(zip(_ARGUMENTS, args))
    given.update(kwargs)
    query, key, value, mask = given["query"], given["key"], given["value"], given.get("attn_mask")
    if query.dim() != 4 or key.dim() != 4:
        return func(*args, **kwargs)
    name = kernel(query, key, value, mask)
    if recorder.known is not None and hasattr(torch.ops.aten, name):
        dropout, causal = float(given.get("dropout_p", 0.0)), bool(given.get("is_causal", False))
        return issue(query, key, value, mask, dropout, causal, given.get("scale"))
    if name == _PRODUCTS:
        return func(*args, **kwargs)
    results: List[Made] = [(tuple(query.shape[:-1]) + (value.shape[-1],), None)]
    kept: List[Made] = [(tuple(query.shape[:-1]), torch.float32)]
    settings = {
        "dropout_p": float(given.get("dropout_p", 0.0)),
        "is_causal": bool(given.get("is_causal", False)),
    }
    tensors = [query, key, value] + ([mask] if isinstance(mask, torch.Tensor) else [])
    call = FusedCall(recorder, name, settings, results, kept, lambda: func(*args, **kwargs), True)
    return call(tensors)[0]


def issue(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: Optional[float] = None,
) -> torch.Tensor:
    """CUDA's own operator on tensors without data: autograd keeps what it keeps on a GPU, in its order."""
    name = kernel(query, key, value, mask)
    call = getattr(torch.ops.aten, name)
    if name == _FLASH:
        return call(query, key, value, dropout_p, is_causal, False, scale=scale)[0]
    if name == _EFFICIENT:
        bias = _bias(mask, query, key)
        return call(query, key, value, bias, True, dropout_p, is_causal, scale=scale)[0]
    if query.dim() == 4 and key.shape[1] != query.shape[1]:
        times = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(times, 1), value.repeat_interleave(times, 1)
    return call(query, key, value, mask, dropout_p, is_causal, scale=scale)[0]


def _bias(mask: Any, query: torch.Tensor, key: torch.Tensor) -> Any:
    """What CUDA adds to the products: a mask of booleans becomes one of numbers; all heads share it."""
    if mask is None:
        return None
    if mask.dtype == torch.bool:
        mask = torch.where(mask, 0.0, mask.new_full((), float("-inf"), dtype=query.dtype))
    return mask.to(query.dtype).expand(query.shape[0], query.shape[1], query.shape[2], key.shape[2])
