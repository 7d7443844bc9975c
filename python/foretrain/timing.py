"""Measures training steps where a GPU is, as an anchor: [measured] of a scenario."""
from __future__ import annotations

import statistics
import time as clock
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Optional

import torch

from .batches import bare, map_tensors, samples
from .errors import CaptureError, ForetrainError, explain
from .step import _checked, _forward, _kept, _training


@dataclass
class Timing:
    """Measured steps: seconds each, without those of the warm-up; `batch` samples a step, on one device."""

    device: str
    batch: int
    steps_s: List[float]

    @property
    def step_s(self) -> float:
        """The median step, seconds."""
        return statistics.median(self.steps_s)

    @property
    def samples_per_s(self) -> float:
        return self.batch / self.step_s

    def anchor(self) -> str:
        """The table [measured] of a scenario. Paste it, or pass its entries as settings of predict."""
        return f'[measured]\ngpus = 1\nstep = "{self.step_s * 1e3:.4g} ms"\nreused_batch = true\n'

    def settings(self) -> Dict[str, Any]:
        """The same for predict(settings=...)."""
        return {
            "measured.gpus": 1,
            "measured.step": f"{self.step_s * 1e3:.4g} ms",
            "measured.reused_batch": True,
            "model.batch_per_gpu": self.batch,
        }


def time(
    model: torch.nn.Module,
    batch: Any,
    loss: Optional[Callable[..., torch.Tensor]] = None,
    *,
    device: Optional[str] = None,
    steps: int = 20,
    warm_up: int = 5,
    batch_dim: int = 0,
    optimizer: Optional[Callable[[Iterable[torch.nn.Parameter]], Any]] = None,
    autocast: Optional[str] = None,
) -> Timing:
    """Measures `steps` training steps (zero gradients, forward, loss, backward, optimizer) on one batch,
    on a GPU.

    device: "cuda" by default; "cpu" measures on the CPU, where that is asked for. The model is moved
    there and stays.
    optimizer: makes one of the parameters; SGD with momentum by default, with a learning rate of zero.
    The batch is on the device before; weights and buffers are afterwards what they were if the learning
    rate is zero.
    """
    place = torch.device(device or "cuda")
    if place.type == "cuda" and not torch.cuda.is_available():
        raise ForetrainError(
            'no GPU here\n  hint: run this where the training runs; time(..., device="cpu") measures the CPU'
        )
    if steps < 1 or warm_up < 0:
        raise ForetrainError("steps is at least 1, warm_up at least 0")
    count = samples(batch, batch_dim)
    model = bare(model).to(place)
    batch = map_tensors(batch, lambda t: t.to(place))
    made = optimizer or (lambda parameters: torch.optim.SGD(parameters, lr=0.0, momentum=0.9))
    try:
        with _training(model), _kept(model):
            chosen = made([p for p in model.parameters() if p.requires_grad])
            took = _measured(model, batch, loss, chosen, place, steps, warm_up, autocast)
    except ForetrainError:
        raise
    except Exception as error:
        raise explain(error, "measuring the step") from error
    return Timing(torch.cuda.get_device_name(place) if place.type == "cuda" else "cpu", count, took)


def _measured(
    model: torch.nn.Module,
    batch: Any,
    loss: Any,
    optimizer: Any,
    place: torch.device,
    steps: int,
    warm_up: int,
    autocast: Optional[str],
) -> List[float]:
    half = getattr(torch, autocast) if autocast else None
    if half is not None and half not in (torch.float16, torch.bfloat16):
        raise CaptureError(f'autocast = {autocast!r}\n  hint: "float16" or "bfloat16"')

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(place.type, dtype=half or torch.bfloat16, enabled=half is not None):
            value, _ = _forward(model, batch, loss)
        _checked(value).backward()
        optimizer.step()

    for _ in range(warm_up):
        step()
    return on_gpu(step, steps) if place.type == "cuda" else on_cpu(step, steps)


def on_gpu(step: Callable[[], None], steps: int) -> List[float]:
    """Between the ends of successive steps on the GPU, so that the host runs ahead as in training."""
    torch.cuda.synchronize()
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    marks[0].record()
    for mark in marks[1:]:
        step()
        mark.record()
    torch.cuda.synchronize()
    return [a.elapsed_time(b) * 1e-3 for a, b in zip(marks, marks[1:])]


def on_cpu(
    step: Callable[[], None], steps: int, least: int = 0, seconds: float = float("inf")
) -> List[float]:
    """Seconds of each step on the CPU; from `least` steps on, no more begin once `seconds` are over."""
    took: List[float] = []
    while len(took) < steps and (len(took) < least or sum(took) < seconds):
        begin = clock.perf_counter()
        step()
        took.append(clock.perf_counter() - begin)
    return took
