#!/usr/bin/env python3
# Kills sweeps and merges at random moments, lets them go on, and holds the rows against those of unbroken runs.
"""Usage: kill_sweeps.py FORETRAIN [--sweeps N] [--cases M] [--kinds K] [--seconds T] [--seed S] [--folder F]

Each sweep is run as one database or as three shards; every run and every merge is killed (SIGKILL, some merges
SIGTERM) at a random moment, again and again, until one ends by itself. Workers of runs are killed, too. Then each
database must hold exactly the rows of the unbroken run, byte for byte, and be whole by SQLite's own check. The last
line has the figures.
"""
import argparse
import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

SWEEP = """scenario = "{scenario}"
seed = {seed}
[sample]
method = "{method}"
count = {count}
[sample.axes]
"strategy.bucket_cap" = {{ from = "1 MiB", to = "64 MiB", scale = "log" }}
batch = {{ from = 8, to = 256, scale = "log" }}
workers = {{ from = 1, to = 10 }}
[axes]
gpus = [1, 4, 8, 16, 32]
"""
METHODS = ["random", "latin_hypercube", "sobol"]
MOST_KILLS = 4  # of one run before it is left alone: a machine that is busy must not make the test endless


class Campaign:
    def __init__(self, arguments):
        self.program, self.draw = arguments.program, random.Random(arguments.seed)
        self.kills = self.runs = self.merges = self.killed_merges = self.gone_on = self.asked = self.worker_kills = 0

    def run(self, command, within):
        """One run, killed at a random moment of a time that its like took; whether it ended by itself."""
        process = subprocess.Popen([self.program, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            if within is not None and command[1] == "run" and self.draw.random() < 0.5:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(self.draw.uniform(0, within / 2))
                self.kill_worker(process)
            _, said = process.communicate(timeout=None if within is None else self.draw.uniform(0, within))
        except subprocess.TimeoutExpired:
            is_asked = command[1] == "merge" and self.draw.random() < 0.5
            process.send_signal(signal.SIGTERM if is_asked else signal.SIGKILL)
            process.communicate()
            self.kills += 1
            if is_asked:
                self.check_ended(process, command)
            return False
        if process.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {process.returncode}: {said.decode()}")
        return True

    def kill_worker(self, process):
        """One of the processes that predict cases: the run goes on without it."""
        try:
            with open(f"/proc/{process.pid}/task/{process.pid}/children") as children:
                workers = [int(number) for number in children.read().split()]
            os.kill(self.draw.choice(workers), signal.SIGKILL)
            self.worker_kills += 1
        except (OSError, IndexError):
            pass  # none yet, or none any more

    def check_ended(self, process, command):
        """A merge that was asked to end has, or it was done already, and in both cases its part is gone."""
        if process.returncode not in (0, 130, -signal.SIGTERM):
            sys.exit(f"{' '.join(command)} ended with {process.returncode} after SIGTERM")
        folder = command[-1] + ".parts"
        parts = os.listdir(folder) if os.path.isdir(folder) else []
        if any(f"-{process.pid}-" in name for name in parts):
            sys.exit(f"{' '.join(command)} left {parts} after SIGTERM")
        self.asked += 1

    def until_done(self, command, within, database=None):
        for _ in range(self.draw.randint(1, MOST_KILLS)):
            if self.run(command, within):
                return
            self.gone_on += 1 if database and holds_rows(database) else 0
        self.run(command, None)

    def timed(self, command):
        start = time.monotonic()
        self.run(command, None)
        return time.monotonic() - start


def holds_rows(database):
    """Whether a killed run has left some; looked at in a copy, as reading would mend the log that it left."""
    with tempfile.TemporaryDirectory() as folder:
        for end in ("", "-wal"):
            if os.path.exists(database + end):
                shutil.copy(database + end, os.path.join(folder, "copy.sqlite" + end))
        try:
            with contextlib.closing(sqlite3.connect(os.path.join(folder, "copy.sqlite"))) as connection:
                return connection.execute("SELECT count(*) FROM cases").fetchone()[0] > 0
        except sqlite3.OperationalError:
            return False  # killed before there was a table


def rows(database):
    with contextlib.closing(sqlite3.connect(database)) as connection:
        whole = connection.execute("PRAGMA integrity_check").fetchone()[0]
        if whole != "ok":
            sys.exit(f"{database} is damaged: {whole}")
        return connection.execute("SELECT * FROM cases ORDER BY number").fetchall()


def compare(database, wanted, what):
    found = rows(database)
    if repr(found) != repr(wanted):
        sys.exit(f"{what}: {len(found)} rows instead of {len(wanted)}, or other ones: {database}")


def fresh(path):
    for end in ("", "-wal", "-shm", "-journal"):
        if os.path.exists(path + end):
            os.remove(path + end)
    return path


def one_sweep(campaign, kind, shards):
    """In place, or in shards that are merged."""
    files = [fresh(f"killed{i}.sqlite") for i in range(shards)]
    for i, file in enumerate(files):
        shard = [] if shards == 1 else ["--shard", f"{i + 1}/{shards}"]
        campaign.until_done(["sweep", "run", kind["file"], "--db", file, "-j", "2", *shard],
                            kind["seconds"] / shards, file)
        campaign.runs += 1
    if shards == 1:
        return compare(files[0], kind["rows"], "after the runs")
    before = campaign.kills
    fresh("merged.sqlite")
    # One shard twice: it may be.
    campaign.until_done(["sweep", "merge", *files, files[0], "-o", "merged.sqlite"], kind["merge_seconds"])
    campaign.merges += 1
    campaign.killed_merges += campaign.kills - before
    compare("merged.sqlite", kind["rows"], "after the merge")
    check_parts("merged.sqlite")


def check_parts(database):
    """Killed merges have left parts in the folder for them and nowhere else, and those that ended none."""
    folder = database + ".parts"
    outside = [name for name in os.listdir(".") if name.startswith(database) and name not in (database, folder)]
    parts = os.listdir(folder) if os.path.isdir(folder) else []
    host = re.sub("[^0-9A-Za-z.-]", "-", socket.gethostname())
    strange = [name for name in parts if not re.fullmatch(re.escape(host) + "-[0-9]+-[0-9]+.sqlite", name)]
    if outside or strange:
        sys.exit(f"merges left {outside + strange}")
    shutil.rmtree(folder, ignore_errors=True)


def kinds_of(campaign, arguments):
    """Unbroken runs of some sweeps: what the others must come to."""
    kinds = []
    for number in range(arguments.kinds):
        file, database = f"kind{number}.toml", fresh(f"kind{number}.sqlite")
        with open(file, "w") as out:
            out.write(SWEEP.format(scenario=arguments.scenario, seed=number + 1, method=METHODS[number % 3],
                                   count=arguments.cases // 5))
        seconds = campaign.timed(["sweep", "run", file, "--db", database, "-j", "2"])
        merge = campaign.timed(["sweep", "merge", database, "-o", fresh("whole.sqlite")])
        kinds.append({"file": file, "rows": rows(database), "seconds": seconds, "merge_seconds": merge})
        if len(kinds[-1]["rows"]) != arguments.cases:
            sys.exit(f"{len(kinds[-1]['rows'])} rows instead of {arguments.cases}")
    return kinds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--sweeps", type=int, default=8)
    parser.add_argument("--cases", type=int, default=100, help="of each, a multiple of 5")
    parser.add_argument("--kinds", type=int, default=1, help="different sweeps among them")
    parser.add_argument("--seconds", type=float, default=1e9, help="no further sweep after so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scenario", default="workshop-mnist-ddp")
    parser.add_argument("--folder", help="instead of one that is removed")
    arguments = parser.parse_args()
    arguments.program = os.path.abspath(arguments.program)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(arguments.folder or folder)
        campaign = Campaign(arguments)
        kinds = kinds_of(campaign, arguments)
        start = time.monotonic()
        sweeps = 0
        while sweeps < arguments.sweeps and time.monotonic() - start < arguments.seconds:
            one_sweep(campaign, kinds[sweeps % len(kinds)], 1 if sweeps % 2 == 0 else 3)
            sweeps += 1
        print(json.dumps({"sweeps": sweeps, "cases_of_each": arguments.cases, "runs": campaign.runs,
                          "kills": campaign.kills, "went_on_with_rows": campaign.gone_on,
                          "killed_workers": campaign.worker_kills, "merges": campaign.merges, "killed_merges": campaign.killed_merges,
                          "asked_merges": campaign.asked,
                          "seconds": round(time.monotonic() - start, 1)}))
        os.chdir("/")


if __name__ == "__main__":
    main()
