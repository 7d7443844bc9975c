"""scaled_dot_product_attention takes the kernel that a GPU would take."""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch._subclasses.fake_tensor import FakeTensor

aten = torch.ops.aten


def install() -> None:
    """Flash attention for 16 bit without a mask, the memory-efficient kernel, or the plain products."""
    plain = torch.nn.functional.scaled_dot_product_attention

    def attend(
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attn_mask: Optional[torch.Tensor] = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: Optional[float] = None,
        enable_gqa: bool = False,
    ) -> Any:
        if query.device.type != "cuda" or not (
            isinstance(query, FakeTensor) or hasattr(query, "_local_tensor")
        ):
            more = {"enable_gqa": True} if enable_gqa else {}
            return plain(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, **more)
        half = _autocast()
        if half is not None and query.is_floating_point():
            query, key, value = query.to(half), key.to(half), value.to(half)
        narrow = query.dim() == 4 and query.shape[-1] <= 256 and query.shape[-1] == value.shape[-1]
        if narrow and attn_mask is None and query.dtype in (torch.float16, torch.bfloat16):
            return aten._scaled_dot_product_flash_attention(
                query, key, value, dropout_p, is_causal, False, scale=scale
            )[0]
        same = key.dim() == 4 and key.shape[1] == query.shape[1]
        if query.dim() == 4 and same:
            bias = _bias(attn_mask, query, key)
            return aten._scaled_dot_product_efficient_attention(
                query, key, value, bias, True, dropout_p, is_causal, scale=scale
            )[0]
        if enable_gqa and not same:
            times = query.shape[1] // key.shape[1]
            key, value = key.repeat_interleave(times, 1), value.repeat_interleave(times, 1)
        return aten._scaled_dot_product_attention_math(
            query, key, value, attn_mask, dropout_p, is_causal, scale=scale
        )[0]

    torch.nn.functional.scaled_dot_product_attention = attend


def _autocast() -> Optional[torch.dtype]:
    try:
        on = torch.is_autocast_enabled("cuda")
        return torch.get_autocast_dtype("cuda") if on else None
    except TypeError:  # before 2.4
        return torch.get_autocast_gpu_dtype() if torch.is_autocast_enabled() else None


def _bias(mask: Optional[torch.Tensor], query: torch.Tensor, key: torch.Tensor) -> Optional[torch.Tensor]:
    if mask is None:
        return None
    made = torch.zeros_like(mask, dtype=query.dtype) if mask.dtype == torch.bool else mask.to(query.dtype)
    return made.expand(query.shape[0], query.shape[1], query.shape[2], key.shape[2])
