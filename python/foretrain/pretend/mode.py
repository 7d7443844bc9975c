"""The dispatch mode of a pretend rank: tensors of the GPU hold nothing, small ones of the host are real."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, UnsupportedOperatorException
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_map

from ..recorder import Recorder, tensors_in
from .session import Session, refuse
from .shapes import rule
from .unknown import answer, guess_indices, guess_shape, read_of
from .values import MOST_WHOLE, Values

#: A real tensor of the host with more floats than this holds nothing, unless data is being loaded.
MOST_REAL_FLOATS = 16384
_MOST_REAL = 1 << 27
_PLAIN = (torch.Tensor, torch.nn.Parameter, FakeTensor)
_COLLECTIVE = ("c10d", "_c10d_functional", "c10d_functional", "_c10d_functional_autograd")


def _wrapper(kind: Any) -> bool:
    """DTensor and other subclasses that hold tensors: they take themselves apart first."""
    if kind in _PLAIN or issubclass(kind, FakeTensor):
        return False
    return hasattr(kind, "__tensor_flatten__")


class Pretend(TorchDispatchMode):
    """Runs each operator on tensors without data, and tells the recorder."""

    supports_higher_order_operators = True

    def __init__(self, session: Session, recorder: Recorder, communication: Any) -> None:
        super().__init__()
        self.session, self.recorder, self.communication = session, recorder, communication
        self.fake = FakeTensorMode(allow_non_fake_inputs=True, allow_fallback_kernels=False)
        self.values = Values()
        self._names: Dict[Any, str] = {}
        communication.mode = self

    def __enter__(self) -> Any:
        if hasattr(torch._C, "_set_only_lift_cpu_tensors"):
            torch._C._set_only_lift_cpu_tensors(True)
        return super().__enter__()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Optional[Dict[str, Any]] = None
    ) -> Any:
        kwargs = kwargs or {}
        if any(_wrapper(t) for t in types):
            return NotImplemented
        if not isinstance(func, torch._ops.OpOverload):
            with self.fake:
                return func(*args, **kwargs)
        if func.namespace in ("prim", "profiler"):
            return func(*args, **kwargs)
        if func.namespace in _COLLECTIVE:
            return self.communication.run(func, args, kwargs)
        inputs = [t for a in args for t in tensors_in(a)] + [
            t for v in kwargs.values() for t in tensors_in(v)
        ]
        device = kwargs.get("device")
        on_gpu = device is not None and torch.device(device).type == "cuda"
        if on_gpu and torch.device(device).index is None:
            kwargs = dict(kwargs, device=torch.device("cuda", self.session.local))
        if not on_gpu and not any(isinstance(t, FakeTensor) for t in inputs):
            if self._stays_real(func, args, kwargs, inputs):
                return func(*args, **kwargs)
        if torch.is_inference_mode_enabled():  # composed operators arrive whole
            with self:
                made = func.decompose(*args, **kwargs)
            if made is not NotImplemented:
                return made
        return self._run(func, args, kwargs, inputs)

    def _stays_real(self, func: Any, args: Any, kwargs: Any, inputs: List[torch.Tensor]) -> bool:
        if inputs:
            return sum(t.numel() for t in inputs) <= _MOST_REAL
        if self.session.loading:
            return True
        try:
            with self.fake:
                made = func(*args, **kwargs)
        except Exception:
            return True
        if not isinstance(made, torch.Tensor):
            return True
        most = MOST_REAL_FLOATS if made.is_floating_point() else MOST_WHOLE
        return made.numel() <= most

    def _run(self, func: Any, args: Any, kwargs: Any, inputs: List[torch.Tensor]) -> Any:
        for tensor in inputs:
            if getattr(tensor, "constant", None) is not None:
                tensor.constant = None  # type: ignore[attr-defined]
        base = func._schema.name.partition("::")[2]
        found = answer(self, func, base, args, inputs)
        if found is not None:
            return found[0]
        computed = self.values.compute(func, args, kwargs, inputs)
        if base == "copy_" and not isinstance(args[0], FakeTensor):
            value = self.values.of(args[1])
            read_of(self, args[1])
            if value is not None:
                with _disable_current_modes():
                    args[0].copy_(value)
            return args[0]
        if torch.Tag.dynamic_output_shape in func.tags or base in ("index_put_", "index_put", "nms"):
            args, shaped = guess_shape(self, func, base, args, kwargs, computed)
            if shaped is not None:
                return shaped
        if any(not isinstance(t, FakeTensor) for t in inputs):
            args, kwargs = tree_map(self.faked, (tuple(args), dict(kwargs)))
        self._read_by_copy(base, args, kwargs)

        issue = rule(func) or func

        def run(*a: Any, **k: Any) -> Any:
            with self.fake:
                try:
                    return issue(*a, **k)
                except UnsupportedOperatorException:
                    refuse(
                        f"the size of the result of {func._schema.name} is not known without a GPU",
                        "give the extension a rule: --rules FILE.py, or switch it off",
                    )

        out = self.recorder.observe(func, args, kwargs, run)
        self._values_of(func, base, args, kwargs, out, computed)
        return out

    def _values_of(self, func: Any, base: str, args: Any, kwargs: Any, out: Any, computed: Any) -> None:
        if computed is not None:
            self.values.attach(out, computed)
            return
        if func._schema.is_mutable:
            if base == "_amp_foreach_non_finite_check_and_unscale_":
                return  # gradients are taken for finite
            if base == "copy_" and self.values.of(args[1]) is not None:
                value = self.values.of(args[1])
                assert value is not None
                with _disable_current_modes():
                    self.values.put(args[0], value.expand(args[0].shape).to(args[0].dtype, copy=True))
                return
            self.values.forget_written(func, args, kwargs)
            return
        guess_indices(self, base, args, out)

    def _read_by_copy(self, base: str, args: Any, kwargs: Any) -> None:
        device = kwargs.get("device")
        if base == "_to_copy" and device is not None and torch.device(device).type == "cpu":
            if args[0].device.type == "cuda" and not kwargs.get("non_blocking"):
                read_of(self, args[0])

    def faked(self, value: Any) -> Any:
        """A real tensor as a fake one, with its values beside it."""
        if isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor):
            made = self.fake.from_tensor(value)
            self.values.put(made, value)
            return made
        return value

    def wrapped(self, values: Any, device: Any) -> Any:
        """Real results as fake tensors on `device`."""

        def one(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            with self.fake:
                made = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=device)
            self.values.put(made, value)
            return made

        return tree_map(one, values)
