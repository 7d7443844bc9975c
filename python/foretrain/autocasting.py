"""Automatic mixed precision as CUDA's would be, where the step runs without CUDA: which functions get half,
which single."""
from __future__ import annotations

import contextlib
import warnings
from typing import Any, Dict, Iterator, List, Optional, Tuple

import torch
from torch.amp import autocast_mode

# PyTorch, docs/source/amp.rst, "CUDA Ops that can autocast".
_LOW = set(
    "linear matmul __matmul__ __rmatmul__ mm bmm mv addmm addmv addr addbmm baddbmm chain_matmul multi_dot"
    " einsum conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc convolution"
    " prelu lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell"
    " scaled_dot_product_attention bilinear".split()
)
_SINGLE = set(
    "acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow __pow__ __rpow__"
    " softplus layer_norm group_norm norm frobenius_norm nuclear_norm cosine_similarity poisson_nll_loss"
    " cosine_embedding_loss nll_loss nll_loss_nd nll_loss2d hinge_embedding_loss kl_div l1_loss"
    " smooth_l1_loss huber_loss mse_loss margin_ranking_loss multilabel_margin_loss soft_margin_loss"
    " triplet_margin_loss multi_margin_loss binary_cross_entropy_with_logits cross_entropy_loss dist pdist"
    " cdist renorm logsumexp softmax log_softmax cumsum cumprod prod sum".split()
)
_WIDEST = set(
    "addcdiv addcmul atan2 cross dot grid_sampler index_put scatter_add tensordot cat stack".split()
)


class Autocast:
    """The autocast regions for CUDA that the step is in, the innermost last: its half type, or None where
    switched off."""

    def __init__(self, fakes: bool) -> None:
        self.fakes = fakes
        self.stands_in = False  #: bfloat16 runs in place of float16
        self._regions: List[Optional[torch.dtype]] = []
        self._cast_weights: Dict[Tuple[int, torch.dtype], Tuple[torch.Tensor, torch.Tensor]] = {}

    def dtype(self) -> Optional[torch.dtype]:
        return self._regions[-1] if self._regions else None

    def enter(self, dtype: torch.dtype, enabled: bool) -> None:
        if not self.fakes and dtype == torch.float16:
            dtype, self.stands_in = torch.bfloat16, True  # a CPU multiplies no halves
        self._regions.append(dtype if enabled else None)

    def leave(self) -> None:
        self._regions.pop()
        if not self._regions:
            self._cast_weights.clear()

    def cast(
        self, name: str, args: Tuple[Any, ...], kwargs: Dict[str, Any]
    ) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
        half = self.dtype()
        if half is None:
            return args, kwargs
        if name in _LOW:
            target = half
        elif name in _SINGLE:
            target = torch.float32
        elif name in _WIDEST and any(t == torch.float32 for t in _dtypes((args, kwargs))):
            target = torch.float32
        else:
            return args, kwargs
        return self._all(args, target), self._all(kwargs, target)

    def _all(self, value: Any, target: torch.dtype) -> Any:
        if isinstance(value, torch.Tensor):
            return self._one(value, target)
        if isinstance(value, (list, tuple)):
            return type(value)(self._all(v, target) for v in value)
        if isinstance(value, dict):
            return {k: self._all(v, target) for k, v in value.items()}
        return value

    def _one(self, tensor: torch.Tensor, target: torch.dtype) -> torch.Tensor:
        if not tensor.is_floating_point() or tensor.dtype in (target, torch.float64):
            return tensor
        if not (tensor.is_leaf and tensor.requires_grad and tensor.dtype == torch.float32):
            return tensor.to(target)
        held = self._cast_weights.get((id(tensor), target))
        if held is None:
            held = self._cast_weights[(id(tensor), target)] = (tensor, tensor.to(target))
        return held[1]


def _dtypes(value: Any) -> Iterator[torch.dtype]:
    if isinstance(value, torch.Tensor):
        yield value.dtype
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _dtypes(one)
    elif isinstance(value, dict):
        yield from _dtypes(list(value.values()))


@contextlib.contextmanager
def cuda_autocast_seen(autocast: Autocast) -> Iterator[None]:
    """While it lasts, `torch.autocast("cuda")` opens a region of `autocast` instead of being switched off
    for want of a GPU."""
    kind = autocast_mode.autocast
    made, entered, left = kind.__init__, kind.__enter__, kind.__exit__

    def init(
        self: Any,
        device_type: str,
        dtype: Optional[torch.dtype] = None,
        enabled: bool = True,
        cache_enabled: Optional[bool] = None,
    ) -> None:
        self._foretrain = (dtype or torch.float16, enabled) if device_type == "cuda" else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made(
                self,
                device_type,
                dtype=dtype,
                enabled=enabled and device_type != "cuda",
                cache_enabled=cache_enabled,
            )

    def enter(self: Any) -> Any:
        if getattr(self, "_foretrain", None) is None:
            return entered(self)
        autocast.enter(*self._foretrain)
        return self

    def leave(self: Any, *error: Any) -> Any:
        if getattr(self, "_foretrain", None) is None:
            return left(self, *error)
        autocast.leave()
        return None

    kind.__init__, kind.__enter__, kind.__exit__ = init, enter, leave  # type: ignore
    try:
        yield
    finally:
        kind.__init__, kind.__enter__, kind.__exit__ = made, entered, left  # type: ignore
