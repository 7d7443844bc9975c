"""Sizes of tensors: `f32[B,3,224,224]`, and how they grow with the batch."""
from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Tuple

import torch

#: One tensor: the name of its number type and its dimensions.
Size = Tuple[str, Tuple[int, ...]]

_NAMES: Dict[str, str] = {
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "int64": "i64",
    "int32": "i32",
    "int16": "i16",
    "int8": "i8",
    "uint8": "u8",
    "bool": "b8",
    "complex64": "c64",
    "complex128": "c64",
    "quint8": "u8",
    "qint8": "i8",
    "float8_e4m3fn": "f8",
    "float8_e5m2": "f8",
    "uint16": "i16",
    "uint32": "i32",
    "uint64": "i64",
    "complex32": "f32",
}
_BYTES: Dict[str, int] = {
    "f64": 8,
    "f32": 4,
    "f16": 2,
    "bf16": 2,
    "f8": 1,
    "i64": 8,
    "i32": 4,
    "i16": 2,
    "i8": 1,
    "u8": 1,
    "b8": 1,
    "c64": 8,
}


def dtype_name(dtype: torch.dtype) -> str:
    """torch.float32 → "f32"."""
    return _NAMES.get(str(dtype).replace("torch.", ""), "f32")


def size_of(tensor: torch.Tensor) -> Size:
    return dtype_name(tensor.dtype), tuple(int(d) for d in tensor.shape)


def bytes_of(size: Size) -> int:
    """Bytes of a tensor of that size."""
    count = 1
    for dimension in size[1]:
        count *= dimension
    return count * _BYTES[size[0]]


#: CUDA's allocator gives multiples of so many bytes.
ALLOCATED = 512


class Growth:
    """Writes dimensions as `a+bB` from two recordings, of `first` and of `second` samples; alone, as they
    are."""

    def __init__(self, first: int, second: Optional[int] = None) -> None:
        self.first, self.second = first, second

    def dimension(self, at_first: int, at_second: Optional[int] = None) -> Optional[str]:
        """None where the two are on no line with whole, positive numbers."""
        if self.second is None or at_second is None:
            return str(at_first)
        per_sample, rest = divmod(at_second - at_first, self.second - self.first)
        constant = at_first - per_sample * self.first
        if rest or per_sample < 0 or constant < 0:
            return None
        if per_sample == 0:
            return str(constant)
        grows = "B" if per_sample == 1 else f"{per_sample}B"
        return grows if constant == 0 else f"{constant}+{grows}"

    def size(self, at_first: Size, at_second: Optional[Size] = None) -> Optional[str]:
        if self.second is None or at_second is None:
            return f"{at_first[0]}[{','.join(map(str, at_first[1]))}]"
        if at_first[0] != at_second[0] or len(at_first[1]) != len(at_second[1]):
            return None
        parts = [self.dimension(a, b) for a, b in zip(at_first[1], at_second[1])]
        return None if None in parts else f"{at_first[0]}[{','.join(p for p in parts if p is not None)}]"

    def storage(self, at_first: Size, at_second: Optional[Size] = None) -> Optional[str]:
        """The size of a storage. A strided one may end within its last block: it is written with the block's
        rest where that is less than an allocator rounds up to anyway."""
        written = self.size(at_first, at_second)
        if written is not None or at_second is None or len(at_first[1]) != 1 or len(at_second[1]) != 1:
            return written
        (first,), (second,) = at_first[1], at_second[1]
        per_sample, rest = divmod(second - first, (self.second or 0) - self.first)
        missing = per_sample * self.first - first
        item = bytes_of((at_first[0], (1,)))
        if at_first[0] != at_second[0] or rest or not 0 < missing * item <= ALLOCATED:
            return None
        return f"{at_first[0]}[{per_sample}B]"

    def sizes(
        self, at_first: Sequence[Size], at_second: Optional[Sequence[Size]] = None
    ) -> Optional[List[str]]:
        if at_second is None:
            return [str(self.size(one)) for one in at_first]
        if len(at_first) != len(at_second):
            return None
        parts = [self.size(a, b) for a, b in zip(at_first, at_second)]
        return None if None in parts else [p for p in parts if p is not None]
