"""Streams and events of the device that is shown: what runs on which stream, and which waits for which."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Dict, Iterator, List, Optional

import torch


class Line:
    """The current stream, and who is told of events."""

    def __init__(self) -> None:
        self.default: Any = None
        self.current: Any = None
        self.made = 0
        self.events = 0
        #: Called with a row: an event that is recorded, or that a stream or the host waits for.
        self.note: Callable[[Dict[str, Any]], None] = lambda _: None

    def on(self, stream: Any, row: Dict[str, Any]) -> None:
        """A row of a stream; the default one has no name."""
        if isinstance(stream, Stream) and stream is not self.default:
            row["stream"] = stream.name
        self.note(row)


LINE = Line()


class Stream:
    """A torch.cuda.Stream by its name."""

    device_type = 1
    cuda_stream = 0
    priority = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        LINE.made += 1
        self.stream_id = LINE.made
        self.name = f"stream{LINE.made}"
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
        LINE.on(self, {"read": 0})

    def wait_stream(self, other: Any) -> None:
        if other is not self and isinstance(other, Stream):
            self.wait_event(other.record_event())

    def wait_event(self, event: Any) -> None:
        number = getattr(event, "number", None)
        if number is not None:
            LINE.on(self, {"until": number})

    def record_event(self, event: Any = None) -> Any:
        event = event or Event()
        event.record(self)
        return event

    def __enter__(self) -> "Stream":
        self._outer.append(LINE.current)
        LINE.current = self
        return self

    def __exit__(self, *_: Any) -> None:
        LINE.current = self._outer.pop()


class Event:
    """A torch.cuda.Event: a point of a stream, with a number of its own each time it is recorded."""

    cuda_event = 0

    def __init__(self, *_: Any, **__: Any) -> None:
        self.number: Optional[int] = None
        self.stream: Any = None

    def record(self, stream: Any = None) -> None:
        LINE.events += 1
        self.number = LINE.events
        self.stream = stream or LINE.current
        LINE.on(self.stream, {"record": self.number})

    def wait(self, stream: Any = None) -> None:
        (stream or LINE.current).wait_event(self)

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        LINE.on(self.stream, {"read": 0})

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
    """The current stream's name, None for the default one."""
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
