"""DistributedDataParallel by its rules: buckets, their order and broadcasts, as the C++ reducer sends."""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import Any, Dict, Iterator, List, Optional, Tuple

import torch
import torch.distributed as dist
from torch.utils._pytree import tree_map

from .session import Session

_BROADCAST = 250 << 20
_MIB = 1 << 20


class Bucket:
    """What a communication hook is given."""

    def __init__(self, buffer: torch.Tensor, index: int, last: bool, parameters: List[Any]) -> None:
        self._buffer, self._index, self._last, self._parameters = buffer, index, last, parameters

    def buffer(self) -> torch.Tensor:
        return self._buffer

    def set_buffer(self, buffer: torch.Tensor) -> None:
        self._buffer = buffer

    def index(self) -> int:
        return self._index

    def is_last(self) -> bool:
        return self._last

    def parameters(self) -> List[Any]:
        return self._parameters

    def gradients(self) -> List[Any]:
        return [p.grad for p in self._parameters]


class DistributedDataParallel(torch.nn.Module):
    """Stands in for torch.nn.parallel.DistributedDataParallel."""

    session: Optional[Session] = None

    def __init__(
        self,
        module: torch.nn.Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: Optional[float] = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
        **_: Any,
    ) -> None:
        super().__init__()
        if self.session is not None:
            self.session.uses("torch DistributedDataParallel")
        self.module = module
        if device_mesh is not None and process_group is None:
            process_group = device_mesh.get_group(mesh_dim=0)
        self.process_group = process_group or dist.group.WORLD
        self.device_ids, self.dim, self.output_device = device_ids, dim, output_device
        self.find_unused_parameters, self.static_graph = find_unused_parameters, static_graph
        self.broadcast_buffers, self.gradient_as_bucket_view = broadcast_buffers, gradient_as_bucket_view
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", []))
        self.mixed_precision, self.logger = mixed_precision, None
        cap = int((25 if bucket_cap_mb is None else bucket_cap_mb) * _MIB)
        self._caps = [_MIB if bucket_cap_mb is None else cap, cap]
        self._hook: Optional[Tuple[Any, Any]] = None
        self._sends = [
            p for n, p in module.named_parameters() if p.requires_grad and n not in self.parameters_to_ignore
        ]
        if not self._sends:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameters that"
                " require a gradient."
            )
        self.device = self._sends[0].device
        self._step = 0
        limits = self._caps if find_unused_parameters and not static_graph else [sys.maxsize]
        self._buckets = list(reversed(_assigned(self._sends, limits)))
        self._rebuilt = find_unused_parameters and not static_graph
        self._announce = False
        if init_sync:
            self._verify()
            self._broadcast([x.detach() for x in list(module.parameters()) + list(module.buffers())])
        self._allocate()
        self._reset()
        for index, parameter in enumerate(self._sends):
            parameter.register_post_accumulate_grad_hook(functools.partial(self._ready, index))

    def _verify(self) -> None:
        """Ranks compare the sizes of their parameters when the wrapper is made."""
        counts = torch.empty(dist.get_world_size(self.process_group), dtype=torch.int64, device=self.device)
        dist.all_gather_into_tensor(counts, counts[:1], group=self.process_group)

    def _broadcast(self, tensors: List[torch.Tensor]) -> None:
        by_type: Dict[torch.dtype, List[torch.Tensor]] = {}
        for tensor in tensors:
            by_type.setdefault(tensor.dtype, []).append(tensor)
        for dtype, held in by_type.items():
            count = 0
            for tensor in held:
                count += tensor.numel()
                if count * tensor.element_size() >= _BROADCAST:
                    self._send(count, dtype)
                    count = 0
            if count:
                self._send(count, dtype)

    def _send(self, count: int, dtype: torch.dtype) -> None:
        with torch.no_grad():
            whole = torch.empty(count, dtype=dtype, device=self.device)
            dist.broadcast(whole, 0, group=self.process_group)

    def _reset(self) -> None:
        self._left = [len(bucket) for bucket in self._buckets]
        self._where = {i: k for k, bucket in enumerate(self._buckets) for i in bucket}
        self._next, self._order, self._armed = 0, [], False
        self._works: List[Any] = []

    def _allocate(self) -> None:
        """The buckets' memory, which stays, and the view of each gradient in it."""
        self._held: List[torch.Tensor] = []
        self._pieces: Dict[int, torch.Tensor] = {}
        reduced = getattr(self.mixed_precision, "reduce_dtype", None)
        with torch.no_grad():
            for bucket in self._buckets:
                held = [self._sends[i] for i in bucket]
                count, dtype = sum(p.numel() for p in held), reduced or held[0].dtype
                buffer, place = torch.empty(count, dtype=dtype, device=self.device), 0
                self._held.append(buffer)
                for index, parameter in zip(bucket, held):
                    piece = buffer[place : place + parameter.numel()]
                    self._pieces[index] = piece.view(parameter.shape)
                    place += parameter.numel()

    def _ready(self, index: int, parameter: Any) -> None:
        if not self.require_backward_grad_sync or index in self._order:
            return
        if not self._armed:
            self._armed = True
            torch.autograd.Variable._execution_engine.queue_callback(self._end)
        self._order.append(index)
        self._into_bucket(index, parameter)
        if self.static_graph and self._step == 0:
            return
        self._left[self._where[index]] -= 1
        while self._next < len(self._buckets) and self._left[self._next] <= 0:
            self._launch(self._next)
            self._next += 1

    def _into_bucket(self, index: int, parameter: Any) -> None:
        view = self._pieces[index]
        with torch.no_grad():
            scale = 1.0 / dist.get_world_size(self.process_group)
            if parameter.grad is view:
                view.mul_(scale)
            elif parameter.grad.dtype == view.dtype:
                torch.mul(parameter.grad, scale, out=view)
            else:
                view.copy_(parameter.grad)
            if self.gradient_as_bucket_view and parameter.grad.dtype == view.dtype:
                parameter.grad = view

    def _launch(self, place: int) -> None:
        buffer = self._held[place]
        with torch.no_grad():
            if self._hook is not None:
                state, hook = self._hook
                parameters = [self._sends[i] for i in self._buckets[place]]
                hook(state, Bucket(buffer, place, place == len(self._buckets) - 1, parameters))
            else:
                self._works.append(dist.all_reduce(buffer, group=self.process_group, async_op=True))

    def _end(self) -> None:
        while self._next < len(self._buckets):
            self._launch(self._next)
            self._next += 1
        with torch.no_grad():
            if self.find_unused_parameters and not self.static_graph:
                used = torch.zeros(len(self._sends), dtype=torch.int32, device=self.device)
                dist.all_reduce(used, group=self.process_group)
                used.cpu()
            for work in self._works:
                if work is not None:
                    work.wait()
            for index, view in self._pieces.items():
                gradient = self._sends[index].grad
                if gradient is not None and gradient is not view:
                    gradient.copy_(view)
        if not self._rebuilt and not (self.static_graph and self._step == 0):
            self._rebuild()
        self._step += 1
        self._reset()

    def _rebuild(self) -> None:
        """From the second step on buckets follow the order in which gradients were ready."""
        seen = set(self._order)
        order = self._order + [i for i in range(len(self._sends)) if i not in seen]
        self._rebuilt, self._announce = True, True
        self._buckets = _assigned([self._sends[i] for i in order], self._caps, order)
        self._allocate()

    def _tell_buckets(self) -> None:
        """The first rank tells the others the new buckets, at the begin of the next forward."""
        self._announce = False
        for count in (len(self._sends) + 1, len(self._buckets)):
            self._send(count, torch.int32)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        if self._announce and self.training:
            self._tell_buckets()
        if self.broadcast_buffers and self.require_forward_param_sync and self.require_backward_grad_sync:
            buffers = [b for n, b in self.module.named_buffers() if n not in self.parameters_to_ignore]
            if buffers and self.training:
                self._broadcast(buffers)
        return self.module(*_on(args, self.device), **_on(kwargs, self.device))

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextlib.contextmanager
    def join(self, *_: Any, **__: Any) -> Iterator[None]:
        yield

    def register_comm_hook(self, state: Any, hook: Any) -> None:
        self._hook = (state, hook)

    def _get_ddp_logging_data(self) -> Dict[str, Any]:
        return {}

    def _set_static_graph(self) -> None:
        self.static_graph = True

    def _set_ddp_runtime_logging_sample_rate(self, _: int) -> None:
        pass


def _assigned(parameters: List[Any], limits: List[int], order: Optional[List[int]] = None) -> List[List[int]]:
    """Buckets by PyTorch's own function; `order` names the parameters that the list has."""
    bare = [p.detach() for p in parameters]
    dense = [False] * len(bare)
    if order is None:
        return dist._compute_bucket_assignment_by_size(bare, limits, dense)[0]
    return dist._compute_bucket_assignment_by_size(bare, limits, dense, order)[0]


def _on(value: Any, device: torch.device) -> Any:
    def move(one: Any) -> Any:
        if isinstance(one, torch.Tensor) and one.device.type == "cpu":
            return one.to(device)
        return one

    return tree_map(move, value)


def install(session: Session) -> None:
    """The stand-in takes the place of PyTorch's, before a script imports it."""
    from torch.nn import parallel
    from torch.nn.parallel import distributed

    DistributedDataParallel.session = session
    DistributedDataParallel.__module__ = "torch.nn.parallel.distributed"
    for module in (parallel, distributed):
        module.DistributedDataParallel = DistributedDataParallel  # type: ignore
    from .session import refuse

    class DataParallel(torch.nn.Module):
        """One process over several GPUs."""

        def __init__(self, *_: Any, **__: Any) -> None:
            refuse(
                "nn.DataParallel is one process over several GPUs, which is not recorded",
                "use DistributedDataParallel with one process for each GPU, or record with --gpus 1",
            )

    torch.nn.DataParallel = parallel.DataParallel = DataParallel  # type: ignore
