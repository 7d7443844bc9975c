"""Records one training step of a PyTorch model as a model file: operators, sizes, parameters, gradients'
order, storages."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import warnings
from dataclasses import dataclass, field
from html import escape
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import torch

from .batches import bare, other_sizes, repeated, samples
from .errors import CaptureError, explain, reason, user_line
from .recorder import Operator
from .rows import all_rows, parameter_rows, why_unlike
from .sizes import Growth, bytes_of, size_of
from .step import Step, parameters_of, run_step
from .storages import Storage
from .version import VERSION
from .writer import rows, text, value, write_whole

_MIB = 1024.0 * 1024.0


@dataclass
class Capture:
    """A recorded step. Bytes are bytes, `batch` samples; `notes` says what fell back, and why."""

    name: str
    batch: int
    grows: bool
    loss: str
    parameters: int  #: numbers in all parameters, tied ones once
    gradient_bytes: int  #: of the parameters that get a gradient
    ready_order: List[int]  #: indices of parameters, in the order in which their gradients are complete
    forward_operators: int
    backward_operators: int
    saved_bytes: int  #: storages that autograd keeps for backward, parameters and buffers left out
    faked: bool  #: recorded on tensors without data
    notes: List[str]
    content: str = field(repr=False)  #: of the model file
    path: Optional[str] = None
    operators: List[Operator] = field(default_factory=list, repr=False)
    storages: List[Storage] = field(default_factory=list, repr=False)

    def summary(self) -> str:
        """The recording in words, a line each."""
        lines = [
            (
                f"{self.name}: {self.parameters:,} parameters, {self.gradient_bytes / _MIB:,.2f} MiB of"
                f" gradients, a batch of {self.batch}"
            ),
            (
                f"{self.forward_operators:,} operators forward, {self.backward_operators:,} backward; "
                f"{self.saved_bytes / _MIB:,.1f} MiB kept for backward; loss: {self.loss}"
            ),
            "recorded without running it (fake tensors)" if self.faked else "recorded by running it",
        ]
        lines.append(
            "sizes grow with the batch (recorded at two batches)"
            if self.grows
            else f"sizes hold for a batch of {self.batch} only"
        )
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    def _repr_html_(self) -> str:
        """The recording in a notebook."""
        return f"<pre>{escape(self.summary())}</pre>"


def capture(
    model: torch.nn.Module,
    batch: Any,
    loss: Optional[Callable[..., torch.Tensor]] = None,
    out: Optional[str] = "model.toml",
    *,
    batch_dim: int = 0,
    name: Optional[str] = None,
    optimizer: Optional[str] = None,
    autocast: Union[None, str, torch.dtype] = None,
    fake: Optional[bool] = None,
    quiet: bool = False,
) -> Capture:
    """Records forward and backward of `model` on `batch` and writes the model file `out` (None: no file).

    batch: what the training loop takes from its DataLoader. A tuple is passed as model(*batch), its last
    entry left
        out as the target where `loss` takes two arguments or forward does not take it; a dict as
        model(**batch).
    loss: loss(output, target) or loss(output). Without it: the module's training_step (Lightning), the
    output's
        `.loss`, a scalar output, cross entropy of [N, C], else the sum of all outputs.
    batch_dim: the dimension of the batch's tensors that counts samples.
    optimizer: as [model] of a scenario names it, for example "adamw"; left to the scenario if None.
    autocast: "float16" or "bfloat16": the step runs in torch.autocast("cuda", dtype).
    fake: True: only on fake tensors, False: only for real; None: on fake ones where that works.

    The model is unchanged afterwards. Raises CaptureError with the line of the model's code that cannot
    be recorded.
    """
    if not isinstance(model, torch.nn.Module):
        raise CaptureError(
            f"the model is {type(model).__name__}, no torch.nn.Module\n  hint: pass the module itself, not"
            " its output or its class"
        )
    if any(torch.nn.parameter.is_lazy(p) for p in list(model.parameters()) + list(model.buffers())):
        raise CaptureError(
            "the model has lazy parameters without a size\n  hint: run it once on the batch before"
        )
    count = samples(batch, batch_dim)
    half = _half(autocast)
    notes: List[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        steps = _steps(model, batch, loss, batch_dim, count, half, fake, notes)
    return _written(
        bare(model),
        batch,
        steps,
        name or type(bare(model)).__name__,
        optimizer,
        out,
        notes,
        quiet,
    )


def _half(autocast: Union[None, str, torch.dtype]) -> Optional[torch.dtype]:
    if autocast is None:
        return None
    found = getattr(torch, autocast, None) if isinstance(autocast, str) else autocast
    if found not in (torch.float16, torch.bfloat16):
        raise CaptureError(f'autocast = {autocast!r}\n  hint: "float16" or "bfloat16"')
    return found


@dataclass
class _Steps:
    """The steps that the file is made of: of `count` samples and of `larger` ones, or of the first alone."""

    first: Step
    count: int
    second: Optional[Step] = None
    larger: int = 0


def _steps(
    model: torch.nn.Module,
    batch: Any,
    loss: Any,
    dim: int,
    count: int,
    half: Optional[torch.dtype],
    fake: Optional[bool],
    notes: List[str],
) -> _Steps:
    """The step of the given batch and that of a batch twice its size, or a note why there is none."""
    faked = fake is not False
    try:
        first = run_step(model, batch, loss, faked, half)
    except Exception as error:
        if not faked or fake:
            raise explain(error, "recording the step") from error
        note = f"recorded by running it, since fake tensors do not do: {reason(error)}{_at(error)}"
        first = _for_real(model, batch, loss, half)
        notes.append(note)
        faked = False
    others = other_sizes(batch, dim, count)
    if others:
        notes.append(
            f"{len(others)} of the batch's tensors, as {list(others[0])}, have another number of samples than"
            f" {count}: taken to be the same for every batch"
        )

    def larger(times: int) -> Optional[Step]:
        try:
            return run_step(model, repeated(batch, dim, count, times), loss, faked, half)
        except Exception as error:
            notes.append(f"not recorded at {times * count} samples: {reason(error)}{_at(error)}")
            return None

    second = larger(2)
    return _Steps(first, count, second, 2 * count) if count > 1 else _of_one(first, second, larger, notes)


def _of_one(
    first: Step, second: Optional[Step], larger: Callable[[int], Optional[Step]], notes: List[str]
) -> _Steps:
    """A batch of one often takes another way through the code: sizes grow from 2 samples to 4."""
    third = larger(4) if second is not None else None
    if second is None or third is None or why_unlike(second, third, 2, 4):
        return _Steps(first, 1, second, 2)
    why = why_unlike(first, third, 1, 4) or why_unlike(first, second, 1, 2)
    if not why:
        return _Steps(first, 1, second, 2)
    notes.append(f"a batch of one is special ({why}): the file is that of 2 samples and more")
    return _Steps(second, 2, third, 4)


def _for_real(model: torch.nn.Module, batch: Any, loss: Any, half: Optional[torch.dtype]) -> Step:
    try:
        return run_step(model, batch, loss, False, half)
    except Exception as error:
        raise explain(error, "recording the step") from error


def _at(error: BaseException) -> str:
    where = user_line(error.__traceback__)
    return f" (at {where})" if where else ""


def _written(
    model: torch.nn.Module,
    batch: Any,
    steps: _Steps,
    name: str,
    optimizer: Optional[str],
    out: Optional[str],
    notes: List[str],
    quiet: bool,
) -> Capture:
    first, count = steps.first, steps.count
    table, made = all_rows(first, steps.second, count, steps.larger, notes)
    parameters = parameters_of(model)
    trained = [i for i, (_, p) in enumerate(parameters) if p.requires_grad]
    never = len(trained) - len(first.order)
    if never:
        notes.append(
            f"{never} parameters get no gradient, as"
            f" {parameters[next(i for i in trained if i not in first.order)][0]}: DDP needs"
            " find_unused_parameters for them"
        )
    if len(trained) < len(parameters):
        notes.append(f"{len(parameters) - len(trained)} parameters are frozen")
    recomputed = sum(o.recomputed for o in first.operators)
    if recomputed:
        notes.append(f"{recomputed} operators are computed again in backward (checkpointing)")
    if first.drew:
        notes.append("the step's way depends on random numbers: they were drawn once, as those of one step")
    if any(o.autocast for o in first.operators):
        notes.append(f"{sum(o.autocast for o in first.operators)} operators ran in autocast regions")
    grows = table.second is not None
    content = _content(model, first, made, count, grows, name, optimizer)
    result = Capture(
        name,
        count,
        grows,
        first.loss,
        sum(p.numel() for _, p in parameters),
        sum(p.numel() * p.element_size() for i, (_, p) in enumerate(parameters) if i in set(first.order)),
        first.order,
        sum(not o.backward for o in first.operators),
        sum(o.backward for o in first.operators),
        sum(bytes_of(s.size) for s in first.storages if s.saved),
        first.faked,
        notes,
        content,
        out,
        first.operators,
        first.storages,
    )
    said: List[str] = []
    if out is not None:
        write_whole(out, content, lambda path: said.extend(_read_back(path)))
    if not quiet:
        print("\n".join([result.summary(), *said]), file=sys.stderr)
    return result


def _read_back(path: str) -> List[str]:
    """Lets the program read the file, where it is on PATH or FORETRAIN names it: what it says of operators
    that it has no formula for. CaptureError where it refuses the file."""
    program = os.environ.get("FORETRAIN") or shutil.which("foretrain")
    if not program:
        return []
    try:
        shown = subprocess.run(
            [program, "model", "show", os.path.abspath(path)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    if shown.returncode != 0:
        said = (shown.stderr.strip() or f"it ended with exit code {shown.returncode}").splitlines()[0]
        raise CaptureError(
            f"the program does not read the recording: {said.replace(os.path.abspath(path), 'the file')}\n"
            f"  hint: {program} and this package are of different versions, or this is a bug: report it"
        )
    lines = [" ".join(line.split()) for line in shown.stdout.splitlines()]
    return [line for line in lines if "without formula" in line.lower()]


def _content(
    model: torch.nn.Module,
    step: Step,
    made: Dict[str, List[Any]],
    count: int,
    grows: bool,
    name: str,
    optimizer: Optional[str],
) -> str:
    by = f"foretrain.capture {VERSION}, torch {torch.__version__}"
    plain = re.sub(r"[^ -~]", "?", name)
    lines = [
        (
            f"# Recorded by foretrain.capture {VERSION} with torch {torch.__version__}: {plain}, batch of"
            f" {count}"
        ),
        f"description = {text(f'{plain}, recorded')}",
    ]
    if optimizer:
        lines.append(f"optimizer = {text(optimizer)}")
    if step.inputs and grows and made["inputs"][0].startswith("f"):
        inner = made["inputs"][0].split("[")[1].rstrip("]").split(",")
        if inner[0] == "B" and all(d.isdigit() for d in inner[1:]) and len(inner) > 1:
            lines.append(f"input = [{', '.join(inner[1:])}]")
    buffers = [{"name": n, "size": Growth(1).size(size_of(b))} for n, b in model.named_buffers()]
    lines += [
        "",
        "[recorded]",
        "format = 1",
        f"by = {text(by)}",
        f"batch = {count}",
        f"grows = {value(grows)}",
        f"inputs = {value(made['inputs'])}",
        f"modules = {sum(1 for _ in model.named_modules())}",
    ]
    lines += rows("parameters", parameter_rows(model)) + rows("buffers", buffers)
    lines += rows("operators", made["operators"]) + rows("storages", made["storages"])
    return "\n".join(lines) + "\n"
