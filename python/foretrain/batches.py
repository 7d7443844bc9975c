"""Batches: how many samples they have, how more samples are made of them, how a model is called with one,
what its loss is."""
from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch

from .errors import CaptureError


def once(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    """A tensor that is twice in the batch is changed once, and is twice in the changed batch."""
    done: Dict[int, Tuple[torch.Tensor, torch.Tensor]] = {}

    def changed(tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in done:
            done[id(tensor)] = (tensor, change(tensor))
        return done[id(tensor)][1]

    return changed


def map_tensors(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The same nest of lists, dicts and dataclasses with every tensor changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(map_tensors(v, change) for v in value))
    if isinstance(value, (list, tuple)):
        return type(value)(map_tensors(v, change) for v in value)
    if isinstance(value, Mapping):
        return {k: map_tensors(v, change) for k, v in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changed = {
            f.name: map_tensors(getattr(value, f.name), change) for f in dataclasses.fields(value) if f.init
        }
        return dataclasses.replace(value, **changed)
    return value


def tensors_of(value: Any) -> List[torch.Tensor]:
    found: List[torch.Tensor] = []

    def take(tensor: torch.Tensor) -> torch.Tensor:
        found.append(tensor)
        return tensor

    map_tensors(value, take)
    return found


def _lists_of_samples(batch: Any) -> List[List[Any]]:
    """Lists within a batch with an entry a sample, as detection models take images and their boxes."""
    found: List[List[Any]] = []
    entries = batch.values() if isinstance(batch, Mapping) else batch
    for one in entries if isinstance(batch, (Mapping, list, tuple)) else ():
        if isinstance(one, list) and one and all(isinstance(v, (torch.Tensor, Mapping)) for v in one):
            found.append(one)
    return found


def samples(batch: Any, dim: int) -> int:
    """Samples in a batch: entries of its first list of samples, else the first tensor's size along the batch
    dimension."""
    lists = _lists_of_samples(batch)
    if lists:
        return len(lists[0])
    tensors = tensors_of(batch)
    if not tensors:
        raise CaptureError(
            "the batch has no tensor\n  hint: pass what the training loop takes from its DataLoader, "
            "a tensor or a tuple, list, dict or dataclass with some"
        )
    first = next((t for t in tensors if t.dim() > dim), None)
    if first is None:
        raise CaptureError(
            f"no tensor of the batch has a dimension {dim}\n  hint: batch_dim says which dimension counts"
            " samples"
        )
    if first.shape[dim] == 0:
        raise CaptureError(
            f"the batch is empty: its first tensor has the shape {tuple(first.shape)}\n  hint: pass at least"
            " one sample"
        )
    return int(first.shape[dim])


def other_sizes(batch: Any, dim: int, count: int) -> List[Tuple[int, ...]]:
    """Shapes of the batch's tensors that have another number of samples along the batch dimension."""
    if _lists_of_samples(batch):
        return []
    return [tuple(t.shape) for t in tensors_of(batch) if t.dim() > dim and t.shape[dim] != count]


def repeated(batch: Any, dim: int, count: int, times: int) -> Any:
    """The batch with its samples `times` times: tensors of `count` along `dim` (or along 0), lists of
    `count`."""

    def more(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.dim() > dim and tensor.shape[dim] == count:
            return torch.cat([tensor] * times, dim)
        if dim > 0 and tensor.dim() > 0 and tensor.shape[0] == count:
            return torch.cat([tensor] * times, 0)
        return tensor

    lists = {id(one) for one in _lists_of_samples(batch)}

    def walk(value: Any) -> Any:
        if (
            isinstance(value, list)
            and len(value) == count
            and (id(value) in lists or all(isinstance(v, (int, float, str)) for v in value))
        ):
            return value * times
        if lists and isinstance(value, torch.Tensor):
            return value
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            return type(value)(walk(v) for v in value)
        if isinstance(value, Mapping):
            return {k: walk(v) for k, v in value.items()}
        return map_tensors(value, more_once)

    more_once = once(more)
    return walk(batch)


def bare(model: torch.nn.Module) -> torch.nn.Module:
    """The model within DataParallel or DistributedDataParallel."""
    if type(model).__name__ in ("DataParallel", "DistributedDataParallel") and hasattr(model, "module"):
        return model.module  # type: ignore[return-value]
    return model


def _takes(function: Callable[..., Any], args: Tuple[Any, ...]) -> bool:
    try:
        inspect.signature(function).bind(*args)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def forward_arguments(
    model: torch.nn.Module, batch: Any, loss: Any
) -> Tuple[Tuple[Any, ...], Dict[str, Any], Any]:
    """Arguments for the model, named ones, and the target (None where the batch has none)."""
    if isinstance(batch, Mapping):
        named = dict(batch)
        return (), named, named.get("labels", named.get("target"))
    if not isinstance(batch, (tuple, list)) or hasattr(batch, "_fields"):
        return (batch,), {}, None
    args = tuple(batch)
    with_target = len(args) > 1 and _takes(model.forward, args[:-1])
    if with_target and (
        loss is not None and _takes(loss_function(loss), (0, 0)) or not _takes(model.forward, args)
    ):
        return args[:-1], {}, args[-1]
    return args, {}, None


def loss_function(loss: Any) -> Callable[..., Any]:
    return loss.forward if isinstance(loss, torch.nn.Module) else loss


def _floats(value: Any) -> List[torch.Tensor]:
    if not isinstance(value, (torch.Tensor, list, tuple, Mapping)) and hasattr(value, "__dict__"):
        value = dict(vars(value))
    return [t for t in tensors_of(value) if t.is_floating_point()]


def _cross_entropy(output: torch.Tensor, target: Any) -> Optional[torch.Tensor]:
    if output.dim() < 2 or isinstance(target, (list, tuple, Mapping)):
        return None
    if (
        isinstance(target, torch.Tensor)
        and output.dim() == 2
        and target.dim() == 1
        and len(target) != len(output)
    ):
        raise CaptureError(
            f"the model's output has {len(output)} samples, the target {len(target)}\n  hint: input and"
            " target of a batch have the same number of samples; another pairing needs loss=..."
        )
    places = tuple(output.shape[:1]) + tuple(output.shape[2:])
    if isinstance(target, torch.Tensor) and target.dtype == torch.int64 and tuple(target.shape) == places:
        return torch.nn.functional.cross_entropy(output, target)
    if output.dim() == 2 and target is None:
        return torch.nn.functional.cross_entropy(output, output.new_zeros(output.shape[0], dtype=torch.int64))
    return None


def default_loss(output: Any, target: Any) -> Tuple[torch.Tensor, str]:
    """The loss of a model's output where none was given, and its name in words."""
    found = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", None)
    if isinstance(found, torch.Tensor):
        return found, "the output's own .loss"
    floats = _floats(output)
    scalars = [t for t in floats if t.dim() == 0 and t.requires_grad]
    if len(scalars) > 1 and len(scalars) == len(floats) and isinstance(output, Mapping):
        return torch.stack(scalars).sum(), f"the sum of the {len(scalars)} losses that the model returns"
    if scalars:
        return scalars[0], "the scalar that the model returns"
    terms = [_cross_entropy(t, target) for t in floats]
    if terms and all(t is not None for t in terms):
        total = terms[0]
        for term in terms[1:]:
            total = total + term  # type: ignore[operator]
        words = "the output" if len(terms) == 1 else f"{len(terms)} outputs"
        return total, f"cross entropy of {words}"  # type: ignore[return-value]
    with_gradient = [t for t in floats if t.requires_grad]
    if not with_gradient:
        raise CaptureError(
            "no output of the model has a gradient\n  hint: pass loss=function(output, target) that returns a"
            " scalar; check requires_grad of the parameters and torch.no_grad() in forward"
        )
    total = with_gradient[0].sum()
    for one in with_gradient[1:]:
        total = total + one.sum()
    return total, (
        "the sum of the output" if len(with_gradient) == 1 else f"the sum of {len(with_gradient)} outputs"
    )
