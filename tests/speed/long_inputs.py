#!/usr/bin/env python3
# What inputs far beyond the usual cost, as the tables of docs/speed.md: long_inputs.py PROGRAM [BEFORE] [-k WORD]. Each case is one input
# at growing sizes n; of whole processes: seconds of CPU (user and system), most MB, and how the seconds grow from the row above (the x of
# n^x; 1.00 is linear). An input that the program refuses, or that runs into the limit, is named.
import argparse
import math
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 300  # seconds of CPU
FEW, TEN, MANY = (1_000, 10_000), (1_000, 10_000, 100_000), (1_600, 16_000, 160_000, 1_000_000)


def written(folder, name, text):
    (folder / name).write_text(text)
    return "./" + name


def plain_model(folder, n, layer='{ type = "linear", out = 8 },\n{ type = "relu" },\n'):
    """n layers one behind the other, every second one with parameters."""
    return written(folder, "long.toml", 'optimizer = "sgd"\ninput = [8]\nlayers = [\n' + layer * ((n - 1) // 2) + '{ type = "loss" } ]\n')


def named_model(folder, n):
    """n layers in residual pairs: each has a name, each sum looks one up."""
    pairs = (f'{{ type = "linear", out = 8, as = "l{i}" }},\n{{ type = "add", with = "l{i}" }},\n' for i in range((n - 1) // 2))
    return written(folder, "named.toml", 'optimizer = "sgd"\ninput = [8]\nlayers = [\n' + "".join(pairs) + '{ type = "loss" } ]\n')


def recorded_model(folder, n):
    """A recorded network of n operators, a parameter to each product."""
    pairs = n // 4
    parameters = "".join(f'{{ name = "l{i}.weight", size = "f32[8,8]" }},\n' for i in range(pairs))
    forward = "".join(f'{{ op = "aten::mm", of = "l{i}", in = ["f32[B,8]", "f32[8,8]"], out = ["f32[B,8]"] }},\n'
                      f'{{ op = "aten::relu", of = "r{i}", in = ["f32[B,8]"], out = ["f32[B,8]"] }},\n' for i in range(pairs))
    backward = "".join(f'{{ op = "aten::threshold_backward", of = "r{i}", pass = "backward", in = ["f32[B,8]", "f32[B,8]"], out = ["f32[B,8]"] }},\n'
                       f'{{ op = "aten::mm", of = "l{i}", pass = "backward", ready = [{i}], in = ["f32[8,B]", "f32[B,8]"], out = ["f32[8,8]"] }},\n'
                       for i in reversed(range(pairs)))
    return written(folder, "recorded.toml",
                   'optimizer = "sgd"\n[recorded]\nformat = 1\nbatch = 4\ngrows = true\ninputs = ["f32[B,8]"]\n'
                   f'parameters = [\n{parameters}]\noperators = [\n{forward}{backward}]\n')


def predicted_with_store(folder, n):
    """A store of n rows, each of another run."""
    head, columns, *rows = (ROOT / "evidence/trainings.csv").read_text().splitlines()
    split = [row.split(",") for row in rows]
    text = "".join(",".join([*r[:2], f"{r[2]}-{i}", *r[3:]]) + "\n" for i in range(n) for r in [split[i % len(split)]])
    return ["predict", "mahti-resnet50-ddp", "--evidence", written(folder, "store.csv", f"{head}\n{columns}\n{text}")]


def trained(model, *more, gpus="1,8"):
    return ["predict", "--model", model, "--cluster", "puhti", "--batch", "8", "--set", "data.samples=60000", "--gpus", gpus, *more]


def layers_under(strategy, *more):
    gpus = "1" if strategy == "single" else "1,4" if strategy.startswith(("data_parallel", "mirrored")) else "1,8"
    return lambda folder, n: trained(plain_model(folder, n), "--strategy", strategy, *more, gpus=gpus)


def cluster_of(folder, name, nodes):
    text = (ROOT / "topologies" / (name + ".toml")).read_text()
    lines = (f"nodes = {nodes}" if line.startswith("nodes = ") else line for line in text.splitlines())
    return written(folder, "cluster.toml", "\n".join(lines) + "\n")


def gpus_under(strategy):
    """n GPUs, sixteen to a node."""
    return lambda folder, n: ["predict", "--model", "resnet50", "--cluster", cluster_of(folder, "gcp-a2-16gpu", n // 16), "--strategy", strategy,
                              "--gpus", f"1,{n}"]


def nodes_on(fabric, command):
    def made(folder, n):
        cluster = cluster_of(folder, fabric, n)
        if command == "show":
            return ["topology", "show", cluster]
        return ["collective", "--cluster", cluster, "--op", "all_reduce", "--gpus", str(8 * n), "--sizes", "1M"]
    return made


def graph_of(folder, n):
    """n links between switches and nodes, listed one by one."""
    nodes = n // 2
    links = "".join(f'  {{ between = ["node{i}", "leaf{i // 32}"] }},\n' for i in range(nodes))
    return ["topology", "show", written(folder, "graph.toml", links)]


def scenarios(folder, n):
    names = [written(folder, f"s{i}.toml", '[model]\nname = "mnist_net"\nbatch_per_gpu = %d\n[data]\nname = "mnist"\n[cluster]\nname = "puhti"\n'
                     '[run]\ngpus = [1, 2, 4]\n' % (16 + i % 100)) for i in range(n)]
    return ["predict", *names]


def many_numbers(folder, n):
    return ["predict", "mahti-resnet50-ddp", "--cluster", cluster_of(folder, "mahti", 10_000), "--gpus", ",".join(str(4 * i + 4) for i in range(n))]


def validate_rows(file, extra=()):
    def made(folder, n):
        lines = (ROOT / "docs/measured" / file).read_text().splitlines()
        head = [line for line in lines[:3] if line.startswith(("#", "series,"))]
        body = lines[len(head):]
        rows = [f"{body[i % len(body)].split(',', 1)[0]}-{i // len(body)},{body[i % len(body)].split(',', 1)[1]}" for i in range(n)]
        return ["validate", written(folder, "rows.csv", "\n".join(head + rows) + "\n"), *extra]
    return made


def samples(command):
    def made(folder, n):
        rows = "".join(f"collective,all_reduce,{8 << i % 4},{2 << i % 4},{1024 << i // 4 % 16},{100 + i % 97},us,0.02,5,,log {i // 64}\n" for i in range(n))
        file = written(folder, "samples.csv", "kind,what,gpus,nodes,bytes,value,unit,spread,repeats,settings,source\n" + rows)
        return ["calibrate", command, file] + (["--cluster", "dgx1-v100", "-o", "fit.toml"] if command == "fit" else [])
    return made


def nccl_log(folder, n):
    lines = "".join(f"{1024 << i % 20:>12} {256 << i % 20:>12}     float     sum      -1 {30.5 + i % 20:8.2f}    0.03    0.05      0 {30.5 + i % 20:8.2f}    0.03    0.05      0\n"
                    for i in range(n))
    head = ("# nThread 1 nGpus 8 minBytes 1024 maxBytes 1073741824 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n"
            "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
            "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n")
    return ["calibrate", "samples", "--op", "all_reduce", "--gpus", "8", "--nodes", "1", written(folder, "nccl.log", head + lines), "-o", "out"]


def job_script(folder, n):
    middle = "".join(f"export V{i}=$V{i - 1}x\n" for i in range(1, n))
    return ["job", "show", written(folder, "job.sh", "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gres=gpu:v100:4\n" + middle + "srun python train.py\n")]


def sacct(folder, n):
    head = "JobID|JobName|State|ExitCode|Elapsed|Timelimit|NNodes|NCPUS|AllocTRES|Partition\n"
    rows = "".join(f"{1000 + i}|train|COMPLETED|0:0|01:00:00|02:00:00|2|80|billing=80,cpu=80,gres/gpu=8,node=2|gpu\n" for i in range(n))
    return ["explain", written(folder, "sacct.txt", head + rows), "--job", str(1000 + n // 2), "--model", "resnet50", "--cluster", "puhti",
            "--set", "data.samples=1281167"]


def mistakes(folder, n):
    return ["predict", written(folder, "wrong.toml", "[model]\n" + "".join(f"unknown_key_{i} = {i}\n" for i in range(n)))]


CASES = {
    "layers under ddp": (layers_under("ddp"), TEN),
    "layers under horovod": (layers_under("horovod"), TEN),
    "layers under single": (layers_under("single"), TEN),
    "layers under data_parallel": (layers_under("data_parallel"), FEW + (30_000,)),
    "layers under zero2": (layers_under("zero2"), TEN),
    "layers under zero3": (layers_under("zero3"), TEN),
    "layers under fsdp": (layers_under("fsdp"), TEN),
    "layers under mirrored": (layers_under("mirrored"), TEN),
    "layers under multi_worker_mirrored": (layers_under("multi_worker_mirrored"), TEN),
    "layers under parameter_server": (layers_under("parameter_server"), TEN),
    "layers under byteps": (layers_under("byteps"), TEN),
    "layers, all that explains": (layers_under("ddp", "--explain", "--trace", "t.json", "--html", "p.html", "-o", "o.json", "--format", "json"), TEN),
    "layers with names": (lambda folder, n: trained(named_model(folder, n)), TEN),
    "layers shown": (lambda folder, n: ["model", "show", plain_model(folder, n), "-o", "out"], TEN),
    "recorded operators": (lambda folder, n: trained(recorded_model(folder, n)), TEN),
    "GPUs under ddp": (gpus_under("ddp"), MANY),
    "GPUs under horovod": (gpus_under("horovod"), MANY),
    "GPUs under zero3": (gpus_under("zero3"), MANY),
    "nodes on a fat tree, shown": (nodes_on("fat-tree-8gpu", "show"), TEN),
    "nodes on a fat tree, all-reduce": (nodes_on("fat-tree-8gpu", "collective"), TEN),
    "numbers of GPUs in one list": (many_numbers, (10, 100, 1_000)),
    "scenarios in one call": (scenarios, (10, 100, 1_000)),
    "rows of validate": (validate_rows("scaling.csv"), TEN),
    "rows of validate, collectives": (validate_rows("nccl.csv"), TEN),
    "rows of evidence": (predicted_with_store, TEN),
    "rows of calibrate fit": (samples("fit"), TEN),
    "rows of calibrate samples": (samples("samples"), TEN),
    "lines of an nccl-tests log": (nccl_log, TEN),
    "lines of a job script": (job_script, TEN),
    "jobs of sacct": (sacct, TEN),
    "mistakes of a scenario": (mistakes, TEN),
}


class Cost:
    def __init__(self, program, arguments, folder):
        process = subprocess.Popen([program, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=self.bound,
                                   env=dict(os.environ, FORETRAIN_PATH=str(ROOT)))
        self.said = process.stderr.read().decode(errors="replace")
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds, self.megabytes, self.code = used.ru_utime + used.ru_stime, used.ru_maxrss / 1000, process.returncode

    @staticmethod
    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 1))

    def row(self, before, ratio):
        if self.code < 0:
            return f"over {LIMIT} | | "
        grows = math.log(self.seconds / before.seconds) / math.log(ratio) if before and before.code >= 0 and self.seconds > 0.05 else None
        refused = "" if self.code == 0 else f" (exit {self.code})"
        return f"{self.seconds:.2f}{refused} | {self.megabytes:.0f} | {'' if grows is None else f'{grows:.2f}'}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="+", help="AFTER, and BEFORE if there is one")
    parser.add_argument("-k", default="", help="only the cases with this word")
    parser.add_argument("--most", type=int, default=10**9, help="no n beyond this one")
    options = parser.parse_args()
    programs = [os.path.abspath(name) for name in reversed(options.program)]
    columns = " | CPU s | MB | grows as n^" * len(programs)
    print(f"| input | n{columns} |\n|---|---:{'|---:|---:|---:' * len(programs)}|")
    for name, (make, sizes) in CASES.items():
        if options.k not in name:
            continue
        last, last_n = [None] * len(programs), 1
        for n in (size for size in sizes if size <= options.most):
            with tempfile.TemporaryDirectory() as folder:
                arguments = make(pathlib.Path(folder), n)
                costs = [Cost(program, arguments, folder) for program in programs]
            print(f"| {name} | {n:,} | " + " | ".join(cost.row(before, n / last_n) for cost, before in zip(costs, last)) + " |", flush=True)
            for cost in costs:
                if cost.code > 0:
                    print(textwrap.shorten(cost.said, 200), file=sys.stderr)
            last, last_n = costs, n
    return 0


if __name__ == "__main__":
    sys.exit(main())
