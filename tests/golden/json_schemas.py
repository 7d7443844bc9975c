#!/usr/bin/env python3
"""Whether every JSON report is what docs/reference/schema says: what is promised is there, and what is there is promised.

Usage: json_schemas.py BINARY ROOT. Runs the program's commands, and checks each output against the schema that it names.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import jsonschema

DATA = "docs/measured"
COMMANDS = [
    "predict mahti-resnet50-ddp",
    "predict mahti-resnet50-ddp --explain --sensitivity --break-even auto",
    "predict mahti-resnet50-ddp --scaling both",
    "predict m3-resnet56-mirrored-p100 chtc-cifar-four",
    "predict --model vgg16 --cluster chtc-2080ti --gpus 1,2 --recommend --break-even 2 --set data.samples=50000 --set run.epochs=3",
    "predict --model resnet50 --cluster pcie-2gpu --strategy data_parallel --gpus 1,2 --set model.global_batch=64 --break-even 2",
    "predict --model gpt2 --cluster dgx1-v100 --gpus 1,8 --batch 4096",
    "predict --model resnet50 --cluster two-generations --batch 32 --gpus 8,24",
    "predict --model llama3_8b --cluster mahti --gpus 8,16 --set model.precision=bf16 --set parallel.tensor=4 --set parallel.pipeline=2",
    "plan --model llama3_8b --cluster mahti --gpus 8 --set model.precision=bf16 --set parallel.tensor=4",
    "plan --model llama3_8b --cluster mahti --gpus 2,8,16 --set model.precision=bf16 --set parallel.tensor=4",
    "compare --model llama3_8b --cluster mahti --gpus 8 --set parallel.tensor=4",
    "predict --model llama3_8b --cluster mahti --gpus 8,16 --recommend --set parallel.tensor=4 --set parallel.global_batch=64 "
    "--set data.samples=100000",
    "tune workshop-mnist-ddp --over strategy,workers --gpus 2 --searches 2",
    "tune workshop-mnist-ddp --over workers --gpus 1000000",
    "predict workshop-mnist-study",
    "predict --model resnet50 --cluster mahti --set study.strategy=['ddp','data_parallel'] --gpus 4,8",
    "compare mahti-resnet50-ddp",
    "compare --model resnet50 --cluster mahti --gpus 4",
    "compare csc-mnist-ddp raven-spiral-ddp",
    "compare --models resnet50,vgg16 --clusters mahti,puhti --gpus 4",
    "compare m3-resnet56-mirrored-v100 --clusters m3-p100,m3-v100 --gpus 1,2,4",
    "compare puhti-resnet50-ddp --clusters mahti,puhti --gpus 4,200 --epochs 90 --deadline 12h --price 2",
    "collective --cluster dgx-a100 --op all_reduce --gpus 8",
    "collective --cluster dgx-a100 --op all_gather --gpus 16 --nodes 2 --explain",
    "collective --cluster gloo-testbed --op all_reduce --gpus 8 --transport gloo_tcp",
    "collective --cluster dgx-a100 --op broadcast --gpus 1",
    "model show resnet50",
    "model show gpt2 --gpu a100-sxm4-80gb --layers all",
    "model show tests/unit/workload/recorded/tiny.toml",
    f"validate {DATA}/puhti.csv",
    f"validate {DATA}/nccl.csv",
    f"validate {DATA}/kernels.csv",
    f"validate {DATA}/kernels.csv --by class,gpu --by size",
    f"validate {DATA}/llm.csv --no-anchor --by model",
    f"validate {DATA}/puhti.csv --provenance {DATA}/provenance.toml --by strategy --by cluster",
    f"validate {DATA}/puhti.csv --no-anchor --gpus 1,4",
    f"validate {DATA}/puhti.csv --leave-out source",
    f"calibrate check {DATA}/nccl.csv --cluster dgx-a100 --hold-out nodes",
    "job show docs/tutorials/jobs/resnet50.sbatch",
    "job show docs/tutorials/jobs/too_many.sbatch",
    "job show docs/tutorials/jobs/four_layers.sub",
    "job show docs/tutorials/settings/deepspeed.sbatch",
    "job settings docs/tutorials/settings/ds_config.json docs/tutorials/settings/fsdp.yaml docs/tutorials/settings/lightning.yaml",
    "job settings docs/tutorials/settings/titan.toml docs/tutorials/settings/train_lightning.py docs/tutorials/settings/horovod.env",
    "job check docs/tutorials/jobs/resnet50.sbatch",
    "job check docs/tutorials/jobs/four.txt",
    "explain docs/tutorials/accounting/sacct.txt docs/tutorials/accounting/seff.txt",
    "explain docs/tutorials/accounting/sacct.txt docs/tutorials/accounting/train.sbatch --set data.samples=1281167",
    "explain tests/unit/import/accounting/jobstats.txt",
    "explain tests/unit/import/accounting/gpus.csv",
    "explain tests/unit/import/accounting/sacct_p.txt",
    "trace show docs/tutorials/traces/rank0.json.gz",
    "trace show docs/tutorials/traces/rank0.json.gz docs/tutorials/traces/rank1.json.gz",
    "trace diff docs/tutorials/traces/rank0.json.gz --cluster mahti",
    "trace diff docs/tutorials/traces/rank0.json.gz --cluster mahti --model resnet50 --batch 8",
]

SWEEP = 'scenario = "workshop-mnist-ddp"\n[axes]\nbatch = [64, 128]\ngpus = [1, 2, 1000000]\n'
SWEEP_COMMANDS = ["status {}", "show {}", "show {} --pareto total_s,gpu_hours", "show {} --effects step_s", "show {} --failed"]


def closed(schema):
    """The same schema where a key that it does not name is a mistake."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: {name: closed(part) for name, part in value.items()} if key in ("properties", "$defs") else closed(value)
           for key, value in schema.items()}
    if "properties" in out:
        out.setdefault("unevaluatedProperties", False)
    return out


def read_schemas(folder):
    schemas = {}
    for path in sorted(folder.glob("*.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        schemas[path.name] = closed(schema)
    return schemas


def printed_by(binary, root, command):
    environment = {**os.environ, "FORETRAIN_PATH": str(root)}
    words = [binary, *command.split(), "--format", "json"]
    run = subprocess.run(words, cwd=root, env=environment, capture_output=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{command}: exit code {run.returncode}\n{run.stderr.decode()}")
    return json.loads(run.stdout)


def swept(binary, root, folder):
    """Commands about a database that is made in the folder."""
    sweep, database = folder / "sweep.toml", folder / "sweep.sqlite"
    sweep.write_text(SWEEP, encoding="utf-8")
    environment = {**os.environ, "FORETRAIN_PATH": str(root)}
    subprocess.run([binary, "sweep", "run", sweep, "--db", database, "--quiet"], env=environment, check=True)
    return ["sweep " + command.format(database) for command in SWEEP_COMMANDS]


def main(binary, root):
    with tempfile.TemporaryDirectory() as folder:
        return checked(binary, root, COMMANDS + swept(binary, root, pathlib.Path(folder)))


def checked(binary, root, commands):
    schemas = read_schemas(root / "docs/reference/schema")
    unused, mistakes = set(schemas), 0
    for command in commands:
        output = printed_by(binary, root, command)
        name = output["schema"].removeprefix("foretrain.").split("/")[0] + ".json"
        unused.discard(name)
        resolver = jsonschema.RefResolver(name, schemas[name], store=schemas)
        validator = jsonschema.Draft202012Validator(schemas[name], resolver=resolver)
        for error in list(validator.iter_errors(output))[:10]:
            mistakes += 1
            print(f"{command}: {error.json_path}: {error.message[:200]}")
    for name in unused:
        mistakes += 1
        print(f"no command prints {name}")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
