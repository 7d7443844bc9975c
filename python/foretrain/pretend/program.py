"""What one rank recorded, in plain lists and dicts: rows, storages, parameters."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

import torch

from ..rows import Rows
from ..sizes import Growth, size_of
from ..step import Step
from ..storages import storage_of
from .communication import Communication
from .phases import Phases, plain_name
from .rows import BACKWARD, OPTIMIZER, Event, StepRecorder
from .session import Session


def local(tensor: torch.Tensor) -> torch.Tensor:
    """A DTensor's part on this rank; any other tensor itself."""
    return getattr(tensor, "_local_tensor", tensor)


def _named(phases: Phases, kind: str) -> List[Any]:
    """Parameters or buffers of the models that ran, each once, by plain names."""
    seen, made = set(), []
    for place, root in enumerate(phases.roots):
        prefix = phases._names.get(id(root), (None, ""))[1]
        inner = root
        while type(inner).__name__ == "DistributedDataParallel" and hasattr(inner, "module"):
            inner = inner.module
        for name, tensor in getattr(inner, f"named_{kind}")():
            if id(tensor) not in seen:
                seen.add(id(tensor))
                clean = plain_name(name)
                made.append((f"{prefix}.{clean}" if prefix and place else clean, tensor))
    return made


def rank_of(
    session: Session, recorder: StepRecorder, communication: Communication, phases: Phases
) -> Dict[str, Any]:
    """What one rank has for the file, in plain lists and dicts."""
    step = Step(recorder.operators, recorder.storages.records, [], [], "", True)
    table = Rows(step, None, 1)
    written = _waits(table.operators(), recorder)
    index = {old: new for new, old in enumerate(kept for kept, _ in written)}
    classes = _classes(recorder, phases)
    storages = []
    last = len(written) - 1
    for record, row in zip(recorder.storages.records, table.storages()):
        row["made"] = _moved(index, record.made, last)
        if record.freed is not None:
            row["freed"] = max(_moved(index, record.freed, last), row["made"])
        if record.before:
            row["before"] = True
        row["class"] = classes.get(id(record)) or ("activation" if record.saved else "temporary")
        storages.append(row)
    parameters = _named(phases, "parameters")
    return {
        "rank": session.rank,
        "world": session.world,
        "parameters": [_parameter(n, p) for n, p in parameters],
        "buffers": [{"name": n, "size": _size(b)} for n, b in _named(phases, "buffers")],
        "operators": [row for _, row in written],
        "storages": storages,
        "groups": communication.groups,
        "numbers": sum(count for count, _ in _numbers(phases, parameters)),
        "trained": sum(count for count, trained in _numbers(phases, parameters) if trained),
        "precision": _precision(recorder),
        "step": phases.completed,
        "micro_steps": phases.micro_steps,
        "batch": batch_of(recorder, phases),
        "frameworks": session.frameworks,
        "guesses": session.guessed(),
        "notes": session.notes,
    }


def _moved(index: Dict[int, int], old: int, last: int) -> int:
    while old not in index and old > 0:
        old -= 1
    return min(index.get(old, 0), last)


def _waits(made: List[Dict[str, Any]], recorder: StepRecorder) -> List[Any]:
    """Rows with their passes; a wait right after its collective is none of its own."""
    kept: List[Any] = []
    last_backward = max((i for i, p in enumerate(recorder.phases) if p == BACKWARD), default=len(made))
    first_step = next((i for i, p in enumerate(recorder.phases) if p == OPTIMIZER and i > last_backward), -1)
    closed = set()
    for place, (row, operator) in enumerate(zip(made, recorder.operators)):
        phase = recorder.phases[place]
        if last_backward < place < first_step:
            phase = OPTIMIZER  # clipping and scaling before the step
        if isinstance(operator, Event):
            row = dict(operator.row)
            if (
                "wait" in row
                and kept
                and kept[-1][1].get("work") == row["wait"]
                and kept[-1][1].get("stream") == row.get("stream")
            ):
                del kept[-1][1]["work"]
                continue
            if "wait" in row:
                closed.add(row["wait"])
        else:
            row.pop("pass", None)
            if place in recorder.streams:
                row["stream"] = recorder.streams[place]
        if phase != "forward":
            row = {**{k: v for k, v in list(row.items())[:1]}, "pass": phase, **dict(list(row.items())[1:])}
        kept.append((place, row))
    kept = _without_dangling(kept)
    for _, row in kept:
        if "collective" in row and "work" in row:
            row["async"] = True
    return kept


def _without_dangling(kept: List[Any]) -> List[Any]:
    """Waits for what was issued in the step before say nothing of this one; an event that nobody waits for
    neither."""
    issued = {row["work"] for _, row in kept if "work" in row}
    recorded = {row["record"] for _, row in kept if "record" in row}
    awaited = {row["until"] for _, row in kept if "until" in row}
    left = []
    for place, row in kept:
        if "wait" in row and row["wait"] not in issued:
            continue
        if "until" in row and row["until"] not in recorded:
            continue
        if "record" in row and row["record"] not in awaited:
            continue
        left.append((place, row))
    return left


def _size(tensor: torch.Tensor) -> str:
    return str(Growth(1).size(size_of(local(tensor))))


def _parameter(name: str, parameter: torch.Tensor) -> Dict[str, Any]:
    row: Dict[str, Any] = {"name": name, "size": _size(parameter)}
    if not parameter.requires_grad:
        row["frozen"] = True
    return row


def _whole(parameter: torch.Tensor) -> int:
    """Numbers of a parameter before it was sharded."""
    return int(getattr(parameter, "ds_numel", parameter.numel()))


def _without_padding(flat: Any) -> int:
    counts, padding = flat._numels_with_padding, flat._is_padding_mask
    return sum(int(count) for count, added in zip(counts, padding) if not added)


def _numbers(phases: Phases, parameters: List[Any]) -> List[Any]:
    """Numbers of the parameters before they were sharded, and whether they are trained."""
    flat: Dict[int, Any] = {}
    for root in phases.roots:
        for module in root.modules():  # FullyShardedDataParallel of PyTorch 1 keeps one flat parameter
            one = getattr(getattr(module, "_handle", None), "flat_param", None)
            if one is not None:
                flat[id(one)] = one
    if flat:
        return [(_without_padding(one), one.requires_grad) for one in flat.values()]
    return [(_whole(p), p.requires_grad) for _, p in parameters]


def _classes(recorder: StepRecorder, phases: Phases) -> Dict[int, str]:
    """What each storage is: by the parameters, gradients and states that live at the end."""
    kinds: Dict[int, str] = {}

    def put(tensor: Any, kind: str) -> None:
        storage = storage_of(local(tensor)) if isinstance(tensor, torch.Tensor) else None
        if storage is not None:
            kinds.setdefault(storage._cdata, kind)

    for root in phases.roots:
        for parameter in root.parameters():
            put(parameter, "parameter")
            if parameter.grad is not None:
                put(parameter.grad, "gradient")
        for buffer in root.buffers():
            put(buffer, "buffer")
    for optimizer in phases.optimizers:
        for state in optimizer.state.values():
            for one in state.values() if isinstance(state, dict) else []:
                put(one, "optimizer")
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                put(parameter, "parameter")
                if parameter.grad is not None:
                    put(parameter.grad, "gradient")
    for key in recorder.inputs:
        kinds.setdefault(key, "input")
    for key in recorder.sent:
        kinds.setdefault(key, "communication")
    return {id(record): kinds[key] for key, record in recorder.storages.by_key() if key in kinds}


def _precision(recorder: StepRecorder) -> Optional[str]:
    """The number type of most products, by their inputs' sizes."""
    counts: Dict[str, int] = {}
    for operator in recorder.operators:
        if (
            operator.op.split("::")[-1] in ("mm", "addmm", "bmm", "baddbmm", "convolution", "_grouped_mm")
            and operator.ins
        ):
            kind, shape = operator.ins[-1]
            size = 1
            for dimension in shape:
                size *= dimension
            counts[kind] = counts.get(kind, 0) + size
    if not counts:
        return None
    return {"f32": "fp32", "f16": "fp16", "bf16": "bf16"}.get(max(counts, key=lambda k: counts[k]))


def batch_of(recorder: StepRecorder, phases: Phases) -> int:
    """Samples that one rank trained in the step, by the first dimension of what the model was given."""
    return phases.samples
