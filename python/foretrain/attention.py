"""Scaled dot-product attention as CUDA runs it: one fused operator; a CPU has others, or takes it apart."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Sequence

import torch

from .fused import FusedCall, Made
from .recorder import Recorder

_ARGUMENTS = ["query", "key", "value", "attn_mask", "dropout_p", "is_causal"]


def run_attention(
    recorder: Recorder, func: Callable[..., Any], args: Sequence[Any], kwargs: Dict[str, Any]
) -> Any:
    """torch.nn.functional.scaled_dot_product_attention: flash attention for 16 bit without a mask and
    heads up to 256,
    else the memory-efficient kernel; both keep q, k, v, the result and a number for each row."""
    given = dict(zip(_ARGUMENTS, args))
    given.update(kwargs)
    query, key, value, mask = given["query"], given["key"], given["value"], given.get("attn_mask")
    if query.dim() != 4 or kwargs.get("enable_gqa"):
        return func(*args, **kwargs)
    half = query.dtype in (torch.float16, torch.bfloat16)
    flash = half and mask is None and query.shape[-1] <= 256
    name = "_scaled_dot_product_flash_attention" if flash else "_scaled_dot_product_efficient_attention"
    results: List[Made] = [(tuple(query.shape[:-1]) + (value.shape[-1],), None)]
    kept: List[Made] = [(tuple(query.shape[:-1]), torch.float32)]
    settings = {
        "dropout_p": float(given.get("dropout_p", 0.0)),
        "is_causal": bool(given.get("is_causal", False)),
    }
    tensors = [query, key, value] + ([mask] if isinstance(mask, torch.Tensor) else [])
    call = FusedCall(recorder, name, settings, results, kept, lambda: func(*args, **kwargs), True)
    return call(tensors)[0]
