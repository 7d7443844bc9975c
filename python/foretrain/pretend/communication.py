"""Collectives, sends and receives as rows: what, how much, in which group, and where it is waited for."""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, List, Optional

import torch
import torch.distributed as dist
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_map

from ..recorder import tensors_in
from ..sizes import dtype_name
from . import streams
from .rows import StepRecorder
from .session import Session

_KINDS = [
    ("all_to_all", ("alltoall", "all_to_all")),
    ("all_gather", ("allgather", "_allgather", "all_gather")),
    ("reduce_scatter", ("reduce_scatter", "_reduce_scatter")),
    ("all_reduce", ("allreduce", "all_reduce")),
    ("broadcast", ("broadcast",)),
    ("scatter", ("scatter",)),
    ("gather", ("gather",)),
    ("reduce", ("reduce",)),
    ("barrier", ("barrier", "monitored_barrier")),
    ("send", ("send",)),
    ("receive", ("recv", "irecv")),
]
_REDUCE = {0: "sum", 1: "avg", 2: "product", 3: "min", 4: "max", 5: "band", 6: "bor", 7: "bxor", 8: "sum"}
_BETWEEN = (
    "torch/utils/ torch/_ops.py torch/_tensor.py torch/_subclasses torch/_library torch/_compile.py"
    " torch/_dynamo torch/autograd/ torch/distributed/c10d_logger.py torch/distributed/distributed_c10d.py"
    " torch/distributed/_functional_collectives torch/nn/modules/module.py foretrain/ deepspeed/comm/"
    " deepspeed/utils/ torch/profiler torch/_prims torch/_refs torch/_decomp torch/fx/"
).split()


def kind_of(base: str) -> Optional[str]:
    """The collective's name in a program file."""
    for name, starts in _KINDS:
        if base.startswith(starts):
            return name
    return None


def issued_by() -> Optional[str]:
    """`torch/distributed/fsdp/…:function` of the library, or `train.py:88`, that asked for a collective."""
    frame: Optional[Any] = sys._getframe(2)
    while frame is not None:
        path = frame.f_code.co_filename
        short = path
        for mark in ("site-packages", "dist-packages"):
            if mark + os.sep in path:
                short = path.rsplit(mark + os.sep, 1)[1].replace(os.sep, "/")
        if short != path:
            if not short.startswith(tuple(_BETWEEN)):
                return f"{short}:{frame.f_code.co_name}"
        elif (
            os.sep + "foretrain" + os.sep not in path
            and not path.startswith("<")
            and "lib/python" not in path
        ):
            return f"{os.path.relpath(path)}:{frame.f_lineno}"
        frame = frame.f_back
    return None


class Communication:
    """Records collectives of the fake process group, and runs them so that tensors come out."""

    def __init__(self, session: Session, recorder: StepRecorder) -> None:
        self.session, self.recorder = session, recorder
        self.mode: Any = None
        self.groups: List[Dict[str, int]] = []
        self._lists: List[List[int]] = []
        self._works = 0
        self._by_storage: Dict[Any, int] = {}
        self.last: List[int] = []
        streams.LINE.note = self.recorder.event

    def begin(self) -> None:
        """A new step: what was issued before it is done."""
        self._by_storage.clear()

    def group(self, ranks: List[int]) -> int:
        """The index of a group among those of the file."""
        if ranks not in self._lists:
            self._lists.append(list(ranks))
            stride = ranks[1] - ranks[0] if len(ranks) > 1 else 1
            made: Dict[str, Any] = {"size": len(ranks), "stride": stride, "first": ranks[0]}
            if any(r != ranks[0] + i * stride for i, r in enumerate(ranks)):
                made["ranks"] = list(ranks)
            self.groups.append(made)
        return self._lists.index(ranks)

    def run(self, func: Any, args: Any, kwargs: Any) -> Any:
        base = func._schema.name.partition("::")[2]
        if base.startswith("wait_tensor"):
            return self._wait_tensor(func, args, kwargs)
        kind = kind_of(base)
        given = [t for a in list(args) + list(kwargs.values()) for t in tensors_in(a)]
        if kind is None or not (self.recorder.recording or given):
            return self._through(func, args, kwargs)
        result = self._through(func, args, kwargs)
        made = [t for t in tensors_in(result) if func.namespace != "c10d"]
        self._note(func, kind, args, kwargs, given, made)
        self._values(func, kind, args, kwargs, given, made)
        return result

    def _note(self, func: Any, kind: str, args: Any, kwargs: Any, given: List[Any], made: List[Any]) -> None:
        arguments = list(args) + list(kwargs.values())
        ranks = _ranks_of(arguments)
        sizes = [_bytes(a) for a in arguments] + [_bytes(made)]
        sent = given or made
        number = self._works
        row: Dict[str, Any] = {}
        size, dtype = max(sizes), dtype_name(sent[0].dtype) if sent else None
        if kind in ("send", "receive"):
            row[kind] = size
            peer = next((a for a in arguments if isinstance(a, int) and not isinstance(a, bool)), 0)
            row["type"] = dtype
            row["peer"] = ranks[peer] if ranks and 0 <= peer < len(ranks) else peer
        else:
            row = {"collective": kind, "bytes": size}
            if dtype is not None:
                row["type"] = dtype
            reduction = _reduction(func, args, kwargs)
            if reduction and kind in ("all_reduce", "reduce_scatter", "reduce"):
                row["reduce"] = reduction
            row["group"] = self.group(ranks or list(range(self.session.world)))
        name = streams.name()
        if name:
            row["stream"] = name
        place = issued_by()
        if place:
            row["by"] = place
        row["work"] = number
        self._works += 1
        self.last.append(number)
        for tensor in made:
            self._by_storage[self.recorder.storages.key(tensor)] = number
        self.recorder.communicates(given + made)
        self.recorder.event(row)

    def _through(self, func: Any, args: Any, kwargs: Any) -> Any:
        tensors = [t for a in list(args) + list(kwargs.values()) for t in tensors_in(a)]
        if tensors and not any(isinstance(t, FakeTensor) for t in tensors):
            return func(*args, **kwargs)
        if func.namespace == "c10d":  # only its work is looked at: a real one on small tensors
            with _disable_current_modes():
                least = max(min((t.numel() for t in tensors), default=1), 1)

                def small(value: Any) -> Any:
                    if not isinstance(value, torch.Tensor):
                        return value
                    if kind_of(func._schema.name.partition("::")[2]) == "all_to_all" and value.dim():
                        return torch.zeros(value.shape[0], dtype=value.dtype)
                    return torch.zeros(max(value.numel() // least, 1), dtype=value.dtype)

                args, kwargs = tree_map(small, (tuple(args), dict(kwargs)))
                return func(*args, **kwargs)
        with self.mode.fake:
            return func(*args, **kwargs)

    def _values(
        self, func: Any, kind: str, args: Any, kwargs: Any, given: List[Any], made: List[Any]
    ) -> None:
        """Known values after a collective: every rank is taken to have the same."""
        values = self.mode.values
        if kind in ("broadcast", "barrier", "send") or not given:
            return
        if func.namespace == "c10d":
            if kind == "all_reduce":
                if _reduction(func, args, kwargs) in ("max", "min", "avg", "band", "bor"):
                    return
                for tensor in given:
                    known = values.of(tensor)
                    if known is not None and isinstance(tensor, FakeTensor):
                        values.put(tensor, known * self.session.world)
                return
            sources = list(tensors_in(args[1])) if len(args) > 1 else []
            known = values.of(sources[0]) if sources else None
            written = list(tensors_in(args[0]))
            for tensor in written:
                if isinstance(tensor, FakeTensor):
                    values.forget(tensor)
                    if known is not None and known.shape == tensor.shape:
                        values.put(tensor, known.clone())
            return
        known = values.of(given[0])
        for tensor in made:
            if known is not None and known.shape == tensor.shape:
                values.put(tensor, known.clone())

    def _wait_tensor(self, func: Any, args: Any, kwargs: Any) -> Any:
        number = self._by_storage.pop(self.recorder.storages.key(args[0]), None)
        if number is not None:
            self._waited(number)
        if isinstance(args[0], FakeTensor):
            return args[0]
        return func(*args, **kwargs)

    def _waited(self, number: int) -> None:
        """The host made the current stream wait for a work."""
        streams.LINE.on(streams.LINE.current, {"wait": number})

    def wait(self, numbers: List[int]) -> None:
        for number in numbers:
            self._waited(number)

    def read(self, count: int) -> None:
        """The host waits for the GPU and reads so many bytes."""
        row: Dict[str, Any] = {"read": count}
        place = issued_by()
        if place:
            row["of"] = place
        self.recorder.event(row)

    def object_exchange(self, kind: str, group: Any) -> None:
        """Python objects go through the host; their size is that of a small message."""
        ranks = dist.get_process_group_ranks(group or dist.group.WORLD)
        self.recorder.event(
            {"collective": kind, "bytes": 8 * len(ranks), "type": "u8", "group": self.group(ranks)}
        )


def _bytes(value: Any) -> int:
    return sum(t.numel() * t.element_size() for t in tensors_in(value))


def _ranks_of(arguments: List[Any]) -> Optional[List[int]]:
    for one in arguments:
        try:
            if isinstance(one, str):
                group = dist.distributed_c10d._resolve_process_group(one)
                return dist.get_process_group_ranks(group)
            name = type(one).__name__
            if name == "FakeScriptObject":
                one, name = one.real_obj, "ScriptObject"
            if name == "ProcessGroup":
                return dist.get_process_group_ranks(one)
            if name == "ScriptObject":
                return dist.get_process_group_ranks(dist.ProcessGroup.unbox(one))
        except Exception:
            continue
    return None


def _reduction(func: Any, args: Any, kwargs: Any) -> Optional[str]:
    for place, argument in enumerate(func._schema.arguments):
        if argument.name not in ("reduce_op", "op"):
            continue
        given = args[place] if place < len(args) else kwargs.get(argument.name)
        if isinstance(given, str):
            return given.lower()
        try:
            return _REDUCE.get(int(dist.ReduceOp.unbox(given).op))
        except Exception:
            try:
                return _REDUCE.get(int(given.op()))
            except Exception:
                return None
    return None
