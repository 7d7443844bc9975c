"""scaled_dot_product_attention takes the kernel that a GPU would take, and so does flex_attention."""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch._subclasses.fake_tensor import FakeTensor

from ..attention import issue


def install(session: Any = None) -> None:
    """Both ways of asking for attention, before the script imports them."""
    _install_dot_product()
    if session is not None:
        _install_flex(session)


def _install_dot_product() -> None:
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


def _install_flex(session: Any) -> None:
    """flex_attention is one kernel that Triton compiles: its products and what it keeps are those of flash attention.
    A mask of blocks is taken for a causal one, which is said; changes of scores cost nothing here."""
    try:
        from torch.nn.attention import flex_attention as module
    except ImportError:  # before 2.5
        return
    plain = module.flex_attention

    def attend(
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        score_mod: Any = None,
        block_mask: Any = None,
        scale: Optional[float] = None,
        enable_gqa: bool = False,
        return_lse: bool = False,
        kernel_options: Any = None,
        **more: Any,
    ) -> Any:
        if query.device.type != "cuda" or not isinstance(query, FakeTensor):
            return plain(
                query, key, value, score_mod, block_mask, scale, enable_gqa, return_lse, kernel_options, **more
            )
        if block_mask is not None:
            session.note("Masks of flex_attention are taken for causal ones.")
        out = issue(query, key, value, None, 0.0, block_mask is not None, scale)
        sums = query.new_empty(query.shape[:-1], dtype=torch.float32)
        if more.get("return_aux") is not None:
            return out, module.AuxOutput(lse=sums)
        return (out, sums) if return_lse else out

    module.flex_attention = attend


def _autocast() -> Optional[torch.dtype]:
    try:
        on = torch.is_autocast_enabled("cuda")
        return torch.get_autocast_dtype("cuda") if on else None
    except TypeError:  # before 2.4
        return torch.get_autocast_gpu_dtype() if torch.is_autocast_enabled() else None

