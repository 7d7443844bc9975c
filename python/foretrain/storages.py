"""Which storages a step makes, which of them autograd keeps, and when each is really given back."""
from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Set, Tuple

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from .sizes import Size, bytes_of, dtype_name, size_of


def storage_of(tensor: torch.Tensor) -> Any:
    """The storage behind a tensor and all its views; None for a tensor without one (sparse, opaque)."""
    try:
        with torch._C.DisableTorchFunction():
            if hasattr(torch.Tensor, "untyped_storage"):
                return tensor.untyped_storage()  # type: ignore[attr-defined,unused-ignore]
            return tensor.storage()
    except (NotImplementedError, RuntimeError):
        return None


@dataclass
class Storage:
    """One storage: index of the operator that made it and of the last operator that it outlived (None:
    the step's end)."""

    size: Size
    made: int
    freed: Optional[int] = None
    saved: bool = False
    before: bool = False  #: it was there when the recording began


class _Watched:
    """A living storage: how many Python tensors and saved tensors hold it, and a weak reference that
    tells when it goes."""

    __slots__ = ("record", "reference", "holders")

    def __init__(self, record: Optional[Storage], reference: Any) -> None:
        self.record, self.reference, self.holders = record, reference, 0


class Storages:
    """Follows storages by the tensors that hold them; asks a storage whether it lives only once no known
    holder is left."""

    def __init__(self) -> None:
        self.records: List[Storage] = []
        self._watched: Dict[int, _Watched] = {}
        self._tensors: Dict[int, Any] = {}
        self._suspects: Set[int] = set()
        self.closed = False

    def _size(self, tensor: torch.Tensor, storage: Any) -> Size:
        count = storage.nbytes()
        size = size_of(tensor)
        if bytes_of(size) == count:
            return size
        item = tensor.element_size()
        return (dtype_name(tensor.dtype), (count // item,)) if count % item == 0 else ("u8", (count,))

    def leave_out(self, tensor: torch.Tensor) -> None:
        """A parameter or a buffer: no storage of the step."""
        storage = storage_of(tensor)
        if storage is not None and storage._cdata not in self._watched:
            self._watched[storage._cdata] = _Watched(None, StorageWeakRef(storage))

    def before(self, tensor: torch.Tensor) -> None:
        """An operator reads a tensor; one whose storage is not known was there before the step."""
        storage = storage_of(tensor)
        if storage is None or storage._cdata in self._watched or storage.nbytes() == 0:
            return
        record = Storage(self._size(tensor, storage), 0, before=True)
        self.records.append(record)
        watched = self._watched[storage._cdata] = _Watched(record, StorageWeakRef(storage))
        self._hold(tensor, storage._cdata, watched)

    def resized(self, storage: Any, index: int) -> None:
        """A storage was given back without its tensors, or got memory again, before operator `index`."""
        watched = self._watched.get(storage._cdata)
        old = watched.record if watched is not None else None
        if old is not None and old.freed is None:
            old.freed = max(index - 1, old.made)
        dtype, count = (old.size[0] if old is not None else "u8"), storage.nbytes()
        item = bytes_of((dtype, (1,)))
        record = Storage((dtype, (count // item,)), index) if count else None
        if record is not None:
            self.records.append(record)
        elif old is not None:
            record = Storage((dtype, (0,)), index, freed=index)  # remembers the type
        if watched is None:
            self._watched[storage._cdata] = _Watched(record, StorageWeakRef(storage))
        else:
            watched.record = record

    def by_key(self) -> List[Tuple[int, Storage]]:
        """The storages that live, by their keys."""
        return [(key, one.record) for key, one in self._watched.items() if one.record is not None]

    def key(self, tensor: torch.Tensor) -> Optional[int]:
        storage = storage_of(tensor)
        return None if storage is None else storage._cdata

    def made(self, tensor: torch.Tensor, index: int) -> None:
        """A result of operator `index`: a new storage, or a further tensor on one that is known."""
        storage = storage_of(tensor)
        if storage is None:
            return
        key = storage._cdata
        watched = self._watched.get(key)
        if watched is None:
            record = Storage(self._size(tensor, storage), index)
            self.records.append(record)
            watched = self._watched[key] = _Watched(record, StorageWeakRef(storage))
        elif watched.record is not None and watched.record.made == index:
            watched.record.size = self._size(tensor, storage)
        if watched.record is not None:
            self._hold(tensor, key, watched)

    def again(self, tensor: torch.Tensor) -> None:
        """A further tensor on a storage that is known; one that is not is a number's, and no storage
        of the step."""
        key = self.key(tensor)
        watched = self._watched.get(key) if key is not None else None
        if watched is not None and watched.record is not None:
            self._hold(tensor, key, watched)  # type: ignore[arg-type]

    def _hold(self, tensor: torch.Tensor, key: int, watched: _Watched) -> None:
        identity = id(tensor)
        if identity in self._tensors:
            return
        watched.holders += 1
        self._suspects.discard(key)

        def gone(_: Any) -> None:
            self._tensors.pop(identity, None)
            self.let_go(key)

        self._tensors[identity] = weakref.ref(tensor, gone)

    def let_go(self, key: int) -> None:
        """One holder less; with the last the storage is asked before each operator whether it still lives."""
        watched = self._watched.get(key)
        if watched is None or self.closed:
            return
        watched.holders -= 1
        if watched.holders <= 0:
            self._suspects.add(key)

    def save(self, tensor: torch.Tensor) -> Optional[int]:
        """Autograd keeps this tensor: its storage is kept, with one holder more; the key to let it go by."""
        key = self.key(tensor)
        watched = self._watched.get(key) if key is not None else None
        if watched is None or watched.record is None:
            return None
        watched.record.saved = True
        watched.holders += 1
        self._suspects.discard(key)  # type: ignore[arg-type]
        return key

    def look(self, next_index: int) -> None:
        """Before operator `next_index`: which storages went."""
        if not self._suspects:
            return
        for key in [k for k in self._suspects if self._watched[k].reference.expired()]:
            self._suspects.discard(key)
            record = self._watched.pop(key).record
            if record is not None:
                record.freed = max(next_index - 1, record.made)

    def close(self, count: int) -> None:
        """The step has ended: a last look; what lives on stays without `freed`."""
        self.look(count)
        self.closed = True
