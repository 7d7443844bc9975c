"""Packed sequences of known lengths, padded again: the operators that PyTorch issues for it."""
from __future__ import annotations

from typing import Any, Tuple

import torch


def pad_packed(
    data: torch.Tensor, sizes: torch.Tensor, batch_first: bool, padding: float, total: int
) -> Tuple[torch.Tensor, torch.Tensor]:
    """torch._pad_packed_sequence, which itself reads memory: a copy for each run of steps with the same
    number of sequences. `sizes` has the number of sequences of each step and holds data."""
    known = sizes.tolist()
    steps = max(len(known), total)
    output = torch.full(
        (steps, known[0]) + tuple(data.shape[1:]), padding, dtype=data.dtype, device=data.device
    )
    lengths, begin, offset = [0] * known[0], 0, 0
    for step in range(1, len(known) + 1):
        if step < len(known) and known[step] == known[begin]:
            continue
        count, run = known[begin], step - begin
        part = data[offset : offset + run * count].view((run, count) + tuple(data.shape[1:]))
        output[begin:step, :count].copy_(part)
        offset += run * count
        for sequence in range(known[step] if step < len(known) else 0, count):
            lengths[sequence] = step
        begin = step
    return output.transpose(0, 1) if batch_first else output, torch.tensor(lengths)
