"""Process groups that send nothing: torch's backend `fake` in place of any other, and its works by number."""

from __future__ import annotations

from typing import Any, Callable, Dict, List

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d

from .communication import Communication
from .session import Session, refuse

_METHODS = (
    "allreduce allreduce_coalesced allgather _allgather_base allgather_coalesced"
    " allgather_into_tensor_coalesced all_gather_single reduce_scatter _reduce_scatter_base"
    " reduce_scatter_tensor_coalesced broadcast reduce gather scatter alltoall alltoall_base send recv"
    " recv_anysource barrier"
).split()


class Groups:
    """Installs the fake backend and what frameworks ask of a real one."""

    def __init__(self, session: Session, communication: Communication, fixed: bool) -> None:
        self.session, self.communication, self.fixed = session, communication, fixed
        self._works: Dict[int, Any] = {}

    def install(self) -> None:
        from torch.testing._internal.distributed import fake_pg

        self.store = fake_pg.FakeStore
        self._init = dist.init_process_group
        self._new = dist.new_group
        made: Dict[str, Any] = {
            "init_process_group": self._init_process_group,
            "new_group": self._new_group,
            "all_gather_object": self._all_gather_object,
            "gather_object": self._gather_object,
            "broadcast_object_list": self._broadcast_objects,
            "scatter_object_list": self._scatter_objects,
            "barrier": self._barrier,
            "monitored_barrier": self._barrier,
            "get_backend": lambda *_, **__: "nccl",
            "is_nccl_available": lambda: True,
            "destroy_process_group": lambda *_, **__: None,
        }
        import torch.distributed.device_mesh as mesh

        for name, value in made.items():
            for module in (dist, distributed_c10d, mesh):
                if module is dist or hasattr(module, name):
                    setattr(module, name, value)
        dist.TCPStore = lambda *_, **__: self.store()  # type: ignore
        self._number_works()

    def _init_process_group(self, backend: Any = None, *args: Any, **kwargs: Any) -> None:
        if dist.is_initialized():
            return
        if backend in ("mpi", "ucc"):
            refuse(f"the backend {backend} is not recorded", "the same script runs with nccl or gloo")
        if not self.fixed:
            names = ("init_method", "timeout", "world_size", "rank")
            given = {**dict(zip(names, args)), **kwargs}
            if int(given.get("world_size") or 0) > 0:
                self.session.world = int(given["world_size"])
            if int(given.get("rank") or 0) >= 0 and self.session.world > 1:
                self.session.rank = int(given.get("rank") or 0)
        self._init("fake", rank=self.session.rank, world_size=self.session.world, store=self.store())

    def _new_group(
        self, ranks: Any = None, timeout: Any = None, backend: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        kept = ("group_desc", "use_local_synchronization")
        return self._new(ranks, **{k: v for k, v in kwargs.items() if k in kept})

    def _all_gather_object(self, out: List[Any], value: Any, group: Any = None) -> None:
        self.communication.object_exchange("all_gather", group)
        out[:] = [value] * dist.get_world_size(group)

    def _gather_object(self, value: Any, out: Any = None, *_: Any, **__: Any) -> None:
        if out is not None:
            out[:] = [value] * len(out)

    def _broadcast_objects(self, values: Any, *_: Any, **__: Any) -> None:
        return None

    def _scatter_objects(self, out: Any, values: Any, *_: Any, **__: Any) -> None:
        if values:
            out[0] = values[self.session.rank % len(values)]

    def _barrier(self, group: Any = None, *_: Any, **__: Any) -> None:
        if not dist.is_initialized():
            return
        ranks = dist.get_process_group_ranks(group or dist.group.WORLD)
        self.communication.recorder.event(
            {"collective": "barrier", "bytes": 0, "group": self.communication.group(ranks)}
        )

    def _number_works(self) -> None:
        """Each work that a process group returns knows the rows that it stands for."""
        kind = torch._C._distributed_c10d.ProcessGroup
        for name in _METHODS:
            if hasattr(kind, name):
                setattr(kind, name, self._noting(getattr(kind, name)))
        kind.monitored_barrier = lambda group, *_, **__: self._barrier(group)  # that of gloo
        for name in ("_start_coalescing", "_end_coalescing"):
            if hasattr(kind, name):
                setattr(kind, name, self._coalescing(name, getattr(kind, name)))
        for work in ("Work", "FakeWork"):
            kind = getattr(torch._C._distributed_c10d, work, None)
            for name in ("wait", "synchronize", "block_current_stream"):
                if kind is not None and name in vars(kind):
                    setattr(kind, name, self._waiting(name, getattr(kind, name)))

    def _noting(self, method: Callable[..., Any]) -> Callable[..., Any]:
        communication, works = self.communication, self._works

        def issue(group: Any, *args: Any, **kwargs: Any) -> Any:
            if self._coalesced is None:
                communication.last = []
            work = method(group, *args, **kwargs)
            if work is not None and communication.last and self._coalesced is None:
                works[id(work)] = (work, list(communication.last))
            return work

        return issue

    _coalesced: Any = None

    def _coalescing(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def issue(group: Any, *args: Any, **kwargs: Any) -> Any:
            if name == "_start_coalescing":
                self.communication.last, self._coalesced = [], True
                return method(group, *args, **kwargs)
            work = method(group, *args, **kwargs)
            self._coalesced = None
            if work is not None:
                self._works[id(work)] = (work, list(self.communication.last))
            return work

        return issue

    def _waiting(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def wait(work: Any, *args: Any, **kwargs: Any) -> Any:
            held = self._works.pop(id(work), None)
            if held is not None:
                self.communication.wait(held[1])
            return method(work, *args, **kwargs) if name != "block_current_stream" else None

        return wait
