"""Tensor methods that want memory, and the places of torch where a tensor becomes one of this run."""

from __future__ import annotations

from typing import Any, Callable

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes

from .mode import Pretend
from .unknown import read_of

#: A longer list holds numbers alone if its first entry is one.
_MOST_LISTED = 4096


def _method(name: str, make: Callable[..., Any]) -> None:
    """Replaces a method of Tensor for fake tensors."""
    plain = getattr(torch.Tensor, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(self, FakeTensor):
            return make(self, *args, **kwargs)
        return plain(self, *args, **kwargs)

    method.__name__ = name
    setattr(torch.Tensor, name, method)


def install(mode: Pretend) -> None:
    """Methods, parameters, buffers and `.data` under the mode."""
    session, values = mode.session, mode.values

    def host(tensor: torch.Tensor, doing: str) -> torch.Tensor:
        read_of(mode, tensor)
        return values.real(tensor, session.guess, doing)

    def as_array(tensor: torch.Tensor, dtype: Any = None, *_: Any, **__: Any) -> Any:
        made = host(tensor, "numpy()").numpy()
        return made if dtype is None else made.astype(dtype)

    def as_text(tensor: torch.Tensor, spec: str) -> str:
        return format(tensor.item(), spec) if tensor.dim() == 0 else f"tensor of {list(tensor.shape)}"

    def to_gpu(tensor: torch.Tensor, device: Any = None, *_: Any, **__: Any) -> torch.Tensor:
        index = device if isinstance(device, int) else None
        if device is not None and index is None:
            index = torch.device(device).index
        return tensor.to(torch.device("cuda", session.local if index is None else index))

    _method("numpy", lambda t, *_, **__: host(t, "numpy()").numpy())
    _method("tolist", lambda t: host(t, "tolist()").tolist())
    _method("__array__", as_array)
    _method("__format__", as_text)
    _method("__repr__", lambda t, **_: f"tensor of {list(t.shape)}, {t.dtype}, {t.device}")
    _method("record_stream", lambda t, *_: None)
    _method("data_ptr", lambda t: t.untyped_storage()._cdata)
    _method("is_pinned", lambda t, *_: False)
    torch.Tensor.cuda = to_gpu  # type: ignore
    torch.Tensor.pin_memory = lambda t, *_, **__: t  # type: ignore
    torch.Tensor.is_shared = lambda t: False  # type: ignore
    torch.Tensor.share_memory_ = lambda t: t  # type: ignore
    _data(mode)
    _parameters(mode)
    _foreach()
    _resizing(mode)
    _from_lists()


def _from_lists() -> None:
    """torch.tensor of a list of tensors reads each of them."""

    def held(value: Any) -> bool:
        if isinstance(value, (list, tuple)):
            return any(held(one) for one in (value if len(value) <= _MOST_LISTED else value[:1]))
        return isinstance(value, FakeTensor)

    def read(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [read(one) for one in value]
        return value.tolist() if isinstance(value, torch.Tensor) else value

    def reading(plain: Any) -> Any:
        def make(data: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(data, (list, tuple)) and held(data):
                data = read(data)
            return plain(data, *args, **kwargs)

        make.__name__ = plain.__name__
        return make

    torch.tensor, torch.as_tensor = reading(torch.tensor), reading(torch.as_tensor)  # type: ignore


def _data(mode: Pretend) -> None:
    """`.data = …` and swap_tensors of fake tensors take the device along."""
    plain = torch._C.TensorBase.data
    swap = torch.utils.swap_tensors

    def put(tensor: Any, value: Any) -> None:
        plain.__set__(tensor, value)
        if isinstance(tensor, FakeTensor) and isinstance(value, FakeTensor):
            tensor.fake_device = value.fake_device
            mode.values.put(tensor, mode.values.of(value))

    def exchange(one: Any, other: Any) -> None:
        if isinstance(one, FakeTensor) and isinstance(other, FakeTensor):
            try:
                one.data = other.data
                return
            except RuntimeError:  # of another kind, as a tensor of the device meta
                held, one.__dict__ = one.__dict__, other.__dict__
                other.__dict__ = held
                torch._C._swap_tensor_impl(one, other)
                return
        swap(one, other)

    torch.Tensor.data = property(lambda t: plain.__get__(t), put)  # type: ignore
    torch.utils.swap_tensors = exchange


def _parameters(mode: Pretend) -> None:
    """Parameters hold nothing; buffers hold nothing, with their values beside them."""
    plain, buffer = torch.nn.Parameter.__new__, torch.nn.Module.register_buffer

    def faked(tensor: Any, with_values: bool) -> Any:
        if type(tensor) is not torch.Tensor or not mode.session.on or mode.session.loading:
            return tensor
        with _disable_current_modes():
            made = mode.fake.from_tensor(tensor.detach())
            if with_values:
                mode.values.put(made, tensor)
        return made

    def new(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
        return plain(cls, faked(data, False), requires_grad)

    def register(module: Any, name: str, tensor: Any, persistent: bool = True) -> None:
        return buffer(module, name, faked(tensor, True), persistent)

    torch.nn.Parameter.__new__ = staticmethod(new)  # type: ignore
    torch.nn.Module.register_buffer = register  # type: ignore


def _foreach() -> None:
    """Optimizers take lists of fake tensors at once, as they do on a GPU."""
    from torch.optim import optimizer
    from torch.utils import _foreach_utils

    lists = [getattr(place, "_foreach_supported_types", None) for place in (optimizer, _foreach_utils)]
    for types in {id(one): one for one in lists if isinstance(one, list)}.values():
        types.append(FakeTensor)


def _resizing(mode: Pretend) -> None:
    """FSDP gives memory back by resizing storages to nothing, and takes it again so."""
    plain = torch.UntypedStorage.resize_

    def resize(storage: Any, size: int) -> Any:
        before = storage.nbytes()
        result = plain(storage, size)
        if mode.recorder.recording and before != storage.nbytes():
            mode.recorder.storages.resized(storage, len(mode.recorder.operators))
        return result

    torch.UntypedStorage.resize_ = resize  # type: ignore
