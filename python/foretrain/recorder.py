"""The dispatch mode that writes down every aten operator of a step, with sizes, module and call."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .errors import CaptureError
from .sizes import Size, size_of
from .storages import Storages

#: The reader takes no more.
MOST_OPERATORS = 200_000

#: Operators that a CPU has under a name of its own, and what every device calls them.
_NEUTRAL: Dict[str, str] = {
    "mkldnn_convolution": "convolution",
    "_mkldnn_convolution": "convolution",
    "thnn_conv2d": "convolution",
    "_slow_conv2d_forward": "convolution",
    "slow_conv3d": "convolution",
    "conv_depthwise3d": "convolution",
    "_conv_depthwise2d": "convolution",
    "cudnn_convolution": "convolution",
    "miopen_convolution": "convolution",
    "convolution_overrideable": "convolution",
    "convolution_backward_overrideable": "convolution_backward",
    "mkldnn_linear": "linear",
    "cudnn_batch_norm": "native_batch_norm",
    "miopen_batch_norm": "native_batch_norm",
    "cudnn_batch_norm_backward": "native_batch_norm_backward",
    "_scaled_dot_product_flash_attention_for_cpu": "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_flash_attention_for_cpu_backward": "_scaled_dot_product_flash_attention_backward",
}

#: Arguments that decide the work, by aten's name, and what the file calls them.
_KEPT: Dict[str, str] = {
    name: name
    for name in (
        "stride padding dilation groups transposed output_padding ceil_mode count_include_pad output_mask dim"
        " keepdim p train training is_causal dropout_p eps momentum num_layers bidirectional has_biases"
        " batch_first dropout reduction alpha ignore_index normalized_shape output_size scale_factors"
        " align_corners causal"
    ).split()
}
_KEPT.update({"kernel_size": "kernel", "num_heads": "heads", "num_head": "heads"})

_SILENT = {
    "aten::sym_size",
    "aten::sym_stride",
    "aten::sym_numel",
    "aten::sym_storage_offset",
    "aten::is_same_size",
}


@dataclass
class Operator:
    """One aten operator as it was issued."""

    op: str
    of: str
    ins: Tuple[Size, ...]
    outs: Tuple[Size, ...]
    with_: Dict[str, Any] = field(default_factory=dict)
    backward: bool = False
    recomputed: bool = False
    call: Optional[int] = None
    node: Optional[str] = None
    ready: List[int] = field(default_factory=list)
    autocast: bool = False
    inplace: bool = False
    view: bool = False


def is_fake(tensor: torch.Tensor) -> bool:
    """Whether the tensor holds nothing."""
    return hasattr(tensor, "fake_mode")


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """The tensors of an argument, lists flattened."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from tensors_in(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from tensors_in(one)


def _plain(value: Any) -> bool:
    if isinstance(value, (bool, int, float, str)):
        return True
    return (
        isinstance(value, (list, tuple))
        and len(value) <= 8
        and all(isinstance(v, (bool, int, float)) for v in value)
    )


class _Schema:
    """What the recorder asks of an operator's schema, worked out once."""

    def __init__(self, function: Any) -> None:
        schema = function._schema
        self.silent = schema.name.startswith("prim::") or schema.name in _SILENT
        name = schema.name
        self.lifts = name in ("aten::lift", "aten::lift_fresh", "aten::lift_fresh_copy")
        space, _, bare = name.partition("::")
        self.name = f"aten::{_NEUTRAL[bare]}" if space == "aten" and bare in _NEUTRAL else name
        arguments = schema.arguments
        self.kept = [
            (i, a.name, _KEPT[a.name], a.default_value if a.has_default_value() else None)
            for i, a in enumerate(arguments)
            if a.name in _KEPT
        ]
        self.inplace = any(a.alias_info is not None and a.alias_info.is_write for a in arguments)

    def settings(self, arguments: Sequence[Any], named: Dict[str, Any]) -> Dict[str, Any]:
        found: Dict[str, Any] = {}
        for place, name, written, default in self.kept:
            value = arguments[place] if place < len(arguments) else named.get(name, default)
            if value is not None and _plain(value):
                found[written] = list(value) if isinstance(value, (list, tuple)) else value
        return found


class Recorder(TorchDispatchMode):
    """Records operators and storages between `with`; `fake` is the mode whose tensors the step runs on,
    or None; `known` has the values of small ones beside them."""

    def __init__(self, fake: Any = None, known: Any = None) -> None:
        super().__init__()
        self.fake, self.known = fake, known
        self.operators: List[Operator] = []
        self.storages = Storages()
        self.modules: List[str] = []
        self.backward = False
        self.autocast = False
        self.silent = 0
        self.call: Optional[int] = None
        self._calls = 0
        self._schemas: Dict[Any, _Schema] = {}
        self._fakes: Dict[int, Any] = {}

    def next_call(self) -> int:
        self._calls += 1
        return self._calls

    def _faked(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if isinstance(value, torch._subclasses.FakeTensor):
                return value
            held = self._fakes.get(id(value))
            if held is None:
                make = self.fake.from_tensor if self.known is None else self.known.fake_of
                held = self._fakes[id(value)] = (value, make(value))
            return held[1]
        if isinstance(value, (list, tuple)):
            return type(value)(self._faked(v) for v in value)
        return value

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Optional[Dict[str, Any]] = None
    ) -> Any:
        kwargs = kwargs or {}
        schema = self._schema(func)
        if schema.silent or self.silent:
            return func(*args, **kwargs)
        if self.fake is not None and not schema.lifts:
            args = [self._faked(a) for a in args]
            kwargs = {k: self._faked(v) for k, v in kwargs.items()}
        rule = _GRADIENTS.get(schema.name) if self.fake is not None else None
        record = self.observe if self.known is None else self._beside
        return record(func, args, kwargs, rule or func)

    def _beside(self, func: Any, args: Any, kwargs: Dict[str, Any], run: Any) -> Any:
        """Records one operator on fake tensors; known values are computed beside it and answer the host."""
        known, schema = self.known, self._schema(func)
        base = schema.name.partition("::")[2]
        if schema.lifts:
            result = self.observe(func, args, kwargs, run)
            given = args[0]
            return result if isinstance(given, torch._subclasses.FakeTensor) else known.put(result, given)
        inputs = list(tensors_in([*args, *kwargs.values()]))
        computed = known.compute(func, args, kwargs, inputs)
        answered = known.answer(func, base, inputs)
        if answered is not None:
            return answered[0]
        args = known.arguments(base, args)
        sized = known.sized(func, base, args, computed)
        result = self.observe(func, args, kwargs, run if sized is None else lambda *_, **__: sized)
        if sized is None:
            known.after(func, args, kwargs, result, computed)
        return result

    def observe(self, func: Any, args: Any, kwargs: Dict[str, Any], run: Any) -> Any:
        """Records one operator that is run by `run`."""
        schema = self._schema(func)
        if schema.silent or self.silent:
            return run(*args, **kwargs)
        self.storages.look(len(self.operators))
        inputs = [t for a in args for t in tensors_in(a)] + [
            t for v in kwargs.values() for t in tensors_in(v)
        ]
        ins = tuple(size_of(t) for t in inputs)  # before it runs: resize_ and set_ change them
        result = run(*args, **kwargs)
        self._write(schema, inputs, ins, list(tensors_in(result)), schema.settings(args, kwargs))
        return result

    def _schema(self, func: Any) -> _Schema:
        if func not in self._schemas:
            self._schemas[func] = _Schema(func)
        return self._schemas[func]

    def _write(
        self,
        schema: _Schema,
        inputs: List[torch.Tensor],
        ins: Tuple[Size, ...],
        outputs: List[torch.Tensor],
        settings: Dict[str, Any],
    ) -> None:
        keys = {self.storages.key(t) for t in inputs}
        keys.discard(None)
        if self.backward and schema.name == "aten::detach" and not torch.is_grad_enabled():
            for tensor in outputs:  # the saved-tensor hooks' own, or a gradient that is handed on: no work
                self.storages.again(tensor)
            return
        view = not schema.inplace and bool(outputs) and all(self.storages.key(t) in keys for t in outputs)
        self.add(
            Operator(
                schema.name,
                "",
                ins,
                tuple(size_of(t) for t in outputs),
                {} if view else settings,
                inplace=schema.inplace,
                view=view,
            ),
            outputs,
        )

    def rename(self, dtype: str, other: str) -> None:
        """Writes one number type as another, in every size."""

        def named(sizes: Tuple[Size, ...]) -> Tuple[Size, ...]:
            return tuple((other if name == dtype else name, shape) for name, shape in sizes)

        for operator in self.operators:
            operator.ins, operator.outs = named(operator.ins), named(operator.outs)
        for storage in self.storages.records:
            storage.size = named((storage.size,))[0]

    def add(self, operator: Operator, outputs: Sequence[torch.Tensor]) -> None:
        """Puts an operator at the end, with the module and the call that are running."""
        if len(self.operators) >= MOST_OPERATORS:
            raise CaptureError(
                f"the step has more than {MOST_OPERATORS} operators\n"
                "  hint: record fewer layers or fewer time steps; a loop over samples can be one batch"
            )
        operator.of = self.modules[-1] if self.modules else ""
        operator.backward = self.backward
        operator.recomputed = self.backward and torch.is_grad_enabled()
        operator.call = self.call
        operator.autocast = self.autocast or _autocast_is_on()
        index = len(self.operators)
        self.operators.append(operator)
        for tensor in outputs:
            self.storages.made(tensor, index)


def _convolution_gradients(
    grad: Any,
    data: Any,
    weight: Any,
    bias_sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: Any,
    output_padding: Any,
    groups: Any,
    mask: Any,
) -> Any:
    """Fake gradients of a convolution: torch 1.13 would compute real ones to see their sizes, seconds of
    it."""
    bias = weight.new_empty(bias_sizes) if mask[2] else None
    return torch.empty_like(data) if mask[0] else None, torch.empty_like(weight) if mask[1] else None, bias


def _norm_gradients(
    grad: Any,
    data: Any,
    weight: Any,
    mean: Any,
    var: Any,
    kept_mean: Any,
    kept_inverse: Any,
    train: Any,
    eps: Any,
    mask: Any,
) -> Any:
    """Fake gradients of a batch norm, those of its parameters in their own type, which torch 1.13 makes
    that of the data."""
    like = kept_mean if weight is None else weight
    return (
        torch.empty_like(data) if mask[0] else None,
        torch.empty_like(like) if mask[1] else None,
        torch.empty_like(like) if mask[2] else None,
    )


_GRADIENTS = {
    "aten::convolution_backward": _convolution_gradients,
    "aten::native_batch_norm_backward": _norm_gradients,
}


def _autocast_is_on() -> bool:
    if torch.is_autocast_enabled():
        return True
    on_cpu = getattr(torch, "is_autocast_cpu_enabled", None)
    return bool(on_cpu()) if on_cpu is not None else False
