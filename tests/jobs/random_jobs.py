#!/usr/bin/env python3
"""Laws of random jobs, asked of the program as a user asks: fewer CPUs are never faster, the check and the prediction agree, what cannot start has no time, and
the script that `plan --sbatch` writes is predicted as the plan says.

    random_jobs.py FORETRAIN [--jobs N] [--seed S]

Without --jobs it draws FORETRAIN_RANDOM_JOBS jobs, else 40; `FORETRAIN_RANDOM_JOBS=2000` is the whole law.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

# Name, partition, type, GPUs of a node, cores of a node, nodes that a job may have.
CLUSTERS = [("puhti", "gpu", "v100", 4, 40, 20), ("mahti", "gpumedium", "a100", 4, 128, 6),
            ("raven", "gpu", "a100", 4, 72, 80)]
MODELS = ["mnist_net", "resnet50"]
PLANNED = ["gpt2", "gpt2-medium", "gpt2-xl"]
CPUS = [1, 2, 3, 4, 6, 8, 10, 16, 24, 40]
PLAN_EVERY = 10
ROUNDING = 0.005


class Job:
    """A job that a person could write; `processes` are those of a node."""

    def __init__(self, draw):
        self.cluster, self.partition, self.type, most, self.cores, nodes = draw.choice(CLUSTERS)
        self.nodes = draw.choice([n for n in (1, 1, 1, 2, 4) if n <= nodes])
        self.gpus = most if self.nodes > 1 else draw.choice([1, 2, most])
        self.processes = draw.choice([self.gpus, self.gpus, self.gpus, 1, 2, self.gpus + 1])
        self.batch, self.workers = draw.choice([8, 32, 64, 256]), draw.choice([0, 1, 2, 4, 10])
        self.form = draw.choice(["torchrun", "torchrun", "tasks", "python"])
        self.meets = draw.random() < 0.8  # srun starts torchrun on every node
        self.strategy = draw.choice(["dp", "mirrored"]) if self.form == "python" else ""
        self.exclusive, self.threads = draw.random() < 0.1, draw.random() < 0.8
        self.type_asked = self.type if draw.random() < 0.95 else "h100"
        self.loads = draw.random() < 0.5
        self.model = draw.choice(MODELS)
        if self.form == "python":
            self.nodes, self.processes = 1, 1
        if self.form == "tasks":
            self.meets = True

    def can_start(self):
        waits = self.form == "torchrun" and self.nodes > 1 and not self.meets
        too_many = self.processes > self.gpus
        return not waits and not too_many

    def text(self, cpus):
        tasks = self.processes if self.form == "tasks" else 1
        lines = ["#!/bin/bash", f"#SBATCH -p {self.partition}", f"#SBATCH -N {self.nodes}",
                 f"#SBATCH --gres=gpu:{self.type_asked}:{self.gpus}", f"#SBATCH --ntasks-per-node={tasks}",
                 f"#SBATCH --cpus-per-task={cpus}"]
        if self.exclusive:
            lines.append("#SBATCH --exclusive")
        if not self.threads:
            lines.append("#SBATCH --hint=nomultithread")
        program = f"t.py --batch-size {self.batch} --workers {self.workers}"
        meeting = f"--nnodes={self.nodes} --rdzv_endpoint=$H:29500 " if self.nodes > 1 else ""
        start = {"torchrun": f"{'srun ' if self.meets else ''}torchrun {meeting}--nproc_per_node={self.processes} ",
                 "tasks": "srun python ", "python": "python "}[self.form]
        return "\n".join(lines) + f"\n{start}{program}{' --strategy ' + self.strategy if self.strategy else ''}\n"

    def options(self):
        data = ["--set", "data.name=imagenet" if self.model == "resnet50" else "data.name=mnist"]
        return ["--cluster", self.cluster, "--model", self.model] + (data if self.loads else [])

    def most_cpus(self):
        return self.cores // (self.processes if self.form == "tasks" else 1)

    def global_batch(self):
        return self.batch * (1 if self.form == "python" else self.nodes * self.processes)

    def idle(self):
        return 0 if self.form == "python" else self.nodes * (self.gpus - self.processes)


class Laws:
    def __init__(self, program, folder, seed):
        self.program, self.folder, self.draw, self.broken, self.asked = program, folder, random.Random(seed), [], 0

    def run(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, text=True, cwd=self.folder, timeout=300)

    def need(self, holds, what, text):
        self.asked += 1
        if not holds:
            self.broken.append(f"{what}\n{text}")

    def predicted(self, job, cpus):
        (self.folder / "job.sh").write_text(job.text(cpus))
        ran = self.run("predict", "job.sh", *job.options(), "--format", "json")
        return ran, json.loads(ran.stdout) if ran.returncode == 0 else None

    def agree(self, job, cpus):
        ran, prediction = self.predicted(job, cpus)
        text = job.text(cpus) + " ".join(job.options()) + "\n" + ran.stderr
        check = self.run("job", "check", "job.sh", *job.options(), "--format", "json")
        told = json.loads(check.stdout)
        starts = job.can_start()
        # A script for another machine: the check refuses it, the prediction answers "what if it ran here" and says so.
        fits = starts and job.type_asked == job.type
        self.need(told["can_start"] == fits, f"the check says can_start = {told['can_start']}", text)
        self.need(check.returncode == (0 if fits else 1), f"the check ends with {check.returncode}", text)
        self.need((prediction is not None) == starts, "what cannot start has a time, or what starts has none", text)
        if not starts:
            self.need(told["answer"]["value_s"] == 0 and not ran.stdout, "a refused job has a time", text)
        if prediction is None:
            return
        point = prediction["points"][-1]
        if not fits:
            return self.need(any(job.type_asked in row for row in prediction["warnings"]), "no word of the type", text)
        self.need(point["gpus"] == job.nodes * job.gpus, f"predicted on {point['gpus']} GPUs", text)
        self.need(point["global_batch"] == job.global_batch(), f"a batch of {point['global_batch']}", text)
        says_idle = any(f"and {job.idle()} are idle" in row or f"and {job.idle()} is idle" in row
                        for row in prediction["warnings"])
        checks_idle = any("unused" in row["message"] or "will idle" in row["message"] for row in told["warnings"])
        self.need(says_idle == (job.idle() > 0), "the prediction's idle GPUs", text)
        self.need(checks_idle == (job.idle() > 0), "the check's idle GPUs", text)
        if told["predicted"]:
            self.need(abs(told["answer"]["value_s"] - prediction["answer"]["value_s"]) <= 1e-9, "two answers", text)

    def fewer_cpus(self, job):
        if not job.can_start():
            return
        counts = [count for count in CPUS if count <= job.most_cpus()]
        steps = []
        for cpus in sorted(self.draw.sample(counts, min(3, len(counts)))):
            _, prediction = self.predicted(job, cpus)
            self.need(prediction is not None, f"no time with {cpus} CPUs", job.text(cpus))
            if prediction is not None:
                steps.append((cpus, prediction["points"][-1]["step_s"]))
        for (fewer, slow), (more, fast) in zip(steps, steps[1:]):
            self.need(fast <= slow * (1 + 1e-9), f"{more} CPUs take {fast} s, {fewer} take {slow} s",
                      job.text(fewer) + " ".join(job.options()))

    def round_trip(self):
        model, cluster = self.draw.choice(PLANNED), self.draw.choice(CLUSTERS)[0]
        gpus = self.draw.choice([4, 8, 16])
        batch = gpus * self.draw.choice([1, 2, 4])
        asked = ["--model", model, "--cluster", cluster]
        planned = self.run("plan", *asked, "--gpus", str(gpus), "--global-batch", str(batch), "--set",
                           "data.samples=100000", "--sbatch", "plan.sh", "--format", "json")
        text = f"plan {' '.join(asked)} --gpus {gpus} --global-batch {batch}\n{planned.stderr}"
        self.need(planned.returncode == 0, "plan fails", text)
        if planned.returncode:
            return
        step = json.loads(planned.stdout)["layouts"][0]["step_s"]
        check = self.run("job", "check", "plan.sh", "--cluster", cluster)
        self.need(check.returncode == 0, "the check refuses what plan wrote", text + check.stderr)
        ran = self.run("predict", "plan.sh", *asked, "--format", "json")
        self.need(ran.returncode == 0, "what plan wrote is not predicted", text + ran.stderr)
        if ran.returncode == 0:
            again = json.loads(ran.stdout)["points"][-1]["step_s"]
            self.need(abs(again / step - 1) < ROUNDING, f"a step of {again} s, and plan says {step} s", text)


def main():
    reader = argparse.ArgumentParser()
    reader.add_argument("program", type=pathlib.Path)
    reader.add_argument("--jobs", type=int, default=int(os.environ.get("FORETRAIN_RANDOM_JOBS", "40")))
    reader.add_argument("--seed", type=int, default=38)
    asked = reader.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        laws = Laws(asked.program.resolve(), pathlib.Path(folder), asked.seed)
        for number in range(asked.jobs):
            job = Job(laws.draw)
            laws.agree(job, laws.draw.choice([count for count in CPUS if count <= job.most_cpus()]))
            laws.fewer_cpus(job)
            if number % PLAN_EVERY == 0:
                laws.round_trip()
    for what in laws.broken[:10]:
        print(what, end="\n\n")
    print(f"{asked.jobs} jobs, {laws.asked} questions, {len(laws.broken)} broken")
    sys.exit(1 if laws.broken else 0)


if __name__ == "__main__":
    main()
