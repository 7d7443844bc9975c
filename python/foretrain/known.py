"""What a capture knows beside fake tensors: small whole numbers, and the sizes that follow from them."""
from __future__ import annotations

import contextlib
import sys
from typing import Any, Dict, Iterator, List, Optional, Tuple

import torch

from .recorder import tensors_in

try:
    from .pretend.values import _FACTORIES, MOST_FLOATS, MOST_WHOLE, Values
except ImportError:  # torch 1.13; the single file has them above
    pass

#: torch 2 has what known values need.
KNOWS_VALUES = hasattr(torch, "Tag") and hasattr(torch.Tensor, "untyped_storage")

_QUESTIONS = ("_local_scalar_dense", "item", "is_nonzero", "equal")
_BY_MASK = ("index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index")
_EMPTY = ("aten::empty_like", "aten::new_empty", "aten::empty_strided", "aten::new_empty_strided")


#: Small random numbers are drawn, since the host may read them: which layers it skips, how it crops.
_DRAWS = set("rand randn randint randperm uniform normal bernoulli random rand_like randn_like".split())
_DRAWN_MARK = "_foretrain_drawn"


class Known:
    """Values beside the fake tensors of one mode. An unknown value that the code asks for stays an error: the
    step is then run for real."""

    def __init__(self, fake: Any) -> None:
        self.fake, self.values = fake, Values()
        self.drawn_was_read = False  #: the host read a random number, drawn for it

    def put(self, tensor: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """A fake tensor gets a copy of the real one's values, where they are few."""
        with _alone():
            few = value.numel() <= _most(value)
            self.values.put(tensor, value.detach().clone() if few else None)
        return tensor

    def fake_of(self, value: torch.Tensor) -> torch.Tensor:
        """A real tensor as a fake one, with its values beside it."""
        return self.put(self.fake.from_tensor(value), value)

    def answer(self, func: Any, base: str, inputs: List[torch.Tensor]) -> Optional[Tuple[Any]]:
        """The answer to a question of the host, in a tuple; None where it is none, or unknown."""
        if base not in _QUESTIONS:
            return None
        known = [self.values.of(t) for t in inputs]
        if not known or any(v is None for v in known):
            return None
        self.drawn_was_read |= any(hasattr(t, _DRAWN_MARK) for t in inputs)
        with _alone():
            return (func(*known),)

    def compute(self, func: Any, args: Any, kwargs: Any, inputs: List[torch.Tensor]) -> Any:
        """The operator's results on known values, or None."""
        for tensor in inputs:
            if getattr(tensor, "constant", None) is not None:
                if self.values.of(tensor) is None:
                    self.values.put(tensor, tensor.constant)  # type: ignore[attr-defined]
                tensor.constant = None  # type: ignore[attr-defined]
        if func._schema.name.partition("::")[2].rstrip("_") in _DRAWS:
            return self._drawn(func, args, kwargs, inputs)
        if not inputs:
            return self._factory(func, args, kwargs)
        with _alone():
            return self.values.compute(func, args, kwargs, inputs)

    def _factory(self, func: Any, args: Any, kwargs: Any) -> Any:
        """What an operator makes of no tensor, as a range; None where that is large."""
        if func._schema.name.partition("::")[2] not in _FACTORIES:
            return None
        with self.fake:
            made = func(*args, **kwargs)
        if not isinstance(made, torch.Tensor) or made.numel() > _most(made):
            return None
        with _alone():
            return func(*args, **{k: v for k, v in kwargs.items() if k != "device"})

    def _drawn(self, func: Any, args: Any, kwargs: Any, inputs: List[torch.Tensor]) -> Any:
        """Random numbers for a small tensor; None for a large one, or where unknown values decide them."""
        known = [self.values.of(t) for t in inputs]
        count = max([_product(a) for a in args] + [t.numel() for t in inputs])
        if any(v is None for v in known) or count > MOST_FLOATS:
            return None
        values = iter(known)
        with _alone(), torch.no_grad():
            given = [next(values) if isinstance(a, torch.Tensor) else a for a in args]
            return func(*given, **{k: v for k, v in kwargs.items() if k != "device"})

    def arguments(self, base: str, args: Any) -> Any:
        """Known masks among the indices as the places that they choose."""
        if base not in _BY_MASK:
            return args
        return (args[0], [p for i in args[1] for p in self._places(i)]) + tuple(args[2:])

    def _places(self, index: Any) -> List[Any]:
        if index is None or index.dtype not in (torch.bool, torch.uint8):
            return [index]
        known = self.values.of(index)
        if known is None:
            return [index]
        with _alone():
            places = known.nonzero(as_tuple=True)
        return [self.fake_of(p) for p in places]

    def sized(self, func: Any, base: str, args: Any, computed: Any) -> Optional[Any]:
        """The results of an operator whose sizes values decide; None where they do not, or are unknown."""
        if base == "_pack_padded_sequence":
            return self._packed(args)
        if base == "_ctc_loss":
            return self._aligned(args)
        if torch.Tag.dynamic_output_shape not in func.tags or base in _BY_MASK or computed is None:
            return None
        if isinstance(computed, torch.Tensor):
            return self.fake_of(computed)
        return type(computed)(self.fake_of(c) if isinstance(c, torch.Tensor) else c for c in computed)

    def _packed(self, args: Any) -> Optional[Any]:
        """Sequences of known lengths, one after the other; their sizes stay real, since torch reads them."""
        data, lengths, batch_first = args
        known = self.values.of(lengths)
        if known is None:
            return None
        with _alone():
            steps = torch.arange(int(known.max()))
            sizes = (known[None, :] > steps[:, None]).sum(1)
            count = int(known.sum())
        return data.new_empty((count,) + tuple(data.shape[2:])), sizes

    def _aligned(self, args: Any) -> Optional[Any]:
        """CTC's loss of each sample, and its sums over alignments, which known lengths of targets decide."""
        lengths = self.values.of(args[3]) if isinstance(args[3], torch.Tensor) else torch.tensor(args[3])
        if lengths is None:
            return None
        with _alone():
            longest = int(lengths.max())
        steps, count = args[0].shape[0], args[0].shape[1]
        return args[0].new_empty((count,)), args[0].new_empty((count, steps, 2 * longest + 1))

    def after(self, func: Any, args: Any, kwargs: Any, result: Any, computed: Any) -> None:
        """Puts computed values beside the results, or forgets those that unknown ones were written over."""
        if computed is not None:
            self.values.attach(result, computed)
            drawn = func._schema.name.partition("::")[2].rstrip("_") in _DRAWS
            if drawn or any(hasattr(t, _DRAWN_MARK) for t in tensors_in([*args, *kwargs.values()])):
                for tensor in tensors_in(result):
                    setattr(tensor, _DRAWN_MARK, True)
        elif func._schema.name in _EMPTY and result.numel() <= _most(result):
            with _alone():  # what is read of it has been written before
                self.values.put(result, torch.zeros(result.shape, dtype=result.dtype))
        elif func._schema.is_mutable:
            self.values.forget_written(func, args, kwargs)


def _product(value: Any) -> int:
    """Elements of a tensor whose size this argument is; the number itself for a number."""
    if not isinstance(value, (list, tuple)):
        return abs(int(value)) if isinstance(value, int) else 1
    count = 1
    for size in value:
        count *= int(size)
    return count


def _most(value: torch.Tensor) -> int:
    return MOST_FLOATS if value.is_floating_point() or value.is_complex() else MOST_WHOLE


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Real tensors are computed without any mode."""
    from torch.utils._python_dispatch import _disable_current_modes

    with torch._C.DisableTorchFunction(), _disable_current_modes():
        yield


@contextlib.contextmanager
def no_tracer_seen() -> Iterator[None]:
    """Libraries that ask whether a tensor is fake hear that it is not, so that they take a GPU's branches."""
    module: Any = sys.modules.get("transformers.utils.import_utils")
    held: Dict[str, Any] = {}
    if module is not None and hasattr(module, "is_fake_tensor"):
        held["is_fake_tensor"] = module.is_fake_tensor
        module.is_fake_tensor = lambda _: False
    try:
        yield
    finally:
        for name, value in held.items():
            setattr(module, name, value)
