"""One training step under the recorder: on fake tensors, or for real on the device where the model is."""
from __future__ import annotations

import contextlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import torch
from torch.nn.modules import module as nn_module

from .autocasting import Autocast, cuda_autocast_seen
from .batches import bare, default_loss, forward_arguments, loss_function, map_tensors, once, tensors_of
from .calls import Calls, bodies_run
from .errors import CaptureError
from .graph import Graph
from .known import KNOWS_VALUES, Known, no_tracer_seen
from .recorder import Operator, Recorder, is_fake
from .sizes import Size, size_of
from .storages import Storage


@dataclass
class Step:
    """What one recorded step was."""

    operators: List[Operator]
    storages: List[Storage]
    inputs: List[Size]
    order: List[int]
    loss: str
    faked: bool
    drew: bool = False  #: the host read random numbers, which were drawn for it


def parameters_of(model: torch.nn.Module) -> List[Tuple[str, torch.nn.Parameter]]:
    """Named parameters in registration order, tied ones once."""
    return list(model.named_parameters())


@contextlib.contextmanager
def _modules_named(model: torch.nn.Module, recorder: Recorder, graph: Graph) -> Iterator[None]:
    names = {id(m): name for name, m in model.named_modules()}
    depths: List[Tuple[int, int]] = []

    def before(module: torch.nn.Module, _: Any) -> None:
        depths.append((id(module), len(recorder.modules)))
        recorder.modules.append(names.get(id(module), recorder.modules[-1] if recorder.modules else ""))

    def after(module: torch.nn.Module, _: Any, result: Any) -> None:
        graph.made(result)
        while depths:  # a forward that raised, and was caught, left its own behind
            identity, depth = depths.pop()
            del recorder.modules[depth:]
            if identity == id(module):
                break

    hooks = [
        nn_module.register_module_forward_pre_hook(before),
        nn_module.register_module_forward_hook(after),
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@contextlib.contextmanager
def _faked(model: torch.nn.Module, fake: Callable[[torch.Tensor], torch.Tensor]) -> Iterator[None]:
    """The model's parameters and buffers are fake ones, made by `fake`, while it lasts."""
    fakes: Dict[int, torch.Tensor] = {}
    undo: List[Tuple[Any, str, Any]] = []
    try:
        for module in model.modules():
            for held in (module._parameters, module._buffers):  # type: Any
                for name, tensor in held.items():
                    if tensor is not None:
                        if id(tensor) not in fakes:
                            fakes[id(tensor)] = fake(tensor)
                        undo.append((held, name, tensor))
                        held[name] = fakes[id(tensor)]
        for module in model.modules():  # lists of weights, as recurrent layers have them
            for name, value in list(module.__dict__.items()):
                if isinstance(value, (list, tuple)) and any(
                    isinstance(v, torch.Tensor) and id(v) in fakes for v in value
                ):
                    undo.append((module.__dict__, name, value))
                    module.__dict__[name] = type(value)(
                        fakes.get(id(v), v) if isinstance(v, torch.Tensor) else v for v in value
                    )
        yield
    finally:
        for held, name, value in reversed(undo):
            held[name] = value


@contextlib.contextmanager
def _kept(model: torch.nn.Module) -> Iterator[None]:
    """Buffers, gradients and random states are afterwards what they were."""
    buffers = [(b, b.detach().clone()) for b in model.buffers()]
    gradients = [(p, p.grad) for p in model.parameters()]
    for parameter, _ in gradients:
        parameter.grad = None
    try:
        with torch.random.fork_rng():
            yield
    finally:
        with torch.no_grad():
            for buffer, value in buffers:
                buffer.copy_(value)
        for parameter, gradient in gradients:
            parameter.grad = gradient


@contextlib.contextmanager
def _training(model: torch.nn.Module) -> Iterator[None]:
    """A model in eval mode is in training mode while it lasts; parts in eval mode of one in training mode
    stay so."""
    modes = [(m, m.training) for m in model.modules()]
    if not model.training:
        model.train()
    try:
        yield
    finally:
        for module, mode in modes:
            module.training = mode


@contextlib.contextmanager
def _no_logger(model: torch.nn.Module) -> Iterator[None]:
    """Lightning's log functions want a trainer."""
    names = [n for n in ("log", "log_dict") if callable(getattr(type(model), n, None))]
    for name in names:
        model.__dict__[name] = lambda *_, **__: None
    try:
        yield
    finally:
        for name in names:
            model.__dict__.pop(name, None)


def _is_lightning(model: torch.nn.Module) -> bool:
    return callable(getattr(model, "training_step", None))


def _training_step(model: Any, batch: Any) -> Tuple[Any, str]:
    if getattr(model, "automatic_optimization", True) is False:
        raise CaptureError(
            "the module optimises by hand (automatic_optimization = False): its training_step is no single "
            "forward and backward\n  hint: pass loss=function(output, target) to record forward instead"
        )
    wants = len(
        [
            p
            for p in inspect.signature(model.training_step).parameters.values()
            if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    )
    with _no_logger(model):
        result = model.training_step(batch, 0) if wants != 1 else model.training_step(batch)
    loss = result.get("loss") if isinstance(result, Mapping) else result
    if not isinstance(loss, torch.Tensor):
        raise CaptureError(
            'training_step returned no loss\n  hint: it returns a tensor, or a dict with "loss"'
        )
    return loss, "training_step's"


def _forward(model: torch.nn.Module, batch: Any, loss: Any) -> Tuple[torch.Tensor, str]:
    if loss is None and _is_lightning(model):
        return _training_step(model, batch)
    args, named, target = forward_arguments(model, batch, loss)
    if (
        loss is not None
        and named
        and target is not None
        and not _accepts(model, "labels" if "labels" in named else "target")
    ):
        named.pop("labels", None), named.pop("target", None)
    output = model(*args, **named)
    if loss is None:
        return default_loss(output, target)
    try:
        inspect.signature(loss_function(loss)).bind(output, target)
        value = loss(output, target)
    except TypeError:
        value = loss(output)
    return value, "the given one"


def _accepts(model: torch.nn.Module, name: str) -> bool:
    parameters = inspect.signature(model.forward).parameters.values()
    return any(p.name == name or p.kind == p.VAR_KEYWORD for p in parameters)


def _checked(loss: Any) -> torch.Tensor:
    if not isinstance(loss, torch.Tensor):
        raise CaptureError(
            f"the loss is {type(loss).__name__}, no tensor\n  hint: loss(output, target) returns a scalar"
            " tensor"
        )
    if loss.dim() > 0 and loss.numel() != 1:
        raise CaptureError(
            f"the loss has the shape {tuple(loss.shape)}\n  hint: reduce it, as by .mean(), so that it is a"
            " scalar"
        )
    if not loss.requires_grad:
        raise CaptureError(
            "the loss has no gradient: nothing would be trained\n  hint: check requires_grad of the"
            " parameters, torch.no_grad() and .detach() in forward"
        )
    return loss


def _device(model: torch.nn.Module, batch: Any) -> torch.device:
    for tensor in list(model.parameters()) + tensors_of(batch):
        return tensor.device
    return torch.device("cpu")


def run_step(model: torch.nn.Module, batch: Any, loss: Any, faked: bool, half: Optional[torch.dtype]) -> Step:
    """Forward, loss, backward of one batch. Raises what the model's code raises."""
    model = bare(model)
    device = _device(model, batch)
    if faked:
        mode = _mode_of(model, batch) or _fake_mode()
        known = Known(mode) if KNOWS_VALUES else None

        def fake(tensor: torch.Tensor) -> torch.Tensor:
            return _fake(tensor, mode, known)

        with _training(model), _faked(model, fake), no_tracer_seen(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)  # both recordings draw the same
            return _record(model, map_tensors(batch, once(fake)), loss, device, half, mode, known)
    with _training(model), _kept(model):
        return _record(
            model, map_tensors(batch, once(lambda t: t.detach().clone())), loss, device, half, None
        )


def _mode_of(model: torch.nn.Module, batch: Any) -> Any:
    """The mode in which the model or its batch was made without data; None where they have data."""
    for tensor in [*model.parameters(), *model.buffers(), *tensors_of(batch)]:
        if is_fake(tensor):
            return tensor.fake_mode  # type: ignore[attr-defined]
    return None


def _fake(tensor: torch.Tensor, mode: Any, known: Any) -> torch.Tensor:
    """A tensor without data of its own: of a real one, with its values beside it, or of one without data."""
    if not is_fake(tensor):
        return mode.from_tensor(tensor) if known is None else known.fake_of(tensor)
    value = known.values.of(tensor)
    with mode, torch.no_grad():
        alike = tensor.detach()
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(alike, tensor.requires_grad)
    return alike if value is None else known.put(alike, value)


def _fake_mode() -> Any:
    """A fake mode that refuses to invent values where the code asks for them."""
    from torch._subclasses import FakeTensorMode

    try:
        return FakeTensorMode(throw_on_data_dependent_ops=True)  # type: ignore[call-arg]
    except TypeError:
        return FakeTensorMode()


def _record(
    model: torch.nn.Module,
    batch: Any,
    loss: Any,
    device: torch.device,
    half: Optional[torch.dtype],
    mode: Any,
    known: Any = None,
) -> Step:
    recorder = Recorder(mode, known)
    for tensor in list(model.parameters()) + list(model.buffers()):
        recorder.storages.leave_out(tensor)
    inputs = tensors_of(batch)
    for tensor in inputs:
        recorder.storages.made(tensor, 0)
    graph = Graph(recorder, [p for _, p in parameters_of(model)])
    autocast = Autocast(mode is not None)
    if half is not None:
        autocast.enter(half, True)
    calls = Calls(recorder, graph, autocast, device)
    on_cpu = device.type != "cuda"
    with contextlib.ExitStack() as stack:
        stack.enter_context(bodies_run())
        stack.enter_context(torch.jit.optimized_execution(False))  # or scripts differ each time
        stack.enter_context(cuda_autocast_seen(autocast) if on_cpu else contextlib.nullcontext())
        stack.enter_context(_modules_named(model, recorder, graph))
        if mode is not None:
            stack.enter_context(mode)
        stack.enter_context(recorder)
        stack.enter_context(calls)
        with graph.hooks():
            value, words = _forward(model, batch, loss)
            value = _checked(value)
        graph.made(value)
        if half is not None:
            autocast.leave()
        recorder.modules.clear()
        recorder.backward = True
        with torch.no_grad():
            one = torch.ones_like(value)
        graph.begin_backward()
        torch.autograd.backward([value], [one])
        recorder.backward = False
    sizes = [size_of(t) for t in inputs]
    del value, one
    recorder.storages.close(len(recorder.operators))
    graph.close()
    if autocast.stands_in:
        recorder.rename("bf16", "f16")
    drew = known is not None and known.drawn_was_read
    faked = mode is not None
    return Step(recorder.operators, recorder.storages.records, sizes, graph.order, words, faked, drew)
