"""Runs training steps of one network on this device, and measures time, memory and host time of each configuration."""
from __future__ import annotations

import contextlib
import gc
import statistics
import time
from typing import Any, Dict, Optional

import torch

from ..batches import map_tensors
from ..timing import on_cpu, on_gpu
from .networks import Configuration, Network

#: Steps before the measured ones: cuDNN chooses its algorithms, the allocator and the optimizer get their memory.
_WARM_UP = 3
_LEAST_STEPS = 6
_MOST_STEPS = 50
#: How long the measured steps of one configuration take, seconds.
_MEASURED_S = 0.8
#: Steps are measured with the last batch again: the loss must not run away.
_LEARNING_RATE = 1e-6


class Step:
    """One configuration of a network on the device, ready to run steps."""

    def __init__(self, network: Network, way: Configuration, device: str) -> None:
        self.network, self.way, self.device = network, way, device
        _set_precision(way.precision)
        # On the GPU the weights are made there (PyTorch 2.0 on): billions of random numbers take a CPU minutes.
        with torch.device("cuda") if device == "cuda" else contextlib.nullcontext():
            model, batch, self.loss = network.make()
        model = model.to(device)
        if way.precision == "pure_bf16":
            model = model.to(torch.bfloat16)
        memory = torch.channels_last
        if way.channels_last:
            model = model.to(memory_format=memory)
        self.module = model.train()
        self.model = torch.compile(model) if way.compile else model
        self.half = {"amp_fp16": torch.float16, "bf16": torch.bfloat16}.get(way.precision)
        self.scaler = _scaler() if way.precision == "amp_fp16" and device == "cuda" else None
        self.batch = map_tensors(batch(way.batch), self._placed)
        trained = [p for p in self.module.parameters() if p.requires_grad]
        self.optimizer: Any = (
            torch.optim.AdamW(trained, lr=_LEARNING_RATE)
            if network.optimizer == "adamw"
            else torch.optim.SGD(trained, lr=_LEARNING_RATE, momentum=0.9)
        )

    def _placed(self, tensor: torch.Tensor) -> torch.Tensor:
        placed = tensor.to(self.device)
        if self.way.precision == "pure_bf16" and placed.is_floating_point():
            placed = placed.to(torch.bfloat16)
        if self.way.channels_last and placed.dim() == 4:
            placed = placed.to(memory_format=torch.channels_last)
        return placed

    def __call__(self) -> None:
        """A step of a plain training loop: zero gradients, forward, loss, backward, optimizer."""
        self.optimizer.zero_grad(set_to_none=True)
        kind = "cuda" if self.device == "cuda" else "cpu"
        with torch.autocast(kind, dtype=self.half or torch.bfloat16, enabled=self.half is not None):
            value = self._loss()
        if self.scaler is None:
            value.backward()
            self.optimizer.step()
        else:
            self.scaler.scale(value).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()

    def _loss(self) -> Any:
        """As a script writes it: nothing is looked up that a training loop would not look up."""
        if self.loss is None:
            return self.model(**self.batch).loss
        return self.loss(self.model(self.batch[0]), self.batch[1])

    def sync(self) -> None:
        if self.device == "cuda":
            torch.cuda.synchronize()


def _scaler() -> Any:
    scaler = getattr(torch.amp, "GradScaler", None)
    return torch.cuda.amp.GradScaler() if scaler is None else scaler("cuda")


def _set_precision(precision: str) -> None:
    """PyTorch's defaults for all but tf32: TF32 inside convolutions, not inside matrix products."""
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")


def measured(step: Step) -> Dict[str, Any]:
    """Seconds of a step and their spread, host seconds, bytes by account; keys as of steps.jsonl."""
    begin = time.perf_counter()
    for _ in range(_WARM_UP):
        step()
    step.sync()
    warm = time.perf_counter()
    step()
    step.sync()
    once = time.perf_counter() - warm
    count = int(min(_MOST_STEPS, max(_LEAST_STEPS, _MEASURED_S / max(once, 1e-6))))
    if step.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        step()
        times = on_gpu(step, count)
    else:
        times = on_cpu(step, count, _LEAST_STEPS, 2 * _MEASURED_S)
    middle = statistics.median(times)
    deviation = 1.4826 * statistics.median([abs(one - middle) for one in times])
    return {
        "step_s": middle,
        "spread": deviation / middle,
        "steps": len(times),
        "host_s": _host_seconds(step),
        "warm_up_s": warm - begin,
        "memory": _memory(step),
    }


def _host_seconds(step: Step) -> Optional[float]:
    """How long the host takes to issue a step, while the GPU does not hold it up: the least of a few.

    None where the step itself waits for the GPU (a GradScaler reads whether gradients are finite).
    """
    if step.device != "cuda" or step.scaler is not None:
        return None
    took = []
    for _ in range(4):
        step.sync()
        begin = time.perf_counter()
        step()
        took.append(time.perf_counter() - begin)
    step.sync()
    return min(took)


def _bytes(tensors: Any) -> int:
    return sum(t.numel() * t.element_size() for t in tensors if isinstance(t, torch.Tensor))


def _memory(step: Step) -> Dict[str, Optional[int]]:
    """Bytes by account; peaks are those of the steps that were measured."""
    step()
    step.sync()
    weights = list(step.module.parameters())
    states = [value for state in step.optimizer.state.values() for value in state.values()]
    memory: Dict[str, Optional[int]] = {
        "parameters": _bytes(weights),
        "gradients": _bytes([p.grad for p in weights]),
        "buffers": _bytes(step.module.buffers()),
        "optimizer": _bytes(states),
        "allocated_peak": None,
        "reserved_peak": None,
        "outside": None,
    }
    if step.device == "cuda":
        free, total = torch.cuda.mem_get_info()
        memory["allocated_peak"] = torch.cuda.max_memory_allocated()
        memory["reserved_peak"] = torch.cuda.max_memory_reserved()
        memory["outside"] = total - free - torch.cuda.memory_reserved()
    return memory


def cleared(device: str) -> None:
    """Gives memory back between configurations."""
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()
    if hasattr(torch, "_dynamo"):
        torch._dynamo.reset()
