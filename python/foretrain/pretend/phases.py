"""Forward, backward, optimizer: which pass a row is of, and when a step has ended."""

from __future__ import annotations

import weakref
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

import torch
from torch.nn.modules import module as nn_module
from torch.optim import optimizer as optimizers

from ..graph import Graph
from ..recorder import tensors_in
from .communication import Communication
from .data import when_imported
from .rows import BACKWARD, FORWARD, OPTIMIZER, StepRecorder
from .session import Session


class Phases:
    """Follows the script through its steps; `finish` is called at the end of the last one."""

    def __init__(
        self,
        session: Session,
        recorder: StepRecorder,
        communication: Communication,
        finish: Callable[[], None],
    ) -> None:
        self.session, self.recorder, self.communication = session, recorder, communication
        self.finish = finish
        self.completed = 0
        self.backwards = 0  #: since the last step ended
        self.samples = 0  #: that the models were given since then, by the first dimension of their inputs
        self.calls = 0  #: of the largest module that was called by itself
        self._largest = 0
        self.roots: List[torch.nn.Module] = []
        self.optimizers: List[Any] = []
        self.graph = Graph(recorder, [])
        self._since_optimizer = False
        self._cycle: List[int] = []
        self._known: Optional[Set[int]] = None
        self._names: Dict[int, Tuple[Any, str]] = {}
        self._depths: List[Tuple[int, int]] = []
        self._nested = 0
        self._inside: List[Any] = []

    @property
    def trained(self) -> bool:
        """A backward pass has begun."""
        return bool(self.completed or self.backwards or self._cycle)

    @property
    def micro_steps(self) -> int:
        """Calls of the model that went backward: a loss in chunks goes backward for each of them."""
        return max(1, min(self.backwards, self.calls) if self.calls else self.backwards)

    def install(self) -> None:
        backward = torch.autograd.backward

        def run_backward(*args: Any, **kwargs: Any) -> Any:
            outer, self.recorder.phase = self.recorder.phase, BACKWARD
            was, self.recorder.backward = self.recorder.backward, True
            if not was:
                self.backwards += 1
                self._since_optimizer = True
                for tensor in tensors_in(args[0] if args else kwargs.get("tensors")):
                    if tensor.grad_fn is not None:
                        self.graph._mark(tensor.grad_fn)
                self.graph.begin_backward()
            try:
                return backward(*args, **kwargs)
            finally:
                self.recorder.phase, self.recorder.backward = outer, was

        torch.autograd.backward = run_backward
        optimizers.register_optimizer_step_pre_hook(self._before_step)
        optimizers.register_optimizer_step_post_hook(self._after_step)
        self._count_samples()
        nn_module.register_module_forward_pre_hook(self._enter)
        nn_module.register_module_forward_hook(self._leave, **_ALWAYS)
        self.graph.hooks().__enter__()
        when_imported("deepspeed.runtime.engine", self._deepspeed)

    def _deepspeed(self, module: Any) -> None:
        self.session.uses("DeepSpeed")
        self.enclose(module.DeepSpeedEngine)

    def _count_samples(self) -> None:
        """A call of the largest module with gradients trains a sample for each row of its largest input."""
        call = torch.nn.Module.__call__

        def run(module: Any, *args: Any, **kwargs: Any) -> Any:
            if not self._depths and torch.is_grad_enabled() and module.training:
                given = list(tensors_in([list(args), list(kwargs.values())]))
                largest = max(given, key=lambda one: one.numel(), default=None)
                size = sum(p.numel() for p in module.parameters() if p.requires_grad)
                if largest is not None and largest.dim() and size >= self._largest:
                    if size > self._largest:  # a loss in chunks or a layer that is computed again is smaller
                        self._largest, self.samples, self.calls = size, 0, 0
                    self.samples += largest.shape[0] if size else 0
                    self.calls += 1 if size else 0
            return call(module, *args, **kwargs)

        torch.nn.Module.__call__ = run  # type: ignore

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        self._nested += 1
        if self._nested > 1:
            return None
        self.recorder.phase = OPTIMIZER
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        if not callable(closure):
            return None

        def with_phase(*a: Any, **k: Any) -> Any:
            self.recorder.phase = FORWARD
            try:
                return closure(*a, **k)
            finally:
                self.recorder.phase = OPTIMIZER

        if len(args) > 1:
            return (args[0], with_phase) + tuple(args[2:]), kwargs
        return args, {**kwargs, "closure": with_phase}

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self._nested = max(self._nested - 1, 0)
        if self._nested:
            self._inside.append(optimizer)
            return
        self._ended(optimizer)

    def enclose(self, kind: Any) -> None:
        """A framework's engine has a backward and a step of its own around those of torch."""
        phases, backward, step = self, kind.backward, kind.step

        def run_backward(engine: Any, *args: Any, **kwargs: Any) -> Any:
            outer, phases.recorder.phase = phases.recorder.phase, BACKWARD
            try:
                return backward(engine, *args, **kwargs)
            finally:
                phases.recorder.phase = outer

        def run_step(engine: Any, *args: Any, **kwargs: Any) -> Any:
            phases._nested += 1
            outer, phases.recorder.phase = phases.recorder.phase, OPTIMIZER
            try:
                return step(engine, *args, **kwargs)
            finally:
                phases._nested -= 1
                phases.recorder.phase = outer
                if phases._inside and not phases._nested:
                    last = phases._inside[-1]
                    phases._inside.clear()
                    phases._ended(last)

        kind.backward, kind.step = run_backward, run_step

    def _ended(self, optimizer: Any) -> None:
        """An optimizer's step has ended; with it, if all of them stepped, that of the training."""
        self.recorder.phase = FORWARD
        if not self._since_optimizer and not self._cycle:
            return  # a step before any backward: a framework makes its states
        self._since_optimizer = False
        if optimizer not in self.optimizers:
            self.optimizers.append(optimizer)
        identity = id(optimizer)
        if identity in self._cycle:
            if self._known is None:
                self._known = set(self._cycle)
                self.completed = 1
            self._cycle = []
        self._cycle.append(identity)
        ended = self._known is not None and self._known <= set(self._cycle)
        if ended:
            self.completed += 1
        if self.completed >= self.session.steps or (self.session.steps == 1 and self._known is None):
            self.completed = max(self.completed, 1)
            self.finish()
        if ended or self._known is None:
            self._begin()

    def _begin(self) -> None:
        """The next step begins: rows, storages and the count of backward passes start anew."""
        self.backwards = self.samples = self.calls = self._largest = 0
        self.recorder.begin()
        self.communication.begin()
        self.graph._given = 0

    def _enter(self, module: Any, given: Any) -> None:
        stack = self.recorder.modules
        if id(module) not in self._names:
            self._learn(module, not stack)
        name = self._names.get(id(module), (None, stack[-1] if stack else ""))[1]
        self._depths.append((id(module), len(stack)))
        stack.append(name)
        if self.recorder.phase == OPTIMIZER and torch.is_grad_enabled() and not self._nested:
            self.recorder.phase = FORWARD

    def _leave(self, module: Any, _: Any, result: Any) -> None:
        if self.recorder.recording:
            self.graph.made(list(tensors_in(result)))
        while self._depths:
            identity, depth = self._depths.pop()
            del self.recorder.modules[depth:]
            if identity == id(module):
                break

    def _learn(self, module: torch.nn.Module, outermost: bool) -> None:
        """The names of a module that runs for the first time, and of all within it."""
        if not outermost or not any(True for _ in module.parameters()):
            return
        inside = {id(m) for m in module.modules()}
        first = not any(id(r) not in inside for r in self.roots)
        self.roots = [r for r in self.roots if id(r) not in inside] + [module]
        prefix = "" if first else f"{type(module).__name__}."
        inner: Any = module
        while type(inner).__name__ == "DistributedDataParallel" and hasattr(inner, "module"):
            self._names[id(inner)] = (weakref.ref(inner), "")
            inner = inner.module
        for name, one in inner.named_modules():
            clean = plain_name(prefix + name)
            self._names[id(one)] = (weakref.ref(one), clean.rstrip("."))


def plain_name(name: str) -> str:
    """A name without what wrappers put in."""
    for part in ("_fsdp_wrapped_module.", "_orig_mod.", "_checkpoint_wrapped_module."):
        name = name.replace(part, "")
    for part in ("_fsdp_wrapped_module", "_orig_mod", "_checkpoint_wrapped_module"):
        name = name[: -len(part)].rstrip(".") if name.endswith(part) else name
    return name


def _always() -> Dict[str, Any]:
    import inspect

    given = inspect.signature(nn_module.register_module_forward_hook).parameters
    return {"always_call": True} if "always_call" in given else {}


_ALWAYS = _always()
