"""What one optimizer step of a rank issued: operators, collectives, waits and reads in one list."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Set

import torch

from ..recorder import Operator, Recorder, tensors_in
from . import streams

#: The rows of one optimizer step; the reader takes no more.
FORWARD, BACKWARD, OPTIMIZER = "forward", "backward", "optimizer"


@dataclass
class Event(Operator):
    """A row that is no operator: a collective, a wait, a send, a receive, a read."""

    row: Dict[str, Any] = field(default_factory=dict)


class StepRecorder(Recorder):
    """The recorder that capture has, for a step that a script runs: it begins anew with each step."""

    def __init__(self) -> None:
        super().__init__(True)  # tensors hold nothing
        self.phase = FORWARD
        self.phases: List[str] = []
        #: By place of an operator that did not run on the default stream: that stream's name.
        self.streams: Dict[int, str] = {}
        self.recording = False
        #: Keys of storages that collectives sent from or received into.
        self.sent: Set[int] = set()
        self.inputs: Set[int] = set()

    def begin(self) -> None:
        """A new step: what lives now was there before it."""
        from ..storages import Storages

        self.operators, self.phases, self.streams = [], [], {}
        self.storages = Storages()
        self.sent, self.inputs = set(), set()
        self.recording = True

    def observe(self, func: Any, args: Any, kwargs: Dict[str, Any], run: Any) -> Any:
        if not self.recording or not _on_gpu(args, kwargs):
            return run(*args, **kwargs)
        for value in list(args) + list(kwargs.values()):
            for tensor in tensors_in(value):
                if tensor.device.type == "cuda":
                    self.storages.before(tensor)
        count = len(self.operators)
        result = super().observe(func, args, kwargs, run)
        if len(self.operators) > count:
            self.phases.append(self.phase)
            stream = streams.name()
            if stream:
                self.streams[len(self.operators) - 1] = stream
            if func._schema.name == "aten::ones_like":
                self.operators[-1].recomputed = False  # the gradient of the loss
            if func._schema.name == "aten::_to_copy" and args[0].device.type == "cpu":
                for tensor in tensors_in(result):
                    key = self.storages.key(tensor)
                    if key is not None and tensor.device.type != "cpu":
                        self.inputs.add(key)
        return result

    def event(self, row: Dict[str, Any]) -> Optional[int]:
        """Puts a row that is no operator at the end; its index."""
        if not self.recording:
            return None
        self.storages.look(len(self.operators))
        self.add(Event("", "", (), (), row=row), [])
        self.phases.append(self.phase)
        return len(self.operators) - 1

    def communicates(self, tensors: List[torch.Tensor]) -> None:
        for tensor in tensors:
            key = self.storages.key(tensor)
            if key is not None:
                self.sent.add(key)


def _on_gpu(args: Any, kwargs: Dict[str, Any]) -> bool:
    device = kwargs.get("device")
    if device is not None and torch.device(device).type == "cuda":
        return True
    return any(t.device.type == "cuda" for v in list(args) + list(kwargs.values()) for t in tensors_in(v))
