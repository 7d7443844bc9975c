"""Known values beside tensors that hold nothing: token ids, masks, lengths, counters and other small ones."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Set

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_flatten, tree_map
from torch.utils._python_dispatch import _disable_current_modes

from ..recorder import tensors_in

#: Integers and booleans are known up to so many, floats up to fewer: activations are never computed.
MOST_WHOLE, MOST_FLOATS = 1 << 22, 4096

_MARK = "_foretrain_value"
_FACTORIES = set(
    "arange zeros ones full scalar_tensor empty eye tril_indices triu_indices linspace new_full".split()
)
_COUNTED = ("arange", "eye", "linspace")
_DRAWN = set(
    "rand randn randint bernoulli normal uniform dropout native_dropout multinomial randperm exponential"
    " random rand_like randn_like randint_like empty_like new_empty".split()
)


class Values:
    """The values of fake tensors; storages whose values were overwritten by unknown ones are forgotten."""

    def __init__(self) -> None:
        self._unknown: Set[int] = set()
        self._kept: List[torch.Tensor] = []  # or the place of an unknown storage would be given to another

    def of(self, tensor: torch.Tensor) -> Optional[torch.Tensor]:
        """The real tensor beside a fake one, the tensor itself if it is real, None if unknown."""
        if not isinstance(tensor, FakeTensor):
            return tensor
        value = getattr(tensor, _MARK, None)
        if value is None or value.untyped_storage()._cdata in self._unknown:
            return None
        return value

    def put(self, tensor: Any, value: Optional[torch.Tensor]) -> None:
        if not isinstance(tensor, FakeTensor):
            return
        if value is not None:
            most = MOST_FLOATS if value.is_floating_point() or value.is_complex() else MOST_WHOLE
            if value.numel() > most or isinstance(tensor, torch.nn.Parameter):
                value = None
        setattr(tensor, _MARK, value)

    def forget(self, tensor: Any) -> None:
        """The tensor was written to with unknown values: all views of its storage are unknown."""
        value = getattr(tensor, _MARK, None) if isinstance(tensor, FakeTensor) else None
        if value is not None:
            self._kept.append(value)
            self._unknown.add(value.untyped_storage()._cdata)
            setattr(tensor, _MARK, None)

    def compute(self, func: Any, args: Any, kwargs: Any, inputs: List[torch.Tensor]) -> Any:
        """What the operator makes of known values, in-place ones included; None where one is unknown."""
        name = func._schema.name.partition("::")[2]
        if name.rstrip("_") in _DRAWN or func.namespace in ("c10d", "_c10d_functional"):
            return None
        known = [self.of(t) for t in inputs]
        if any(v is None for v in known):
            return None
        if not inputs and (name not in _FACTORIES or not _small(name, args, kwargs)):
            return None
        if sum(t.numel() for t in inputs) > MOST_WHOLE:
            return None
        if any(t.is_floating_point() and t.numel() > MOST_FLOATS for t in inputs):
            return None
        values = iter(known)

        def real(one: Any) -> Any:
            if isinstance(one, torch.Tensor):
                return next(values)
            return torch.device("cpu") if isinstance(one, torch.device) else one

        try:
            with torch.no_grad():
                args, kwargs = tree_map(real, (tuple(args), dict(kwargs)))
                return func(*args, **kwargs)
        except Exception:
            return None

    def attach(self, result: Any, values: Any) -> None:
        """Puts computed values beside an operator's fake results."""
        for fake, value in zip(tree_flatten(result)[0], tree_flatten(values)[0]):
            if isinstance(fake, FakeTensor) and isinstance(value, torch.Tensor) and fake.shape == value.shape:
                self.put(fake, value)

    def forget_written(self, func: Any, args: Any, kwargs: Any) -> None:
        for place, argument in enumerate(func._schema.arguments):
            if argument.alias_info is not None and argument.alias_info.is_write:
                given = args[place] if place < len(args) else kwargs.get(argument.name)
                for tensor in tensors_in(given):
                    self.forget(tensor)

    def real(self, tensor: torch.Tensor, guess: Callable[[str], None], doing: str) -> torch.Tensor:
        """A tensor's values for the host; made up, and counted, where they are unknown."""
        value = self.of(tensor)
        with _disable_current_modes():
            if value is not None:
                return value.detach()
            if tensor.is_floating_point():
                guess(f"{_count(tensor)} 1.0 {_was(tensor)} taken for unknown values that {doing} reads")
                return torch.ones(tensor.shape, dtype=tensor.dtype)
            guess(f"{_count(tensor)} 0 {_was(tensor)} taken for unknown whole numbers that {doing} reads")
            return torch.zeros(tensor.shape, dtype=tensor.dtype)


def _count(tensor: torch.Tensor) -> str:
    return f"{tensor.numel()} ×" if tensor.numel() != 1 else "1 ×"


def _was(tensor: torch.Tensor) -> str:
    return "were" if tensor.numel() != 1 else "was"


def _small(name: str, args: Any, kwargs: Any) -> bool:
    """Whether a factory makes few enough numbers to know them."""
    count = 1
    for one in args:
        if isinstance(one, (list, tuple)):
            for size in one:
                count *= int(size)
        elif name in _COUNTED and isinstance(one, int):
            count = abs(one)
        break
    dtype = kwargs.get("dtype")
    whole = dtype is not None and not dtype.is_floating_point
    return count <= (MOST_WHOLE if whole else MOST_FLOATS)
