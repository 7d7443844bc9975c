"""Measures network after network, each in a process of its own, and keeps every result as soon as it is there."""
from __future__ import annotations

import errno
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from typing import Any, Dict, List, Optional, TextIO

from ..errors import ForetrainError
from .networks import Network
from .profiling import kernels_of, read_trace
from .worker import key_of, line_of, rows_of

#: A network gets at least so long, seconds: it is made, warmed up and measured once.
_LEAST_SHARE_S = 8.0
#: Compiling takes longer than its share.
_COMPILED_SHARE_S = 45.0
#: How long after its share a process is killed, seconds.
_GRACE_S = 20.0
#: What PyTorch and CUDA say where a library has touched the GPU before the fork.
_NO_FORKS = ("forked subprocess", "initialization error")


class Journal:
    """A file of JSON lines to which each line is written whole, at once; a half line at its end is cut off."""

    def __init__(self, path: str) -> None:
        self.rows: List[Dict[str, Any]] = []
        whole = 0
        if os.path.exists(path):
            with open(path, "rb") as file:
                content = file.read()
            for line in content.splitlines(keepends=True):
                try:
                    row = json.loads(line)
                except ValueError:
                    break
                if not line.endswith(b"\n") or not isinstance(row, dict):
                    break
                self.rows.append(row)
                whole += len(line)
        self.path = path
        self.file = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
        os.ftruncate(self.file, whole)
        os.lseek(self.file, whole, os.SEEK_SET)

    def add(self, row: Dict[str, Any]) -> None:
        """Writes the line to the disk; OSError where it is full, with nothing of the line kept."""
        line = (json.dumps(row) + "\n").encode()
        at = os.lseek(self.file, 0, os.SEEK_CUR)
        try:
            if os.write(self.file, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path)
            os.fsync(self.file)
        except OSError:
            os.ftruncate(self.file, at)
            raise
        self.rows.append(row)


class Worker:
    """The process that measures, and the lines it says."""

    def __init__(self, device: str, small: bool, indices: List[int]) -> None:
        command = [sys.executable, "-m", "foretrain.measure.worker", device, str(int(small))]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.measuring = 0  #: the fork's process id
        self.lines: "queue.Queue[Optional[str]]" = queue.Queue()
        self.errors: List[str] = []
        threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True).start()
        threading.Thread(target=self._read_errors, args=(self.process.stderr,), daemon=True).start()
        self.tell(indices)

    def _read(self, stream: TextIO) -> None:
        for line in stream:
            self.lines.put(line)
        self.lines.put(None)

    def _read_errors(self, stream: TextIO) -> None:
        for line in stream:
            if line.strip():
                self.errors = (self.errors + [line.strip()])[-5:]

    def tell(self, order: Any) -> None:
        try:
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it died: its end says so

    def next(self, until: float) -> Optional[Dict[str, Any]]:
        """The next message; None at the end of the process. queue.Empty when the time is over."""
        while True:
            line = self.lines.get(timeout=max(0.0, until - time.monotonic()))
            if line is None:
                return None
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict):
                return message

    def stop_measuring(self) -> None:
        """Ends the fork; the process goes on with the next order."""
        try:
            os.kill(self.measuring or self.process.pid, signal.SIGKILL)
        except OSError:
            pass

    def stop(self) -> None:
        self.stop_measuring()
        self.process.kill()
        self.process.wait()


class Run:
    """All networks within a budget; what is measured already is not measured again."""

    def __init__(self, folder: str, device: str, small: bool, chosen: List[str], with_traces: bool) -> None:
        self.device, self.small = device, small
        self.may_fork = True  #: until CUDA says that it does not run in forks
        self.forks = True  #: whether the network that is measured runs in one
        self.steps = Journal(os.path.join(folder, "steps.jsonl"))
        self.traces = os.path.join(folder, "traces") if with_traces else None
        if self.traces:
            os.makedirs(self.traces, exist_ok=True)
        self.rows = rows_of(small)
        self.todo = [
            i for i, row in enumerate(self.rows) if (not chosen or row.name in chosen) and not self._is_done(row)
        ]

    def _keys(self) -> List[str]:
        names = ("precision", "batch", "compile", "channels_last")
        return [key_of(row["network"], {name: row[name] for name in names}) for row in self.steps.rows]

    def _is_done(self, network: Network) -> bool:
        done = set(self._keys())
        return all(key_of(network.name, vars(way)) in done for way in network.configurations)

    def measure(self, budget_s: float) -> int:
        """How many configurations were measured within the budget, seconds."""
        until = time.monotonic() + budget_s
        before = len(self.steps.rows)
        worker: Optional[Worker] = None
        position = 0
        while position < len(self.todo):
            index = self.todo[position]
            if worker is None:
                worker = self._started(self.todo[position:] if self.may_fork else [index], until)
                if worker is None:
                    break
            left = until - time.monotonic()
            if left < min(_LEAST_SHARE_S, budget_s / 4):
                break
            could_fork = self.may_fork
            share = self._share(position, left)
            goes_on = self._measure_one(worker, self.rows[index], index, share, min(left, share + _GRACE_S))
            if not goes_on or not self.may_fork:
                worker.stop()
                worker = None
            position += 1 if self.may_fork == could_fork else 0
        if worker is not None:
            worker.stop()
        return len(self.steps.rows) - before

    def _started(self, indices: List[int], until: float) -> Optional[Worker]:
        worker = Worker(self.device, self.small, indices)
        try:
            while True:
                message = worker.next(until)
                if message is None:
                    raise ForetrainError(f"the process that measures ended{_last_words(worker)}")
                if "ready" in message:
                    return worker
        except queue.Empty:
            print("the time was over before PyTorch was imported", flush=True)
            worker.stop()
            return None

    def _share(self, position: int, left: float) -> float:
        """Seconds of a network: an even share of what is left, compiled ones apart."""
        compiled = sum(self.rows[i].configurations[0].compile for i in self.todo[position + 1 :])
        if self.rows[self.todo[position]].configurations[0].compile:
            return min(left, _COMPILED_SHARE_S)
        reserved = min(compiled * _COMPILED_SHARE_S, left / 4)
        even = (left - reserved) / max(len(self.todo) - position - compiled, 1)
        return max(min(_LEAST_SHARE_S, left), even)

    def _measure_one(self, worker: Worker, network: Network, index: int, share_s: float, limit_s: float) -> bool:
        """Whether the worker can go on with the next network."""
        traced = os.listdir(self.traces) if self.traces else []
        worker.measuring = 0
        self.forks = self.may_fork
        worker.tell({"index": index, "seconds": share_s, "done": self._keys(), "folder": self.traces, "traced": traced,
                     "fork": self.may_fork})
        until = time.monotonic() + limit_s
        running, stopped = "", False
        while True:
            try:
                message = worker.next(until)
            except queue.Empty:
                if stopped:
                    return False
                self._failed(network, running, "not done in its time: the process was stopped")
                worker.stop_measuring()
                running, stopped, until = "", True, time.monotonic() + _GRACE_S
                continue
            if message is None or "over" in message:
                if running:
                    self._failed(network, running, f"the process died{_last_words(worker)}")
                return message is not None
            if "process" in message:
                worker.measuring = int(message["process"])
            running = self._take(network, message, running)

    def _take(self, network: Network, message: Dict[str, Any], running: str) -> str:
        if "begin" in message:
            return str(message["begin"])
        if "step" in message:
            row = message["step"]
            if self.forks and any(word in (row["error"] or "") for word in _NO_FORKS):
                self.may_fork = False
                return running
            self.steps.add(row)
            took = f"{row['step_s'] * 1e3:.2f} ms" if row["step_s"] else row["error"]
            way = f"{row['precision']} batch {row['batch']}{' compiled' if row['compile'] else ''}"
            last = " channels last" if row["channels_last"] else ""
            print(f"{network.name} {way}{last}: {took} ({row['took_s']:.1f} s)", flush=True)
        for what in ("skipped", "failed"):
            if what in message:
                print(f"{network.name}: {message[what]}", flush=True)
        return "" if "end" in message else running

    def _failed(self, network: Network, running: str, why: str) -> None:
        print(f"{network.name}: {why}", flush=True)
        for way in network.configurations:
            if key_of(network.name, vars(way)) == running:
                self.steps.add(line_of(network, dict(vars(way)), {"error": why}, 0.0))


def summarize_traces(folder: str) -> None:
    """Writes kernels.jsonl: the operators and kernels of each trace."""
    traces = os.path.join(folder, "traces")
    lines: List[str] = []
    for step in Journal(os.path.join(folder, "steps.jsonl")).rows:
        if not step.get("trace"):
            continue
        try:
            rows, _ = kernels_of(read_trace(os.path.join(traces, step["trace"])))
        except (OSError, ValueError) as error:
            print(f"{step['trace']}: {error}", flush=True)
            continue
        about = {name: step[name] for name in ("network", "precision", "batch", "compile")}
        lines += [json.dumps({**about, **row}) for row in rows]
    write_whole(os.path.join(folder, "kernels.jsonl"), "".join(line + "\n" for line in lines))


def write_whole(path: str, content: str) -> None:
    """Writes a file in one piece, or not at all."""
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".part", path)


def _last_words(worker: Worker) -> str:
    return f" ({worker.errors[-1][:150]})" if worker.errors else ""
