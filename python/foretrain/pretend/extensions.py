"""Compiled extensions: a rule for each that says which operator it stands for. A user's own rules join them.

A rule is a row `name: function(recorder, *args, **kwargs)`; `foretrain record --rules FILE.py` reads a
dictionary `RULES` of such rows from a Python file.
"""

from __future__ import annotations

import importlib.machinery
import runpy
import sys
import types
from typing import Any, Callable, Dict, Optional

import torch

from .data import when_imported
from .session import RecordError, Session, refuse

aten = torch.ops.aten


def _flash(
    q: Any, k: Any, v: Any, dropout_p: float = 0.0, softmax_scale: Any = None, causal: bool = False, **_: Any
) -> Any:
    """flash_attn_func: [batch, tokens, heads, width] each."""
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    made = aten._scaled_dot_product_flash_attention(q, k, v, dropout_p, causal, False, scale=softmax_scale)
    return made[0].transpose(1, 2)


def _flash_packed(
    qkv: Any, dropout_p: float = 0.0, softmax_scale: Any = None, causal: bool = False, **_: Any
) -> Any:
    q, k, v = qkv.unbind(2)
    return _flash(q, k, v, dropout_p, softmax_scale, causal)


def _flash_varlen(
    q: Any,
    k: Any,
    v: Any,
    *_: Any,
    dropout_p: float = 0.0,
    softmax_scale: Any = None,
    causal: bool = False,
    **__: Any,
) -> Any:
    """Sequences of several lengths in one row: taken for one sequence."""
    return _flash(q[None], k[None], v[None], dropout_p, softmax_scale, causal)[0]


def _xformers(
    query: Any, key: Any, value: Any, attn_bias: Any = None, p: float = 0.0, scale: Any = None, **_: Any
) -> Any:
    causal = attn_bias is not None and "LowerTriangular" in type(attn_bias).__name__
    return _flash(query, key, value, p, scale, causal)


def _norm(plain: str) -> Any:
    """apex's fused norms as PyTorch's own."""
    return lambda: getattr(torch.nn, plain)


def _optimizer(plain: str) -> Any:
    """Fused optimizers as PyTorch's fused one: the same reads and writes."""

    def make() -> Any:
        base = getattr(torch.optim, plain)

        class Fused(base):  # type: ignore[misc, valid-type]
            def __init__(self, params: Any, lr: float = 1e-3, *args: Any, **kwargs: Any) -> None:
                names = ("betas", "eps", "weight_decay", "amsgrad", "momentum", "nesterov")
                super().__init__(params, lr, fused=True, **{k: v for k, v in kwargs.items() if k in names})

        Fused.__name__ = plain
        return Fused

    return make


#: Modules that are made up where they are missing: what each name in them is.
RULES: Dict[str, Dict[str, Any]] = {
    "flash_attn": {
        "__version__": "2.8.0",
        "flash_attn_func": _flash,
        "flash_attn_qkvpacked_func": _flash_packed,
        "flash_attn_varlen_func": _flash_varlen,
    },
    "flash_attn.flash_attn_interface": {
        "flash_attn_func": _flash,
        "flash_attn_qkvpacked_func": _flash_packed,
        "flash_attn_varlen_func": _flash_varlen,
    },
    "xformers": {"__version__": "0.0.30"},
    "xformers.ops": {"memory_efficient_attention": _xformers},
    "apex": {},
    "apex.optimizers": {"FusedAdam": _optimizer("AdamW"), "FusedSGD": _optimizer("SGD")},
    "apex.normalization": {"FusedLayerNorm": _norm("LayerNorm"), "FusedRMSNorm": _norm("RMSNorm")},
}
#: Extensions that are known and have no rule.
_WITHOUT = ("transformer_engine", "bitsandbytes", "horovod", "torch_xla", "oneccl_bindings_for_pytorch")


def install(session: Session, own: Optional[str]) -> None:
    """Makes up the modules that have rules and are not installed; names those without."""
    rules = dict(RULES)
    if own:
        try:
            rules.update(runpy.run_path(own)["RULES"])
        except Exception as error:
            raise RecordError(
                f"{own}: no rules ({type(error).__name__}: {error})\n"
                '  hint: a Python file with RULES = {"module": {"name": function}}'
            ) from error
    sys.meta_path.append(_Made(session, rules))  # type: ignore
    import torch.utils.cpp_extension as compiled

    def load(name: str, *_: Any, **__: Any) -> Any:
        refuse(
            f"the script compiles the extension {name}, for which there is no rule",
            "give one: foretrain record --rules FILE.py, or switch the extension off",
        )

    compiled.load = compiled.load_inline = load
    when_imported("deepspeed.ops.op_builder.builder", lambda module: _deepspeed(module, session))
    when_imported("triton.runtime.jit", lambda module: _triton(module, session))
    when_imported("triton.runtime.autotuner", _first_of_autotuner)


def _triton(module: Any, session: Session) -> None:
    """A kernel written in Triton is never compiled: it reads and writes its largest tensor once."""

    def run(self: Any, *args: Any, grid: Any = None, warmup: bool = False, **kwargs: Any) -> None:
        given = [*args, *kwargs.values()]
        tensors = [one for one in given if isinstance(one, torch.Tensor) and one.device.type == "cuda"]
        name = getattr(getattr(self, "fn", None), "__name__", "without a name")
        session.note(
            f"The Triton kernel {name} is taken for one pass over its largest tensor;"
            " its arithmetic is not counted."
        )
        if tensors and not warmup:
            largest = max(tensors, key=lambda one: one.numel() * one.element_size())
            with torch.no_grad():
                aten.copy_(largest, largest.detach())

    module.JITFunction.run = run


def _first_of_autotuner(module: Any) -> None:
    """Nothing is tried: the first configuration is as good as any."""

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.fn.run(*args, **kwargs)

    module.Autotuner.run = run


def _multi_tensor_adam(
    chunk: int, overflow: Any, lists: Any, lr: float, one: float, two: float, eps: float, *more: Any
) -> None:
    """DeepSpeed's and apex's Adam over lists: gradients, parameters, two moments."""
    gradients, parameters, first, second = lists
    with torch.no_grad():
        steps = [torch.zeros((), device=p.device) for p in parameters[:1]] * len(parameters)
        aten._fused_adamw_(
            parameters, gradients, first, second, [], steps, lr=float(lr), beta1=one, beta2=two,
            weight_decay=0.0, eps=eps, amsgrad=False, maximize=False,
        )  # fmt: skip


def _deepspeed(module: Any, session: Session) -> None:
    """DeepSpeed's own operators are compiled when they are first used."""

    def load(self: Any, verbose: bool = True) -> Any:
        if self.name == "fused_adam":
            session.note("DeepSpeed's FusedAdam was recorded as PyTorch's fused AdamW.")
            return types.SimpleNamespace(multi_tensor_adam=_multi_tensor_adam)
        if self.name == "utils":
            return _Flattening()
        refuse(
            f"DeepSpeed compiles its operator {self.name}, for which there is no rule",
            "switch it off in DeepSpeed's configuration",
        )

    module.OpBuilder.load = load


class _Flattening:
    """DeepSpeed's flatten and unflatten are those of PyTorch."""

    flatten = staticmethod(torch._utils._flatten_dense_tensors)
    unflatten = staticmethod(torch._utils._unflatten_dense_tensors)


class _Made:
    """Finds a module by its rules, after all other finders found none."""

    def __init__(self, session: Session, rules: Dict[str, Dict[str, Any]]) -> None:
        self.session, self.rules = session, rules

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name in self.rules and _asked_by_user():
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        if name.partition(".")[0] in _WITHOUT and _asked_by_user():
            if name.startswith("horovod"):
                refuse("Horovod is not recorded", "the same training with DistributedDataParallel is")
            refuse(
                f"the extension {name} has no rule",
                "give one: foretrain record --rules FILE.py, or switch the extension off",
            )
        return None

    def create_module(self, spec: Any) -> Any:
        return types.ModuleType(spec.name)

    def exec_module(self, module: Any) -> None:
        self.session.note(f"{module.__name__} is not installed; a rule stands in for it.")
        for name, value in self.rules[module.__name__].items():
            setattr(module, name, _made(value))


def _made(value: Any) -> Any:
    """A rule's value; classes are made when they are asked for."""
    return (
        value() if isinstance(value, types.FunctionType) and value.__name__ in ("make", "<lambda>") else value
    )


def _asked_by_user() -> bool:
    """Whether an import comes from the user's own code, and not from a library that tries."""
    from ..errors import is_library

    frame: Any = sys._getframe(2)
    while frame is not None:
        path = frame.f_code.co_filename
        if "importlib" not in path and not path.startswith("<"):
            return not is_library(path)
        frame = frame.f_back
    return False
