"""Data loading in this process, and stand-ins for data sets that are not there."""

from __future__ import annotations

import inspect
import os
import sys
from typing import Any, Dict, List, Optional

import torch

from .session import Session

_ALONE = {
    "num_workers": 0,
    "pin_memory": False,
    "prefetch_factor": None,
    "persistent_workers": False,
    "timeout": 0,
    "multiprocessing_context": None,
    "worker_init_fn": None,
    "pin_memory_device": "",
}
#: torchvision's data sets: height and width of an image (None: grey), classes.
_IMAGES = {
    "ImageFolder": (500, 400, 1000),
    "ImageNet": (500, 400, 1000),
    "CIFAR10": (32, 32, 10),
    "CIFAR100": (32, 32, 100),
    "MNIST": (28, None, 10),
    "FashionMNIST": (28, None, 10),
    "Food101": (500, 500, 101),
    "Flowers102": (500, 500, 102),
    "STL10": (96, 96, 10),
    "SVHN": (32, 32, 10),
}
_COUNT = 65536


def install(session: Session) -> None:
    """DataLoader without workers; memory maps and data sets that are missing."""
    _loader(session)
    _memory_maps(session)
    when_imported("torchvision.datasets", lambda module: _pictures(module, session))


class _Finder:
    """Calls a function on a module as soon as it has been imported."""

    def __init__(self) -> None:
        self.waiting: Dict[str, List[Any]] = {}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in self.waiting:
            return None
        import importlib.util

        functions = self.waiting.pop(name)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        plain = spec.loader.exec_module

        def run(module: Any) -> None:
            plain(module)
            for function in functions:
                function(module)

        spec.loader.exec_module = run  # type: ignore
        return spec


_FINDER = _Finder()


def when_imported(name: str, function: Any) -> None:
    """`function(module)` now, if the module is there already, or when it is imported."""
    if name in sys.modules:
        function(sys.modules[name])
        return
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)  # type: ignore
    _FINDER.waiting.setdefault(name, []).append(function)


def _loader(session: Session) -> None:
    from torch.utils.data import dataloader

    plain, following = dataloader.DataLoader.__init__, dataloader._BaseDataLoaderIter.__next__
    names = list(inspect.signature(plain).parameters)[1:]

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        given = {**dict(zip(names, args)), **kwargs}
        given.update({k: v for k, v in _ALONE.items() if k in given})
        plain(self, **given)

    def step(self: Any) -> Any:
        session.loading += 1
        try:
            return following(self)
        finally:
            session.loading -= 1

    init.__signature__ = inspect.signature(plain)  # type: ignore
    dataloader.DataLoader.__init__ = init  # type: ignore
    dataloader._BaseDataLoaderIter.__next__ = step  # type: ignore


def _memory_maps(session: Session) -> None:
    try:
        import numpy
    except ImportError:
        return
    plain = numpy.memmap

    class memmap(plain):  # type: ignore[misc, valid-type]
        """A numpy.memmap; one whose file is missing has random token ids below 256."""

        def __new__(
            cls, filename: Any, dtype: Any = numpy.uint8, mode: str = "r+", *args: Any, **kwargs: Any
        ) -> Any:
            if isinstance(filename, (str, os.PathLike)) and mode in ("r", "c", "r+"):
                if not os.path.exists(filename):
                    session.note(f"{os.path.relpath(filename)} is missing; random token ids stand in for it.")
                    return numpy.random.randint(0, 256, 1 << 20).astype(dtype)
                mode = "r" if mode == "r+" else mode
            return plain.__new__(plain, filename, dtype, mode, *args, **kwargs)

    numpy.memmap = memmap  # type: ignore


def _pictures(module: Any, session: Session) -> None:
    for name in _IMAGES:
        plain = getattr(module, name, None)
        if plain is not None:
            setattr(module, name, _switch(plain, name, session))


def _switch(plain: Any, name: str, session: Session) -> Any:
    """The data set itself where its files are there, else one of random images."""

    class Switch(type(plain)):  # type: ignore[misc]
        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            kwargs_here = {k: v for k, v in kwargs.items() if k != "download"}
            try:
                session.loading += 1
                return plain(*args, **kwargs_here)
            except Exception:
                session.note(f"The data set {name} is missing; random images stand in for it.")
                return _random_images(name, kwargs)
            finally:
                session.loading -= 1

    made = Switch(name, (plain,), {})
    made.__module__ = plain.__module__
    return made


def _random_images(name: str, options: Dict[str, Any]) -> Any:
    import numpy
    from PIL import Image

    high, wide, classes = _IMAGES[name]
    shape = (high, high) if wide is None else (high, wide, 3)

    class RandomImages(torch.utils.data.Dataset):
        transform, target_transform = options.get("transform"), options.get("target_transform")
        transforms = options.get("transforms")
        loader = None

        def __init__(self) -> None:
            self.classes = [str(i) for i in range(classes)]
            self.class_to_idx = {c: i for i, c in enumerate(self.classes)}
            self.samples = self.imgs = [(f"{i}.jpg", i % classes) for i in range(_COUNT)]
            self.targets = [label for _, label in self.samples]

        def __len__(self) -> int:
            return _COUNT

        def __getitem__(self, index: int) -> Any:
            image: Any = Image.fromarray(numpy.random.randint(0, 255, shape, dtype=numpy.uint8))
            label: Any = index % classes
            if self.transforms is not None:
                return self.transforms(image, label)
            if self.transform is not None:
                image = self.transform(image)
            return image, label if self.target_transform is None else self.target_transform(label)

    return RandomImages()
