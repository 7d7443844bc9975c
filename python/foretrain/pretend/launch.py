"""Reads the command line that starts a training: it is parsed and never started."""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Sequence, Tuple

from .session import RecordError

#: Options of launchers that stand alone; all others take the next word as their value.
_FLAGS = set(
    "--standalone --no-python --no_python --multi_gpu --multi-gpu --use_fsdp --use-fsdp --use_deepspeed"
    " --use-deepspeed --cpu --no_local_rank --run-path --run_path --same_network --use_fp8 --no_ssh --tpu"
    " --use_megatron_lm --use_parallelism_config --virtual-local-rank --debug --quiet -q --force_multi"
    " --enable_each_rank_log --mpirun --oversubscribe --allow-run-as-root --exclusive -l --label -u"
    " --bind-to-none --kill-on-bad-exit --tag-output".split()
)
_NODES = ["--nnodes", "--num_machines", "--num-machines", "--num_nodes", "-N", "--nodes"]


@dataclass
class Launch:
    """What a command line starts: `nodes` × `per_node` processes of a script or a module with arguments."""

    launcher: str
    nodes: int
    per_node: int
    program: List[str]
    module: bool = False
    options: List[str] = field(default_factory=list)
    #: The command says how many processes there are; else the script does, as by mp.spawn.
    fixed: bool = True
    #: GPUs that a node shows, where that is another number than its processes.
    gpus: int = 0

    @property
    def devices(self) -> int:
        return self.gpus or self.per_node

    @property
    def world(self) -> int:
        return self.nodes * self.per_node

    def option(self, *names: str) -> Optional[str]:
        """The value of an option of the launcher."""
        for place, word in enumerate(self.options):
            for name in names:
                if word == name:
                    return self.options[place + 1] if place + 1 < len(self.options) else ""
                if word.startswith(name + "="):
                    return word[len(name) + 1 :]
        return None

    def number(self, default: int, *names: str) -> int:
        """A number of the launcher; of a range as 1:4 the larger."""
        given = self.option(*names)
        if given is None:
            return default
        last = given.split(":")[-1]
        if not last.isdigit() or int(last) < 1:
            raise RecordError(f"{names[0]} {given}: no number of processes\n  hint: as {names[0]} 8")
        return int(last)


def _is_python(word: str) -> bool:
    return os.path.basename(word).startswith("python")


def _cut(words: Sequence[str]) -> Tuple[List[str], List[str], bool]:
    """A launcher's own options, the program behind them, and whether the program is a module."""
    place = 0
    while place < len(words) and words[place].startswith("-"):
        word = words[place]
        place += 1
        if word == "--":
            break
        if word in ("-m", "--module"):
            return list(words[: place - 1]), list(words[place:]), True
        if "=" in word or word in _FLAGS or place >= len(words):
            continue
        if not words[place].endswith(".py"):
            place += 1
    return list(words[:place]), list(words[place:]), False


def _python(words: Sequence[str]) -> Tuple[List[str], bool]:
    """The program behind `python -u -O …`, and whether it is a module."""
    place = 0
    while place < len(words) and words[place].startswith("-") and words[place] not in ("-m", "-c"):
        place += 2 if words[place] in ("-W", "-X") else 1
    if place < len(words) and words[place] == "-c":
        raise RecordError("python -c: no script\n  hint: write the code into a file")
    if place < len(words) and words[place] == "-m":
        return list(words[place + 1 :]), True
    return list(words[place:]), False


def parse(command: Sequence[str]) -> Launch:
    """What the command line starts; raises RecordError where it cannot be read."""
    words = list(command)
    while words and "=" in words[0] and words[0].split("=")[0].isidentifier():
        name, _, given = words.pop(0).partition("=")  # OMP_NUM_THREADS=1 torchrun …
        os.environ[name] = given
    if not words:
        raise RecordError(
            "no command to record\n  hint: foretrain record -- torchrun --nproc-per-node 4 train.py"
        )
    first, rest = os.path.basename(words[0]), words[1:]
    if _is_python(first):
        program, module = _python(rest)
        if module and program[:1] in (["torch.distributed.run"], ["torch.distributed.launch"]):
            first, rest = "torchrun", program[1:]
        elif module and program[:1] in (["accelerate.commands.launch"], ["deepspeed.launcher.runner"]):
            first, rest = ("accelerate" if "accelerate" in program[0] else "deepspeed"), program[1:]
        else:
            return _checked(Launch("python", 1, 1, program, module, [], False))
    if first == "accelerate" and rest[:1] == ["launch"]:
        rest = rest[1:]
    if first in ("torchrun", "accelerate", "deepspeed"):
        return _checked(_launcher(first, rest))
    if first in ("srun", "mpirun", "mpiexec"):
        return _checked(_scheduler(first, rest))
    if first.endswith(".py"):
        return _checked(Launch("python", 1, 1, words, False, [], False))
    if first in ("horovodrun",):
        raise RecordError(
            "horovodrun: Horovod is not recorded\n  hint: the same training with DistributedDataParallel is"
        )
    installed = _installed(words[0])
    if installed is not None:
        return _checked(Launch("python", 1, 1, [installed, *rest], False, [], False))
    raise RecordError(
        f"{shlex.join(words[:2])}: a launcher that record does not know\n  hint: torchrun, accelerate launch,"
        " deepspeed, srun, mpirun, python, or a command that a Python package installs"
    )


def _installed(word: str) -> Optional[str]:
    """The file of a command that is a Python script, as pip writes them for `yolo`, `tune` or `litgpt`."""
    path = shutil.which(word, path=os.pathsep.join([_scripts(), os.environ.get("PATH", "")]))
    if path is None:
        return None
    with open(path, "rb") as file:
        first = file.readline(256)
    return path if first.startswith(b"#!") and b"python" in first else None


def _scripts() -> str:
    import sysconfig

    return sysconfig.get_paths()["scripts"]


def _launcher(name: str, rest: Sequence[str]) -> Launch:
    options, program, module = _cut(rest)
    made = Launch(name, 1, 1, program, module, options)
    made.nodes = made.number(1, *_NODES)
    if name == "torchrun":
        per_node = made.option("--nproc-per-node", "--nproc_per_node") or "1"
        automatic = per_node in ("auto", "gpu", "cpu")
        made.per_node = 8 if automatic else made.number(1, "--nproc-per-node", "--nproc_per_node")
    elif name == "accelerate":
        processes = made.number(8, "--num_processes", "--num-processes")
        made.per_node = max(1, processes // made.nodes)
    else:
        made.per_node = made.number(8, "--num_gpus")
    return made


def _scheduler(name: str, rest: Sequence[str]) -> Launch:
    options, program, module = _cut(rest)
    made = Launch(name, 1, 1, program, module, options)
    if name == "srun":
        made.nodes = made.number(1, "-N", "--nodes")
        tasks = made.option("-n", "--ntasks")
        per_node = made.option("--ntasks-per-node")
        if per_node:
            made.per_node = int(per_node)
        elif tasks:
            made.per_node = max(1, int(tasks) // made.nodes)
        else:
            made.per_node = made.number(8, "--gpus-per-node", "--gres")
    else:
        processes = made.number(1, "-np", "-n", "--np")
        made.per_node = min(8, made.number(8, "--npernode", "-ppn", "-N"), processes)
        made.nodes = max(1, processes // made.per_node)
    if program and os.path.basename(program[0]) in ("torchrun", "accelerate"):  # one launcher a node
        inner = parse(program)
        inner.nodes = max(inner.nodes, made.nodes)
        return inner
    if program and _is_python(program[0]):
        inner = parse(program)
        if inner.launcher != "python":
            inner.nodes = max(inner.nodes, made.nodes)
            return inner
        made.program, made.module = inner.program, inner.module
    return made


def _checked(made: Launch) -> Launch:
    if not made.program:
        raise RecordError(
            f"{made.launcher}: the command names no script\n  hint: as torchrun --nproc-per-node 4 train.py"
        )
    script = made.program[0]
    if not made.module and not os.path.isfile(script):
        raise RecordError(f"{script}: no such file\n  hint: run record where the training is started")
    return made


def environment(made: Launch, rank: int) -> Dict[str, str]:
    """What the launcher puts into the environment of rank `rank`."""
    local, node = rank % made.per_node, rank // made.per_node
    found: Dict[str, object] = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": 29500}
    if made.launcher in ("torchrun", "accelerate", "deepspeed"):
        found.update(
            RANK=rank, WORLD_SIZE=made.world, LOCAL_RANK=local, LOCAL_WORLD_SIZE=made.per_node,
            GROUP_RANK=node, GROUP_WORLD_SIZE=made.nodes, ROLE_RANK=rank, ROLE_WORLD_SIZE=made.world,
            TORCHELASTIC_RUN_ID="pretend", TORCHELASTIC_RESTART_COUNT=0, TORCHELASTIC_MAX_RESTARTS=0,
            OMP_NUM_THREADS=1,
        )  # fmt: skip
    elif made.launcher == "srun":
        nodes = f"node[1-{made.nodes}]" if made.nodes > 1 else "node1"
        found.update(
            SLURM_PROCID=rank, SLURM_NTASKS=made.world, SLURM_LOCALID=local, SLURM_NNODES=made.nodes,
            SLURM_JOB_ID=1, SLURM_JOBID=1, SLURM_NODEID=node, SLURM_NTASKS_PER_NODE=made.per_node,
            SLURM_JOB_NAME="train", SLURM_NODELIST=nodes, SLURM_JOB_NODELIST=nodes,
            SLURM_GPUS_ON_NODE=made.per_node, SLURM_JOB_NUM_NODES=made.nodes,
        )  # fmt: skip
    elif made.launcher in ("mpirun", "mpiexec"):
        found.update(
            OMPI_COMM_WORLD_RANK=rank, OMPI_COMM_WORLD_SIZE=made.world, OMPI_COMM_WORLD_LOCAL_RANK=local,
            OMPI_COMM_WORLD_LOCAL_SIZE=made.per_node, PMI_RANK=rank, PMI_SIZE=made.world,
        )  # fmt: skip
    if made.launcher == "accelerate":
        found.update(_accelerate(made))
    return {name: str(given) for name, given in found.items()}


def _accelerate(made: Launch) -> Dict[str, object]:
    """The environment of accelerate launch, from its own parser where it is installed."""
    try:
        import argparse

        from accelerate.commands.launch import launch_command_parser
        from accelerate.utils.launch import prepare_multi_gpu_env
    except Exception:  # older or absent: the few that matter
        return {"ACCELERATE_MIXED_PRECISION": made.option("--mixed_precision", "--mixed-precision") or "no"}
    words = list(made.options) + (["-m"] if made.module else []) + list(made.program)
    arguments = launch_command_parser().parse_args(words)
    arguments.num_processes, arguments.num_machines = made.world, made.nodes
    arguments.mixed_precision = arguments.mixed_precision or "no"
    arguments.use_cpu = False
    arguments.main_process_ip = arguments.main_process_ip or "127.0.0.1"
    arguments.main_process_port = arguments.main_process_port or 29500
    if not getattr(arguments, "dynamo_backend", None):
        arguments.dynamo_backend = "no"
    for name in ("machine_rank", "debug", "num_cpu_threads_per_process"):
        if getattr(arguments, name, None) is None:
            setattr(arguments, name, 0 if name != "num_cpu_threads_per_process" else 1)
    if isinstance(arguments, argparse.Namespace) and getattr(arguments, "use_deepspeed", False):
        from accelerate.utils.launch import prepare_deepspeed_cmd_env as prepare

        _, made_environment = prepare(arguments)
    else:
        made_environment = prepare_multi_gpu_env(arguments)
    known = os.environ
    return {
        name: given
        for name, given in made_environment.items()
        if known.get(name) != given and not name.startswith(("MASTER_", "RANK", "WORLD_SIZE"))
    }
