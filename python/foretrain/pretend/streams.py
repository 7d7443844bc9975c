"""Streams and events of the device that is shown: which collective is waited for where."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, List, Optional, Set

import torch


class Line:
    """What happens on streams: who is told of a wait of the compute stream, and which stream is current."""

    def __init__(self) -> None:
        self.default: Any = None
        self.current: Any = None
        self.made = 0
        #: Called with the numbers of works for which the compute stream waits.
        self.waited: Callable[[Set[int]], None] = lambda _: None


LINE = Line()


class Stream:
    """A torch.cuda.Stream that knows the collectives that were issued on it."""

    device_type = 1
    cuda_stream = 0
    priority = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        LINE.made += 1
        self.stream_id = LINE.made
        self.name = f"stream{LINE.made}"
        self.works: Set[int] = set()
        self._outer: List[Any] = []

    @property
    def device(self) -> torch.device:
        return torch.device("cuda", torch.cuda.current_device())

    @property
    def device_index(self) -> int:
        return torch.cuda.current_device()

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return False

    def synchronize(self) -> None:
        LINE.default.take(self.works)

    def wait_stream(self, other: Any) -> None:
        self.take(getattr(other, "works", set()))

    def wait_event(self, event: Any) -> None:
        self.take(getattr(event, "works", set()))

    def record_event(self, event: Any = None) -> Any:
        event = event or Event()
        event.record(self)
        return event

    def take(self, works: Set[int]) -> None:
        """This stream waits for works of another one."""
        fresh = works - self.works
        self.works |= fresh
        if self is LINE.default and fresh:
            LINE.waited(fresh)

    def __enter__(self) -> "Stream":
        self._outer.append(LINE.current)
        LINE.current = self
        return self

    def __exit__(self, *_: Any) -> None:
        LINE.current = self._outer.pop()


class Event:
    """A torch.cuda.Event: the collectives before it on its stream."""

    cuda_event = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        self.works: Set[int] = set()

    def record(self, stream: Any = None) -> None:
        self.works = set(getattr(stream or LINE.current, "works", set()))

    def wait(self, stream: Any = None) -> None:
        (stream or LINE.current).wait_event(self)

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        LINE.default.take(self.works)

    def elapsed_time(self, _: Any) -> float:
        return 1.0


def current(*_: Any, **__: Any) -> Any:
    return LINE.current


def put(stream: Any) -> None:
    LINE.current = stream


@contextlib.contextmanager
def _inside(stream: Optional[Any] = None) -> Iterator[Any]:
    if not isinstance(stream, Stream):
        yield stream
        return
    with stream:
        yield stream


def name() -> Optional[str]:
    """The current stream's name, None for the compute stream."""
    return None if LINE.current is LINE.default else LINE.current.name


def show(local: int) -> None:
    """torch.cuda's streams and events are these."""
    del local
    LINE.default = LINE.current = Stream()
    for module in (torch.cuda, torch.cuda.streams):
        module.Stream, module.Event, module.ExternalStream = Stream, Event, Stream  # type: ignore
    torch.cuda.current_stream = current
    torch.cuda.default_stream = lambda *_, **__: LINE.default  # type: ignore
    torch.cuda.set_stream = put
    torch.cuda.stream = _inside  # type: ignore
    torch.cuda.StreamContext = _inside  # type: ignore
    torch.Stream, torch.Event = Stream, Event  # type: ignore
