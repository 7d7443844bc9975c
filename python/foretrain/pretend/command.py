"""`foretrain record`: reads the command line, runs one pretend rank of each kind, writes the program file."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from typing import Any, Dict, List, Optional

from ..errors import ForetrainError
from ..writer import write_whole
from .file import text_of
from .launch import Launch, parse
from .launch import environment as environment_of
from .session import ENDED, RecordError

_MIB = 1024.0 * 1024.0
#: A script that starts a launcher that starts a launcher … ends here.
MOST_LAUNCHES = 4


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="foretrain", description="Writes a program file from a distributed training; needs no GPU."
    )
    commands = made.add_subparsers(dest="command", required=True)
    one = commands.add_parser(
        "record", help="run a training script as one pretend rank and write what it would issue"
    )
    one.add_argument("--steps", type=int, default=3, help="which optimizer step is recorded, from 1 (3)")
    one.add_argument(
        "--rank",
        type=int,
        action="append",
        help="the rank to be (0); given again, the ranks between do as the one before them",
    )
    one.add_argument("-o", "--out", default="program.toml", help="the file to write (program.toml)")
    one.add_argument(
        "--gpus", type=int, default=8, help="GPUs of a node that a script started by python sees (8)"
    )
    one.add_argument("--rules", help="a Python file with rules for extensions")
    one.add_argument("--timeout", type=float, default=600.0, help="seconds for one rank (600)")
    one.add_argument("--show", action="store_true", help="show what the script prints")
    one.add_argument("training", nargs=argparse.REMAINDER, help="-- torchrun --nproc-per-node 4 train.py …")
    return made


def main(arguments: Optional[List[str]] = None) -> int:
    """Exit code 0, 1 with the reason on standard error, or 3 where the file cannot be written."""
    options = parser().parse_args(arguments)
    try:
        run(options)
    except ForetrainError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error.filename or options.out}: {error.strerror}", file=sys.stderr)
        return 3
    return 0


def run(options: argparse.Namespace) -> None:
    """Records; raises RecordError with the reason."""
    words = options.training[1:] if options.training[:1] == ["--"] else options.training
    if options.steps < 1:
        raise RecordError(f"--steps {options.steps}\n  hint: the number of a step, from 1")
    launch = parse(words)
    if not launch.fixed:
        if options.gpus < 1:
            raise RecordError(f"--gpus {options.gpus}\n  hint: how many GPUs a node has, as 8")
        launch.gpus = options.gpus
    ranks = sorted(set(options.rank or [0]))
    for rank in ranks:
        if rank < 0 or (launch.fixed and rank >= launch.world):
            raise RecordError(f"--rank {rank}\n  hint: the job has the ranks 0 to {launch.world - 1}")
    begun = time.monotonic()
    found = [_one(launch, rank, options) for rank in ranks]
    _checked(found[0])
    like = _like(found)
    write_whole(options.out, text_of(found, like, shlex.join(words), found[0]["torch"]))
    print(_summary(found[0], options.out, time.monotonic() - begun))


def _one(launch: Launch, rank: int, options: argparse.Namespace) -> Dict[str, Any]:
    """Runs one rank and reads what it found; a script that starts a launcher hands its ranks over."""
    scratch = tempfile.mkdtemp(prefix="foretrain-record-")
    notes: List[str] = []
    started: Dict[str, str] = {}
    try:
        for _ in range(MOST_LAUNCHES):
            read = _process(launch, rank, options, scratch, started)
            if "relaunch" not in read:
                break
            launch = Launch(**read["relaunch"])
            started, notes = read["environment"], notes + read["notes"]
            if rank >= launch.world:
                raise RecordError(f"--rank {rank}\n  hint: the job has the ranks 0 to {launch.world - 1}")
        else:
            raise RecordError(
                "the script starts launchers that start launchers\n  hint: record the command of the ranks"
            )
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if "error" in read:
        raise RecordError(read["error"])
    read["notes"] = notes + [one for one in read["notes"] if one not in notes]
    return read


def _process(
    launch: Launch, rank: int, options: argparse.Namespace, scratch: str, started: Dict[str, str]
) -> Dict[str, Any]:
    """One rank in a process of its own."""
    given, out = os.path.join(scratch, "options.json"), os.path.join(scratch, "rank.json")
    with open(given, "w", encoding="utf-8") as file:
        json.dump(
            {
                "launch": asdict(launch),
                "rank": rank,
                "environment": environment_of(launch, rank),
                "steps": options.steps,
                "scratch": scratch,
                "out": out,
                "rules": options.rules and os.path.abspath(options.rules),
            },
            file,
        )
    if os.path.exists(out):
        os.remove(out)
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    environment = {**os.environ, **started}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [top, environment.get("PYTHONPATH")]))
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    with open(os.path.join(scratch, "said.txt"), "w+", encoding="utf-8", errors="replace") as said:
        show = None if options.show else said
        try:
            subprocess.run(
                [sys.executable, "-m", "foretrain.pretend.rank", given],
                stdin=subprocess.DEVNULL, stdout=show, stderr=show, env=environment,
                timeout=options.timeout, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise RecordError(
                f"the script took longer than {options.timeout:g} s to its step {options.steps}\n"
                "  hint: fewer layers or micro-steps, --steps 1, or a larger --timeout"
            ) from error
        said.seek(0)
        last = said.read()[-2000:]
    if not os.path.exists(out):
        raise RecordError(
            f"the script ended without a word of the recorder\n{last}\n  hint: --show prints all"
        )
    with open(out, encoding="utf-8") as file:
        read: Dict[str, Any] = json.load(file)
    if read.get("error", "").startswith(ENDED) and not options.show:
        words = [line for line in last.splitlines() if line.strip()][-3:]
        read["error"] = read["error"].replace("\n", "\n" + "".join(f"  {line}\n" for line in words), 1)
    return read


def _checked(found: Dict[str, Any]) -> None:
    """A record that lacks a pass is none."""
    passes = {row.get("pass", "forward") for row in found["operators"] if "op" in row}
    missing = [name for name in ("forward", "backward", "optimizer") if name not in passes]
    if missing:
        raise RecordError(
            f"the step has no {' and no '.join(missing)} work\n"
            "  hint: CUDA graphs and compiled steps hide it; switch them off for the recording"
        )


def _like(found: List[Dict[str, Any]]) -> List[List[Dict[str, int]]]:
    """Which ranks do the same: those from a recorded one up to the next; all, if one was recorded."""
    world = found[0]["world"]
    if len(found) == 1:
        return [[{"first": 0, "count": world, "stride": 1}]]
    firsts = [one["rank"] for one in found]
    ends = firsts[1:] + [world]
    starts = [0] + firsts[1:]
    return [[{"first": start, "count": end - start, "stride": 1}] for start, end in zip(starts, ends)]


def _summary(found: Dict[str, Any], out: str, seconds: float) -> str:
    operators = sum("op" in row for row in found["operators"])
    collectives = [row for row in found["operators"] if "collective" in row]
    size = sum(row["bytes"] for row in collectives)
    lines = [
        f"step {found['step']} of rank {found['rank']} of {found['world']}: {operators:,} operators, "
        f"{len(collectives):,} collectives of {size / _MIB:,.1f} MiB together",
        f"{found['numbers']:,} parameters, {found['trained']:,} trained; {seconds:.0f} s",
    ]
    lines += [f"guess: {one}" for one in found["guesses"]] + [f"note: {one}" for one in found["notes"]]
    return "\n".join(lines + [f"wrote {out}"])
