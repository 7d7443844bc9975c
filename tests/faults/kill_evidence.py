#!/usr/bin/env python3
# Kills commands on a store of evidence at random moments: no row is ever lost, and no file is left behind.
"""Usage: kill_evidence.py FORETRAIN [--rounds N] [--seed S]

Adds, removes and undoes removals of ten series, each command killed (SIGKILL) at a random moment. After each the store
must be readable, every series that was added must be in it or in STORE.removed, and the folder must hold no other file
but a part that the next command removes when it is old.
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

HEADER = "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source\n"
SERIES = [f"run{i}" for i in range(1, 11)]
ROW = "{},mnist_net,puhti,ddp,fp32,64,1,1,samples_per_s,{},,me\n"


def run(program, *arguments, within=None, draw=None):
    """Whether it ended by itself."""
    process = subprocess.Popen([program, "evidence", *arguments, "--store", "own.csv"], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    try:
        said, _ = process.communicate(timeout=None if within is None else draw.uniform(0, within))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return False
    if process.returncode not in (0, 1):  # 1: nothing to undo, or no such series
        sys.exit(f"{arguments} ended with {process.returncode}: {said}")
    return True


def text_of(name):
    if not os.path.exists(name):
        return ""
    with open(name) as file:
        return file.read()


def check(program, added, last):
    if text_of("own.csv"):
        listed = subprocess.run([program, "evidence", "list", "--store", "own.csv"], capture_output=True, text=True)
        if listed.returncode != 0 or "warning" in listed.stderr:
            sys.exit(f"after {last} the store cannot be read: {listed.stdout}{listed.stderr}")
    kept = text_of("own.csv") + text_of("own.csv.removed")
    lost = [name for name in added if f"step,own,{name}," not in kept]
    parts = [name for name in os.listdir(".") if name.startswith("foretrain-") and name.endswith(".part")]
    for part in parts:
        os.utime(part, (time.time() - 3600,) * 2)
    if parts:
        run(program, "remove", "--matching", "no name has this")
    strange = set(os.listdir(".")) - {"own.csv", "own.csv.lock", "own.csv.removed", *(f"{name}.csv" for name in SERIES)}
    if lost or strange:
        sys.exit(f"after {last}: lost {lost}, left {sorted(strange)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    program, draw, added, killed = os.path.abspath(arguments.program), random.Random(arguments.seed), set(), 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for i, name in enumerate(SERIES):
            with open(f"{name}.csv", "w") as out:
                out.write(HEADER + ROW.format(name, 20000 + i))
        for _ in range(arguments.rounds):
            name = draw.choice(SERIES)
            command = draw.choice([["add", f"{name}.csv"], ["remove", name], ["remove", "--all"], ["undo"]])
            if run(program, *command, within=0.06, draw=draw):
                added |= {name} if command[0] == "add" else set()
            else:
                killed += 1
            check(program, added, command)
        while text_of("own.csv.removed"):
            run(program, "undo")
        missing = [name for name in added if f"step,own,{name}," not in text_of("own.csv")]
        if missing:
            sys.exit(f"undone, the store lacks {missing}")
        os.chdir("/")
    print(json.dumps({"rounds": arguments.rounds, "killed": killed, "series": len(added)}))


if __name__ == "__main__":
    main()
