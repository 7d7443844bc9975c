"""CUDA shown where there is none: functions of torch.cuda and torch.accelerator, and what backward needs."""

from __future__ import annotations

import collections
import contextlib
import os
from typing import Any, Callable, Dict

import torch
from torch._subclasses.fake_tensor import FakeTensor

from . import guard, streams
from .session import Session

_GIB = 1 << 30


class Properties:
    """An H100 by its data sheet: what scripts ask before they choose a kernel or a type."""

    name = "NVIDIA H100 80GB HBM3"
    major, minor = 9, 0
    total_memory = 80 * _GIB
    multi_processor_count = 132
    warp_size = 32
    max_threads_per_multi_processor = 2048
    max_threads_per_block = 1024
    regs_per_multiprocessor = 65536
    shared_memory_per_block = 49152
    shared_memory_per_block_optin = 232448
    shared_memory_per_multiprocessor = 233472
    L2_cache_size = 50 << 20
    is_integrated = 0
    is_multi_gpu_board = 0
    gcnArchName = ""
    uuid = "GPU-0"


class _Guard(contextlib.ContextDecorator):
    """torch.cuda.device(…): every device is the one that is shown."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __enter__(self) -> "_Guard":
        return self

    def __exit__(self, *_: Any) -> None:
        pass


class Graphs:
    """A CUDA graph would replay what no recorder sees."""

    def __init__(self, *_: Any, **__: Any) -> None:
        from .session import refuse

        refuse("a CUDA graph replays work that nobody issues", "switch CUDA graphs off for the recording")


def _gives(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _put(module: Any, values: Dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(module, name, value)


def show(session: Session) -> None:
    """From here on torch.cuda is there, with as many devices as the node has ranks."""
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", ",".join(map(str, range(session.per_node))))
    _let_backward_run()
    count, local = session.per_node, session.local
    state = torch.zeros(16, dtype=torch.uint8)  # seed and offset
    memory: Dict[str, Any] = {
        "memory_stats": lambda *_, **__: collections.defaultdict(int),
        "memory_summary": _gives(""),
        "memory_snapshot": lambda *_, **__: [],
        "mem_get_info": _gives((79 * _GIB, 80 * _GIB)),
    }
    for name in (
        "memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_cached"
        " max_memory_cached memory_usage utilization temperature power_draw clock_rate"
        " current_blas_handle initial_seed device_memory_used"
    ).split():
        memory[name] = _gives(0)
    for name in (
        "empty_cache reset_peak_memory_stats reset_accumulated_memory_stats reset_max_memory_allocated"
        " reset_max_memory_cached set_per_process_memory_fraction synchronize ipc_collect init _lazy_init"
        " set_device manual_seed manual_seed_all seed seed_all set_rng_state set_rng_state_all"
    ).split():
        memory[name] = _gives(None)
    names: Dict[str, Any] = {
        "is_available": _gives(True),
        "is_initialized": _gives(True),
        "_is_in_bad_fork": _gives(False),
        "is_bf16_supported": _gives(True),
        "is_tf32_supported": _gives(True),
        "can_device_access_peer": _gives(True),
        "device_count": _gives(count),
        "_device_count_nvml": _gives(count),
        "current_device": _gives(local),
        "get_device_name": _gives(Properties.name),
        "get_device_capability": _gives((9, 0)),
        "get_device_properties": lambda *_, **__: Properties(),
        "get_arch_list": lambda: ["sm_90"],
        "get_rng_state": lambda *_, **__: state.clone(),
        "get_rng_state_all": lambda: [state.clone() for _ in range(count)],
        "is_current_stream_capturing": _gives(False),
        "device": _Guard,
        "device_of": _Guard,
        "_DeviceGuard": _Guard,
        "CUDAGraph": Graphs,
        "graph": Graphs,
        "default_generators": tuple(torch.Generator() for _ in range(count)),
        "graph_pool_handle": _gives((0, 0)),
    }
    _put(torch.cuda, {**names, **memory})
    _put(torch.cuda.memory, memory)
    for name in ("get_rng_state", "set_rng_state", "manual_seed", "manual_seed_all", "get_rng_state_all"):
        setattr(torch.cuda.random, name, getattr(torch.cuda, name))
    torch.cuda.nccl.version = _gives((2, 27, 3))
    torch.backends.cuda.is_built = _gives(True)  # type: ignore[method-assign]
    streams.show(local)
    _accelerator(count, local, memory)
    _generators()


def _accelerator(count: int, local: int, memory: Dict[str, Any]) -> None:
    module = getattr(torch, "accelerator", None)
    if module is None:
        return
    names: Dict[str, Any] = {
        "is_available": _gives(True),
        "device_count": _gives(count),
        "current_accelerator": lambda *_, **__: torch.device("cuda"),
        "get_memory_info": _gives((79 * _GIB, 80 * _GIB)),
        "current_stream": streams.current,
        "set_stream": streams.put,
        "device_index": _Guard,
    }
    for name in ("current_device_index", "current_device_idx"):
        names[name] = _gives(local)
    for name in ("set_device_index", "set_device_idx"):
        names[name] = _gives(None)
    for name, value in memory.items():
        if hasattr(module, name):
            names[name] = value
    _put(module, names)


def _generators() -> None:
    """torch.Generator("cuda") is one of the CPU: its numbers are never drawn."""
    plain = torch.Generator

    class Generator(plain):  # type: ignore[misc, valid-type]
        def __new__(cls, device: Any = "cpu") -> Any:
            return plain.__new__(cls, device="cpu")

        def set_state(self, state: Any) -> Any:
            """A state that came over the network holds nothing: the generator goes on as it is."""
            return self if isinstance(state, FakeTensor) else super().set_state(state)

    Generator.__module__ = "torch"
    torch.Generator = Generator  # type: ignore[misc]
    set_state = torch.random.set_rng_state

    def put(state: Any) -> None:
        if not isinstance(state, FakeTensor):
            set_state(state)

    torch.set_rng_state = torch.random.set_rng_state = put


def _let_backward_run() -> None:
    """Autograd asks for the device's guard and streams; nobody else does."""
    from torch._subclasses import fake_tensor

    fake_tensor.FakeTensorMode.avoid_device_init = property(lambda _: True)  # type: ignore
    if hasattr(fake_tensor, "init_gpu_context"):
        fake_tensor.init_gpu_context = _nothing
    if hasattr(fake_tensor, "init_cuda_context"):
        fake_tensor.init_cuda_context = _nothing
    guard.install()
    torch.autograd.set_multithreading_enabled(False).__enter__()
