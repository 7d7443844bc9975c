#!/usr/bin/env python3
# Stands in for `python3 -m foretrain measure`: writes the lines that a measurement would, from the catalog's
# networks; FAKE_FAULT says what goes wrong.
import json
import os
import shutil
import sys
import time

FAULT = os.environ.get("FAKE_FAULT", "")
# Network, kind, file of the catalog, seconds of a sample in fp32.
NETWORKS = [
    ("resnet18", "cnn", 0.0011),
    ("resnet50", "cnn", 0.0031),
    ("bert_base_s128", "encoder", 0.0052),
]
PRECISIONS = {"fp32": 1.0, "amp_fp16": 0.4}
BATCHES = (8, 32)


def option(words, name, default=""):
    return words[words.index(name) + 1] if name in words else default


def about(words):
    device = "cpu" if FAULT == "lying_torch" else os.environ.get("FAKE_DEVICE", "cpu")
    facts = {
        "python": "3.11.2",
        "torch": None if FAULT == "no_torch" else "2.4.1+cu121",
        "cuda": "12.1",
        "gpu": os.environ.get("FAKE_GPU"),
        "gpus": 0 if device == "cpu" else 1,
        "cores": 4,
        "device": device,
    }
    with open(option(words, "-o"), "w", encoding="utf-8") as out:
        json.dump(facts, out)


def append(folder, name, row):
    with open(os.path.join(folder, name), "a", encoding="utf-8") as out:
        out.write(json.dumps(row) + "\n")


def known(folder):
    path = os.path.join(folder, "steps.jsonl")
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {(row["network"], row["precision"], row["batch"]) for row in rows}


def step_row(network, kind, precision, batch, seconds):
    row = {
        "network": network, "kind": kind, "precision": precision, "batch": batch, "compile": False,
        "optimizer": "sgd_momentum", "settings": {}, "step_s": seconds * batch * PRECISIONS[precision],
        "spread": 0.01, "steps": 24, "host_s": 0.004, "launches": 500,
        "memory": {"parameters": 46e6, "gradients": 46e6, "optimizer": 46e6, "allocated_peak": 1.2e9,
                   "reserved_peak": 1.5e9},
        "error": None, "when": "2026-11-27T15:40:00Z",
    }
    if FAULT == "out_of_memory" and network == "resnet50" and batch == 32:
        row.update(step_s=None, error="out of memory")
    return row


def die(folder, written):
    if written != int(os.environ.get("FAKE_AFTER", "3")):
        return
    if FAULT == "killed":
        with open(os.path.join(folder, "steps.jsonl"), "a", encoding="utf-8") as out:
            out.write('{"network":"resnet50","kind":"cn')
        os.kill(os.getpid(), 9)
    if FAULT == "dies":
        sys.exit("RuntimeError: CUDA error: unspecified launch failure in " + os.path.join(folder, "a.py"))
    if FAULT == "hangs":
        time.sleep(600)
    if FAULT == "kills_parent":
        os.kill(os.getppid(), 9)
        time.sleep(600)
    if FAULT == "interrupts":
        os.kill(os.getppid(), 2)
        os.kill(os.getppid(), 15)
        time.sleep(600)


def steps(words):
    folder = option(words, "--folder")
    done, written = known(folder), 0
    wanted = [name for name in option(words, "--networks").split(",") if name]
    for network, kind, seconds in NETWORKS:
        for precision in PRECISIONS:
            for batch in BATCHES:
                if (network, precision, batch) in done or (wanted and network not in wanted):
                    continue
                append(folder, "steps.jsonl", step_row(network, kind, precision, batch, seconds))
                written += 1
                die(folder, written)
    append(folder, "loader.jsonl", {"workers": 4, "images_per_s": 1234.0, "source": "jpeg 500x375", "cores": 4})


def kernels(words):
    if FAULT == "no_kernels":
        sys.exit("error: no trace can be read")
    folder = option(words, "--folder")
    with open(os.path.join(folder, "kernels.jsonl"), "w", encoding="utf-8") as out:
        for network, _, seconds in NETWORKS:
            if (network, "fp32", BATCHES[0]) not in known(folder):
                continue
            for op, kind, share in (("aten::convolution", "convolution", 0.6), ("aten::addmm", "gemm", 0.2),
                                    ("aten::relu", "elementwise", 0.1), ("aten::odd", "other", 0.1)):
                row = {"network": network, "precision": "fp32", "batch": BATCHES[0], "op": op, "kind": kind,
                       "shapes": "[[1]]", "calls": 3, "gpu_s": seconds * BATCHES[0] * share, "host_s": 1e-4}
                out.write(json.dumps(row) + "\n")


def capture(words):
    folder = option(words, "--folder")
    if FAULT == "no_capture":
        sys.exit(1)
    for network, _, _ in NETWORKS[1:]:
        if any(network == name for name, _, _ in known(folder)):
            shutil.copy(os.path.join(os.environ["FAKE_MODELS"], network + ".toml"),
                        os.path.join(folder, "networks", network + ".toml"))


def main():
    if sys.argv[1:] == ["--version"]:
        print("Python 3.11.2")
        return
    if sys.argv[1] == "-c":
        sys.exit(1 if FAULT == "no_torch" else 0)
    words = sys.argv[4:]
    assert sys.argv[1:4] == ["-m", "foretrain", "measure"], sys.argv
    {"about": about, "steps": steps, "kernels": kernels, "capture": capture}[words[0]](words[1:])


main()
