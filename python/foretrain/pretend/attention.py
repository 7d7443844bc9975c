"""scaled_dot_product_attention takes the kernel that a GPU would take."""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch._subclasses.fake_tensor import FakeTensor

from ..attention import issue


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
        return issue(query, key, value, attn_mask, dropout_p, is_causal, scale)

    torch.nn.functional.scaled_dot_product_attention = attend


def _autocast() -> Optional[torch.dtype]:
    try:
        on = torch.is_autocast_enabled("cuda")
        return torch.get_autocast_dtype("cuda") if on else None
    except TypeError:  # before 2.4
        return torch.get_autocast_gpu_dtype() if torch.is_autocast_enabled() else None

