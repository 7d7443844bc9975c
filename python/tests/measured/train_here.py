"""Trains a small CNN by DDP over gloo on this machine's cores under torch.profiler, and reads the steps out
of its traces (Kineto's, or those of a build without Kineto, as Debian's).

    python3 python/tests/measured/train_here.py --ranks 2 4 > python/tests/measured/training.jsonl

One JSON line a number of ranks: `ddp` is the median step of rank 0's trace, `alone` that of the same processes,
as many at once, which train each for itself: the calibration of a core, with what the processes take from each
other. A thread a process. Runs alternate, since machines are not quiet; the least disturbed counts.
Needs python3-torch, no root.
"""
import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import List

BATCH = 32


def network():
    """Six convolutions and two linear layers, for images of 32 x 32: 1.3 million parameters."""
    from torch import nn

    def pair(inside, outside):
        return [
            nn.Conv2d(inside, outside, 3, padding=1),
            nn.BatchNorm2d(outside),
            nn.ReLU(),
            nn.Conv2d(outside, outside, 3, padding=1),
            nn.BatchNorm2d(outside),
            nn.ReLU(),
            nn.MaxPool2d(2),
        ]

    layers = pair(3, 32) + pair(32, 64) + pair(64, 128)
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(2048, 512), nn.ReLU(), nn.Linear(512, 10))


def batch(torch):
    return torch.randn(BATCH, 3, 32, 32), torch.zeros(BATCH, dtype=torch.long)


def work(arguments):
    """A process: trains, and writes its trace."""
    import torch
    import torch.distributed as dist
    from torch.profiler import ProfilerActivity, profile, schedule

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = network()
    if arguments.worker == "ddp":
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x, y = batch(torch)
    plan = schedule(wait=3, warmup=1, active=arguments.steps, repeat=1)
    dist.barrier()
    with profile(activities=[ProfilerActivity.CPU], schedule=plan) as profiler:
        for _ in range(4 + arguments.steps):
            optimizer.zero_grad(set_to_none=True)
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            profiler.step()
    profiler.export_chrome_trace(arguments.trace.format(rank=dist.get_rank()))


def steps_of(trace: Path) -> List[float]:
    """Seconds between the beginnings of successive steps of a Kineto trace."""
    content = json.loads(trace.read_text())
    events = content["traceEvents"] if isinstance(content, dict) else content
    steps = [e for e in events if e.get("ph") == "X" and e["name"].startswith("ProfilerStep#")]
    marks = [e for e in steps if e.get("cat") != "Trace"]
    begins = sorted({e["name"]: e["ts"] for e in marks}.values())
    return [(b - a) * 1e-6 for a, b in zip(begins, begins[1:])]


def run(kind: str, ranks: int, steps: int, folder: Path) -> List[float]:
    """Steps of rank 0."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    processes = []
    for rank in range(ranks):
        environment = dict(
            os.environ,
            RANK=str(rank),
            WORLD_SIZE=str(ranks),
            MASTER_ADDR="127.0.0.1",
            MASTER_PORT=str(port),
            OMP_NUM_THREADS="1",
            GLOO_SOCKET_IFNAME="lo",
        )
        command = [sys.executable, os.path.abspath(__file__), "--worker", kind, "--steps", str(steps)]
        command += ["--trace", str(folder / (kind + "_{rank}.json"))]
        processes.append(subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL))
    if any([process.wait() for process in processes]):
        raise SystemExit(f"a rank of {ranks} failed ({kind})")
    return steps_of(folder / f"{kind}_0.json")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures DDP over gloo on this machine")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=5, help="pairs of runs; the least disturbed counts")
    parser.add_argument("--worker", choices=["ddp", "alone"], help=argparse.SUPPRESS)
    parser.add_argument("--trace", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments)
        return
    for ranks in arguments.ranks:
        pairs = []
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(arguments.repeats):
                pairs.append([run(kind, ranks, arguments.steps, Path(folder)) for kind in ("alone", "ddp")])
        row = {"ranks": ranks, "batch": BATCH, "cores": os.cpu_count()}
        for place, kind in enumerate(("alone", "ddp")):
            medians = [statistics.median(pair[place]) for pair in pairs]
            row[kind + "_s"] = round(min(medians), 5)
            row["all_" + kind + "_s"] = [round(value, 5) for value in medians]
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
