"""Runs a user's function without data: a network of any size and its batch are made in no memory."""
from __future__ import annotations

import contextlib
import warnings
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from .known import Known, no_tracer_seen
from .recorder import is_fake, tensors_in

#: A tensor with more floats than this holds nothing; whole numbers are kept up to the second.
_MOST_FLOATS, _MOST_WHOLE = 4096, 1 << 22


class _Here(TorchFunctionMode):
    """Whatever the code says of "cuda" or "meta", tensors are on the CPU: those without data cost nothing."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Optional[Dict[str, Any]] = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if name == "cuda" and args and isinstance(args[0], torch.Tensor):
            return args[0]
        if name == "pin_memory":
            return args[0]
        if "device" in kwargs and _elsewhere(kwargs["device"]):
            kwargs["device"] = torch.device("cpu")
        if name == "to":
            args = tuple(torch.device("cpu") if _elsewhere(a) else a for a in args)
        return func(*args, **kwargs)


def _elsewhere(device: Any) -> bool:
    if isinstance(device, torch.device):
        return device.type != "cpu"
    return isinstance(device, str) and device.split(":")[0] in ("cuda", "meta")


class _Making(TorchDispatchMode):
    """Large tensors hold nothing, small ones are real, as long as no tensor without data goes into them."""

    def __init__(self, fake: Any) -> None:
        super().__init__()
        self.fake, self.known = fake, Known(fake)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Optional[Dict[str, Any]] = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if "device" in kwargs and _elsewhere(kwargs["device"]):
            kwargs["device"] = torch.device("cpu")
        inputs = list(tensors_in([*args, *kwargs.values()]))
        if not any(is_fake(t) for t in inputs) and (inputs or self._small(func, args, kwargs)):
            return func(*args, **kwargs)
        base = func._schema.name.partition("::")[2]
        computed = self.known.compute(func, args, kwargs, inputs)
        answered = self.known.answer(func, base, inputs)
        if answered is not None:
            return answered[0]
        if base == "copy_" and not is_fake(args[0]):
            return args[0]  # a small tensor that gets unknown values: its own do as well
        args, kwargs = self._faked((list(args), kwargs))
        args = self.known.arguments(base, args)
        sized = self.known.sized(func, base, args, computed)
        if sized is not None:
            return sized
        with self.fake:
            result = func(*args, **kwargs)
        self.known.after(func, args, kwargs, result, computed)
        return result

    def _faked(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value if is_fake(value) else self.known.fake_of(value)
        if isinstance(value, (list, tuple)):
            return type(value)(self._faked(v) for v in value)
        if isinstance(value, dict):
            return {k: self._faked(v) for k, v in value.items()}
        return value

    def _small(self, func: Any, args: Any, kwargs: Any) -> bool:
        """Whether what a factory makes is kept for real."""
        with self.fake:
            made = list(tensors_in(func(*args, **kwargs)))
        return all(t.numel() <= (_MOST_FLOATS if t.is_floating_point() else _MOST_WHOLE) for t in made)


@contextlib.contextmanager
def made_without_data() -> Iterator[None]:
    """While it lasts, a network that is made, converted or wrapped needs no memory for its weights."""
    from torch._subclasses import FakeTensorMode

    fake = FakeTensorMode(allow_non_fake_inputs=True)
    undo: List[Tuple[Any, str, Any]] = []

    def put(place: Any, name: str, value: Any) -> None:
        undo.append((place, name, getattr(place, name)))
        setattr(place, name, value)

    swap, data = torch.utils.swap_tensors, torch._C.TensorBase.data  # type: ignore[attr-defined]

    def exchange(one: Any, other: Any) -> None:
        if not (is_fake(one) and is_fake(other)):
            return swap(one, other)
        data.__set__(one, other)
        return None

    put(torch.utils, "swap_tensors", exchange)
    put(torch.nn.Module, "cuda", lambda self, *_, **__: self)
    try:
        with warnings.catch_warnings(), no_tracer_seen(), _Making(fake), _Here():
            warnings.simplefilter("ignore")
            yield
    finally:
        for place, name, value in reversed(undo):
            setattr(place, name, value)
