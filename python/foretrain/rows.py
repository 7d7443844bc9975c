"""The rows of a model file: of one recorded step, or of two that are alike but for the batch."""
from __future__ import annotations

from collections import Counter
from typing import Any, Dict, List, Optional, Sequence, Tuple

import torch

from .recorder import Operator
from .sizes import Growth, Size, size_of
from .step import Step, parameters_of


class Rows:
    """The rows of the file from one step, or from two that are alike but for the batch."""

    def __init__(self, first: Step, second: Optional[Step], count: int, larger: int = 0) -> None:
        self.first, self.second = first, second
        self.growth = Growth(count, larger if second is not None else None)
        self.why = ""

    def _sizes(self, at_first: Sequence[Size], at_second: Optional[Sequence[Size]], what: str) -> List[str]:
        written = self.growth.sizes(at_first, at_second)
        if written is None:
            self.why = self.why or f"{what} grows from {at_first} to {at_second}, on no line with the batch"
            return []
        return written

    def match(self) -> bool:
        """Whether the second step has the same operators and storages."""
        if self.second is None:
            return False
        pairs: List[Tuple[str, List[Any], List[Any]]] = [
            ("operators", self.first.operators, self.second.operators),
            ("storages", self.first.storages, self.second.storages),
        ]
        for kind, a, b in pairs:
            if len(a) != len(b):
                self.why = f"{len(a)} {kind} at one batch, {len(b)} at the other"
                return False
        for i, (one, other) in enumerate(zip(self.first.operators, self.second.operators)):
            if one.op != other.op or one.of != other.of:
                self.why = f"operator {i} is {one.op} at one batch, {other.op} at the other"
                return False
        if any(a.made != b.made for a, b in zip(self.first.storages, self.second.storages)):
            self.why = "storages are made by other operators"
            return False
        return True

    def operators(self) -> List[Dict[str, Any]]:
        in_call = Counter(o.call for o in self.first.operators if o.call is not None)
        numbers: Dict[int, int] = {}
        for one in self.first.operators:
            if one.call is not None and in_call[one.call] > 1:
                numbers.setdefault(one.call, len(numbers) + 1)
        return [self._operator(i, o, numbers) for i, o in enumerate(self.first.operators)]

    def _operator(self, i: int, one: Operator, numbers: Dict[int, int]) -> Dict[str, Any]:
        other = self.second.operators[i] if self.second is not None else None
        row: Dict[str, Any] = {"op": one.op}
        if one.backward:
            row["pass"] = "backward"
        if one.recomputed:
            row["recomputed"] = True
        if one.of:
            row["of"] = one.of
        if one.call in numbers:
            row["call"] = numbers[one.call]
        if one.node:
            row["node"] = one.node
        row["in"] = self._sizes(one.ins, other.ins if other else None, f"operator {i} ({one.op})")
        row["out"] = self._sizes(one.outs, other.outs if other else None, f"operator {i} ({one.op})")
        settings = {k: v for k, v in one.with_.items() if other is None or other.with_.get(k) == v}
        if settings:
            row["with"] = settings
        if one.ready:
            row["ready"] = one.ready
        row.update({flag: True for flag in ("autocast", "inplace", "view") if getattr(one, flag)})
        return row

    def storages(self) -> List[Dict[str, Any]]:
        made = []
        for i, one in enumerate(self.first.storages):
            other = self.second.storages[i] if self.second is not None else None
            size = self.growth.storage(one.size, other.size if other else None)
            if size is None and other is not None:
                self.why = self.why or (
                    f"the storage of operator {one.made} grows from {one.size} to {other.size}, on no line"
                    " with the batch"
                )
            row: Dict[str, Any] = {"size": size or "", "made": one.made}
            if one.freed is not None:
                row["freed"] = one.freed
            if one.saved:
                row["saved"] = True
            made.append(row)
        return made

    def inputs(self) -> List[str]:
        return self._sizes(self.first.inputs, self.second.inputs if self.second else None, "the input")


def all_rows(
    first: Step, second: Optional[Step], count: int, larger: int, notes: List[str]
) -> Tuple[Rows, Dict[str, List[Any]]]:
    """The rows of the steps of `count` and of `larger` samples; of the first alone, and a note, where they
    differ by more than sizes."""
    table = Rows(first, second, count, larger)
    if second is not None and table.match():
        made: Dict[str, List[Any]] = {
            "inputs": table.inputs(),
            "operators": table.operators(),
            "storages": table.storages(),
        }
        if not table.why:
            return table, made
    if second is not None:
        notes.append(f"how sizes grow with the batch is unknown: {table.why}")
    table = Rows(first, None, count)
    return table, {"inputs": table.inputs(), "operators": table.operators(), "storages": table.storages()}


def why_unlike(first: Step, second: Step, count: int, larger: int) -> str:
    """Why two steps differ by more than sizes that grow with the batch; nothing where they do not."""
    table = Rows(first, second, count, larger)
    if table.match():
        table.inputs(), table.operators(), table.storages()
    return table.why


def parameter_rows(model: torch.nn.Module) -> List[Dict[str, Any]]:
    names: Dict[int, List[str]] = {}
    for prefix, module in model.named_modules(remove_duplicate=False):
        for name, tensor in module._parameters.items():
            if tensor is not None:
                full = f"{prefix}.{name}" if prefix else name
                if full not in names.setdefault(id(tensor), []):
                    names[id(tensor)].append(full)
    made = []
    growth = Growth(1)
    for name, tensor in parameters_of(model):
        row: Dict[str, Any] = {"name": name, "size": growth.size(size_of(tensor))}
        also = [n for n in names.get(id(tensor), []) if n != name]
        if also:
            row["also"] = also
        if not tensor.requires_grad:
            row["frozen"] = True
        made.append(row)
    return made
