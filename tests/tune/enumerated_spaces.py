#!/usr/bin/env python3
"""Searches random spaces of settings and enumerates them, too: the search must find what enumeration finds.

enumerated_spaces.py FORETRAIN [--spaces N] [--cases LEAST MOST] [--seed N] [--more OPTIONS] [--verbose] [--markdown]

Exit code 1: a search missed the best case of its space. With --markdown a table for docs/models/choices.md.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

# What may vary: values of which a space takes some, as TOML.
SCENARIOS = ["mahti-resnet50-ddp", "puhti-resnet50-ddp", "workshop-mnist-ddp"]
NETWORKS = ["resnet18", "resnet50", "vgg16", "mobilenet_v2", "bert_base", "densenet121"]
AXES = {
    "strategy": ['"data_parallel"', '"ddp"', '"horovod"', '"zero0"', '"zero1"', '"zero2"', '"zero3"', '"fsdp"'],
    "strategy.bucket_cap": ['"1 MiB"', '"5 MiB"', '"10 MiB"', '"25 MiB"', '"50 MiB"', '"100 MiB"', '"200 MiB"'],
    "strategy.gradient_as_bucket_view": ["true", "false"],
    "strategy.static_graph": ["true", "false"],
    "strategy.compression": ['"none"', '"fp16"'],
    "strategy.fusion_threshold": ['"2 MiB"', '"16 MiB"', '"64 MiB"', '"128 MiB"'],
    "strategy.cycle_time": ['"1 ms"', '"3 ms"', '"5 ms"', '"10 ms"'],
    "strategy.overlap_comm": ["true", "false"],
    "strategy.accumulation": ["1", "2", "4"],
    "batch": ["4", "8", "16", "32", "64", "128", "256"],
    "workers": ["1", "2", "3", "4", "6", "8"],
    "data.prefetch": ["1", "2", "4"],
    "data.pinned": ["true", "false"],
    "gpus": ["1", "2", "3", "4", "8", "16", "32"],
    "precision": ['"fp32"', '"amp_fp16"'],
    "execution": ['"eager"', '"compiled"', '"cuda_graphs"'],
    "framework.layout": ['"channels_first"', '"channels_last"'],
    "model.optimizer_form": ['"foreach"', '"for_loop"', '"fused"'],
    "cluster": ['"mahti"', '"puhti"', '"raven"'],
}
GOALS = ["total_s", "gpu_hours", "samples_per_s", "energy_kwh"]
SAME = 1e-9  # relative difference of two figures that are the same


def random_space(draw, least, most):
    """Axes by name, each with a part of its values, so that the space has about as many cases as wanted."""
    while True:
        names = draw.sample(sorted(AXES), draw.randint(4, 8))
        axes = {}
        for name in names:
            values = AXES[name]
            kept = sorted(draw.sample(range(len(values)), draw.randint(2, len(values))))
            axes[name] = [values[i] for i in kept]
        cases = 1
        for values in axes.values():
            cases *= len(values)
        if least <= cases <= most:
            axes.setdefault("gpus", ["4"])
            return axes


def run(arguments, **more):
    done = subprocess.run(arguments, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def enumerated(foretrain, folder, scenario, axes, goal):
    """Best figure of all cases, how many there are, and how many are as good; nothing where none runs and fits."""
    sweep = os.path.join(folder, "sweep.toml")
    database = os.path.join(folder, "sweep.sqlite")
    with open(sweep, "w", encoding="utf-8") as file:
        file.write(f'scenario = "{scenario}"\n[axes]\n')
        for name, values in axes.items():
            file.write(f'"{name}" = [{", ".join(values)}]\n')
    if os.path.exists(database):
        os.remove(database)
    run([foretrain, "sweep", "run", sweep, "--db", database, "--quiet"])
    order = f"-{goal}" if goal == "samples_per_s" else goal
    shown = run([foretrain, "sweep", "show", database, "--where", f"fits AND {goal} IS NOT NULL", "--best", order,
                 "--most", "1", "--format", "json"])
    rows = json.loads(shown)["rows"]
    status = json.loads(run([foretrain, "sweep", "status", database, "--format", "json"]))["files"][0]
    return (rows[0][goal] if rows else None), status["cases"]


def searched(foretrain, scenario, axes, goal, seed, more):
    arguments = [foretrain, "tune", scenario, "--best", goal, "--seed", str(seed), "--format", "json"] + more
    for name, values in axes.items():
        arguments += ["--axis", f'"{name}" = [{", ".join(values)}]']
    return json.loads(run(arguments))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("foretrain")
    options.add_argument("--spaces", type=int, default=3)
    options.add_argument("--cases", type=int, nargs=2, default=[100, 400])
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--more", default="", help="further options of tune")
    options.add_argument("--verbose", action="store_true")
    options.add_argument("--markdown", action="store_true")
    given = options.parse_args()
    draw = random.Random(given.seed)
    rows, missed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        while len(rows) < given.spaces:
            space = len(rows)
            axes = random_space(draw, given.cases[0], 4 * given.cases[1])
            scenario, goal = draw.choice(SCENARIOS), draw.choice(GOALS)
            if draw.random() < 0.7 and scenario != "workshop-mnist-ddp":
                axes["model"] = [f'"{draw.choice(NETWORKS[:4])}"']
            best, cases = enumerated(given.foretrain, folder, scenario, axes, goal)
            if not given.cases[0] <= cases <= given.cases[1]:
                continue
            found = searched(given.foretrain, scenario, axes, goal, space, given.more.split())
            figure = found["best"]["figures"][goal] if found["best"] else None
            same = best is figure if best is None or figure is None else abs(best - figure) <= SAME * abs(best)
            missed += 0 if same else 1
            rows.append((cases, found["predicted"], found["share_known"]))
            if given.verbose or not same:
                print(f"space {space}: {scenario} {goal} {json.dumps(axes)}: {cases} cases, {found['predicted']} predicted "
                      f"({100 * found['predicted'] / cases:.1f} %), known {100 * found['share_known']:.1f} %, "
                      f"best {best} found {figure}{'' if same else '  MISSED'}", flush=True)
    shares = sorted(100 * predicted / cases for cases, predicted, _ in rows)
    known = sorted(100 * share for _, _, share in rows)
    p90 = shares[min(len(shares) - 1, int(0.9 * len(shares)))]
    total = sum(cases for cases, _, _ in rows)
    if given.markdown:
        print("| spaces | cases, median | found what enumeration finds | predicted, median | p90 | known to be no better, "
              "median |\n|---|---|---|---|---|---|")
        print(f"| {len(rows)} | {statistics.median(c for c, _, _ in rows):.0f} | {len(rows) - missed} | "
              f"{statistics.median(shares):.1f} % | {p90:.1f} % | {statistics.median(known):.1f} % |")
    else:
        print(f"{len(rows) - missed} of {len(rows)} spaces ({total} cases): found what enumeration finds; predicted "
              f"{statistics.median(shares):.1f} % at the median, {p90:.1f} % at p90")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
