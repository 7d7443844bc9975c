#!/usr/bin/env python3
# Runs the job scripts that foretrain writes under stub launchers, and counts the ranks that each starts.
"""Usage: written_scripts.py FORETRAIN [--jobs N] [--seed S] [--keep FOLDER] [--verbose]

Each job (model, cluster, strategy, launcher, GPUs) is written for the seven batch systems. A script must be right for bash, shellcheck
(where it is installed) or the operator's rules, our own `job check` must have nothing to say about it, and run under stubs that follow the
rules of the real launchers it must start as many processes as its heading says, all in one world, on as many nodes, ranks 0, 1, …. Where no
script is written, foretrain must say why, and only where the job cannot be written. Faulty scripts come first: the stubs must see each fault.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:  # Debian: python3-yaml
    yaml = None

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import operator_rules

SYSTEMS = ["slurm", "pbs", "lsf", "grid_engine", "flux", "kubernetes", "htcondor"]
STUBS = ["torchrun", "srun", "mpirun", "mpiexec", "horovodrun", "deepspeed", "flux", "scontrol", "python"]
LAUNCHERS = ["torchrun", "srun", "mpirun", "horovodrun", "deepspeed", "mp_spawn", "python"]
MEETINGS = {"data_parallel": "nobody", "mirrored": "nobody", "multi_worker_mirrored": "tensorflow", "horovod": "horovod",
            "parameter_server": "servers", "byteps": "servers"}
STRATEGIES = ["ddp", "ddp", "fsdp", "zero1", "zero2", "zero3", "horovod", "horovod", "data_parallel", "mirrored", "multi_worker_mirrored",
              "parameter_server", "byteps"]
CLUSTERS = {"mahti": 4, "puhti": 4, "lumi-g": 8, "chtc-a100-40gb": 4}  # GPUs of a node
ONE_NODE = {"chtc-a100-40gb"}
FRAMEWORKS = ["megatron", "megatron-core-local", "torchtitan", "nanotron", "deepspeed", "llm-foundry", "maxtext", "internevo"]
REASONS = ["how its processes are started is not known", "needs processes that only serve", "on the first of", "does not tell Horovod's", "does not set RANK", "does not set the variables",
           "no submit file of HTCondor is written for", "tells TensorFlow's processes on"]


class Wrong(Exception):
    pass


def need(is_right, *what):
    if not is_right:
        raise Wrong(" ".join(str(one) for one in what))


class Machines:
    """Some machines with stub launchers, and what was started on them."""

    def __init__(self, folder, hosts, gpus, cores, meeting):
        self.folder, self.hosts = pathlib.Path(folder), hosts
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "bin").mkdir(parents=True)
        stub = pathlib.Path(__file__).parent / "stub_launchers.py"
        for name in STUBS:
            file = self.folder / "bin" / name
            file.write_text(f"#!/bin/sh\nexec '{sys.executable}' -S -E '{stub}' {name} \"$@\"\n")
            file.chmod(0o755)
        self.clean = {"PATH": f"{self.folder / 'bin'}:/usr/bin:/bin", "STUB_STATE": str(self.folder), "STUB_HOSTS": " ".join(hosts), "STUB_HOST": hosts[0],
                      "STUB_GPUS": str(gpus), "STUB_CORES": str(cores), "STUB_MEETING": meeting, "HOME": str(self.folder),
                      "STUB_PATIENCE": os.environ.get("STUB_PATIENCE", "60")}
        (self.folder / "clean.json").write_text(json.dumps(self.clean))

    def start(self, host, command, variables):
        return subprocess.Popen(command, env={**self.clean, "STUB_HOST": host, **variables}, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, starts):
        """All at the same time; what they wrote down."""
        running = [self.start(*one) for one in starts]
        said = [process.communicate(timeout=300)[0].decode(errors="replace") for process in running]
        need(all(process.returncode == 0 for process in running), "it ends with", [process.returncode for process in running], *said)
        log = self.folder / "log.jsonl"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def heading(text):
    found = re.search(r"^# .*: (\d+) GPUs? on (\d+) nodes?, (\d+) process(?:es)?[,.]", text, re.M)
    need(found, "there is no heading")
    return [int(number) for number in found.groups()]


def one_of(pattern, text, default=None):
    found = re.search(pattern, text, re.M)
    need(found or default is not None, "nothing is", pattern)
    return int(found.group(1)) if found else default


def hosts_file(folder, name, lines):
    (folder / name).write_text("".join(line + "\n" for line in lines))
    return str(folder / name)


# What a batch system gives a job: its machines, GPUs, cores of a node, and the variables inside of its script.

def slurm(text, folder, names):
    nodes, tasks = one_of(r"^#SBATCH --nodes=(\d+)", text), one_of(r"^#SBATCH --ntasks-per-node=(\d+)", text)
    cpus, gpus = one_of(r"^#SBATCH --cpus-per-task=(\d+)", text), one_of(r"^#SBATCH --gres='?gpu:(?:[^:\n]*:)?(\d+)", text)
    hosts = names[:nodes]
    return hosts, gpus, tasks * cpus, {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": ",".join(hosts), "SLURM_NTASKS_PER_NODE": str(tasks),
                                       "SLURM_NTASKS": str(nodes * tasks), "SLURM_CPUS_PER_TASK": str(cpus), "SLURM_PROCID": "0", "SLURM_LOCALID": "0"}


def pbs(text, folder, names):
    nodes, cores, ranks, gpus = [int(one) for one in re.search(r"select=(\d+):ncpus=(\d+):mpiprocs=(\d+):ngpus=(\d+)", text).groups()]
    hosts = names[:nodes]
    need(nodes == 1 or "place=scatter" in text, "chunks may lie on one node")
    return hosts, gpus, cores, {"PBS_JOBID": "7.server", "PBS_O_WORKDIR": str(folder),
                                "PBS_NODEFILE": hosts_file(folder, "nodes", [host for host in hosts for _ in range(ranks)])}


def lsf(text, folder, names):
    slots, each = one_of(r"^#BSUB -n (\d+)", text), one_of(r"ptile=(\d+)", text)
    need(slots % each == 0, f"{slots} slots, {each} on a host")
    hosts, cores = names[:slots // each], one_of(r"core\((\d+)\)", text)
    return hosts, one_of(r"^#BSUB -gpu \"num=(\d+)", text), each * cores, {
        "LSB_JOBID": "7", "LSB_DJOB_HOSTFILE": hosts_file(folder, "nodes", [host for host in hosts for _ in range(each)])}


def grid_engine(text, folder, names):
    spread = re.search(r"^#\$ -pe mpi_(\d+)_tasks_per_node (\d+)", text, re.M)
    each = int(spread.group(1)) if spread else 1
    nodes = int(spread.group(2)) // each if spread else 1
    hosts, slots = names[:nodes], each if spread else one_of(r"^#\$ -pe smp (\d+)", text)
    return hosts, one_of(r"^#\$ -l gpu=(\d+)", text), slots, {
        "JOB_ID": "7", "NHOSTS": str(nodes), "PE_HOSTFILE": hosts_file(folder, "nodes", [f"{host} {slots} queue UNDEFINED" for host in hosts])}


def flux(text, folder, names):
    nodes, cores = one_of(r"^#flux: --nodes=(\d+)", text), one_of(r"^#flux: --cores-per-slot=(\d+)", text)
    need(one_of(r"^#flux: --nslots=(\d+)", text) == nodes, "a slot is a node")
    hosts = names[:nodes]
    return hosts, one_of(r"^#flux: --gpus-per-slot=(\d+)", text), cores, {"STUB_FLUX_HOSTS": " ".join(hosts), "FLUX_URI": "local:///run/flux"}


def run_script(system, text, folder, names, meeting):
    """What a script of a batch system with directives starts, and on how many nodes with how many GPUs."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    hosts, gpus, cores, variables = globals()[system](text, folder / "..", names)
    machines = Machines(folder, hosts, gpus, cores, meeting)
    if system == "pbs":
        variables["PBS_O_WORKDIR"] = str(folder)
    script = folder / "script.sh"
    script.write_text(text)
    return machines.run([(hosts[0], ["bash", str(script)], variables)]), len(hosts), gpus


def check_shell(text, folder):
    script = folder / "checked.sh"
    script.write_text(text)
    checked = subprocess.run(["bash", "-n", str(script)], stderr=subprocess.PIPE)
    need(checked.returncode == 0, "bash -n:", checked.stderr.decode())
    if shutil.which("shellcheck"):  # without SC2155: "export NAME=$(…)" is how job scripts are written
        linted = subprocess.run(["shellcheck", "-s", "bash", "-S", "warning", "-e", "SC2155", str(script)], stdout=subprocess.PIPE)
        need(linted.returncode == 0, "shellcheck:", linted.stdout.decode())


def condor_words(value):
    """The words of "arguments" in HTCondor's new syntax (condor_submit): blanks part them, single quotes join, both quotes are doubled."""
    need(value.startswith('"') and value.endswith('"'), "arguments in the old syntax")
    text, words, word, is_quoted, i = value[1:-1], [], None, False, 0
    while i < len(text):
        c = text[i]
        if c == '"':
            need(text[i:i + 2] == '""', "a double quote that is not doubled")
            i += 1
        if c == "'" and is_quoted and text[i:i + 2] == "''":
            i, word = i + 1, word + "'"
        elif c == "'":
            is_quoted, word = not is_quoted, word or ""
        elif c == " " and not is_quoted:
            words, word = words + ([word] if word is not None else []), None
        else:
            word = (word or "") + c
        i += 1
    need(not is_quoted, "a single quote is open")
    return words + ([word] if word is not None else [])


def run_condor(text, folder, meeting):
    commands = dict(line.split(" = ", 1) for line in text.splitlines() if " = " in line and not line.startswith("#"))
    need(commands["universe"] == "vanilla", "another universe than vanilla")
    need("#" not in text.replace("\n#", "\n").lstrip("#"), "a comment behind a command")
    words = condor_words(commands["arguments"].replace("$(DOLLAR)", "$"))
    need("$(" not in commands["arguments"].replace("$(DOLLAR)", ""), "a macro that nobody set")
    check_shell("#!/bin/bash\n" + words[-1] + "\n", folder.parent)
    machines = Machines(folder, ["slot0"], int(commands["request_gpus"]), int(commands["request_cpus"]), meeting)
    return machines.run([("slot0", [commands["executable"], *words], {})]), 1, int(commands["request_gpus"])


def pods_of(thing):
    """Each pod's host, container and the variables its operator sets."""
    name, spec, kind = thing["metadata"]["name"], thing["spec"], thing["kind"]
    if kind == "Job":
        return [(f"{name}-0", spec["template"]["spec"]["containers"][0], {})]
    roles = {"PyTorchJob": "pytorchReplicaSpecs", "TFJob": "tfReplicaSpecs", "MPIJob": "mpiReplicaSpecs"}[kind]
    order = [role for role in ("Master", "Launcher", "Worker") if role in spec[roles]]
    pods = [(f"{name}-{role.lower()}-{number}", spec[roles][role]["template"]["spec"]["containers"][0], {})
            for role in order for number in range(spec[roles][role]["replicas"])]
    for rank, (host, container, variables) in enumerate(pods):
        if kind == "PyTorchJob":
            variables.update({"MASTER_ADDR": pods[0][0], "MASTER_PORT": "23456", "WORLD_SIZE": str(len(pods)), "RANK": str(rank)})
        if kind == "TFJob":
            variables["TF_CONFIG"] = json.dumps({"cluster": {"worker": [f"{pod[0]}:2222" for pod in pods]}, "task": {"type": "worker", "index": rank}})
    return pods


def run_pods(text, folder, meeting):
    thing = yaml.safe_load(text)
    mistakes = operator_rules.mistakes_of(thing)
    need(not mistakes, "the operator refuses:", *mistakes)
    pods = pods_of(thing)
    working = [pod for pod in pods if "nvidia.com/gpu" in pod[1].get("resources", {}).get("limits", {})]
    limits = working[0][1]["resources"]["limits"]
    machines = Machines(folder, [pod[0] for pod in pods], int(limits["nvidia.com/gpu"]), int(limits["cpu"]), meeting)
    if thing["kind"] == "MPIJob":
        slots = thing["spec"]["slotsPerWorker"]
        pods[0][2]["OMPI_MCA_orte_default_hostfile"] = hosts_file(folder, "hostfile", [f"{pod[0]} slots={slots}" for pod in working])
    starts = [(host, container["command"], {**variables, "STUB_ROOT": "1"}) for host, container, variables in pods if "command" in container]
    for _, command, _ in starts:
        check_shell("#!/bin/bash\n" + command[-1] + "\n", folder.parent)
    return machines.run(starts), len(working), int(limits["nvidia.com/gpu"])


def started(system, text, folder, names, meeting):
    if system == "htcondor":
        return run_condor(text, folder, meeting)
    if system == "kubernetes":
        return run_pods(text, folder, meeting)
    check_shell(text, folder.parent)
    return run_script(system, text, folder, names, meeting)


def check_world(text, log, nodes, gpus_of_node):
    """The heading against what was started."""
    gpus, nodes_said, processes = heading(text)
    need(nodes == nodes_said, f"{nodes} nodes under a heading of {nodes_said}")
    need(nodes * gpus_of_node == gpus, f"{nodes} nodes with {gpus_of_node} GPUs under a heading of {gpus} GPUs")
    spawned = re.search(r"^# train.py starts its (\d+) processes on this node by itself$", text, re.M)
    if spawned:
        need(len(log) == 1 and int(spawned.group(1)) == processes, "it starts", len(log), "programs that start processes")
        return
    worlds = {record["world"] for record in log}
    need(len(worlds) == 1, f"{len(worlds)} trainings that know nothing of each other:", *sorted(worlds))
    need(len(log) == processes, f"{len(log)} processes under a heading of {processes}")
    need(all(record["size"] == processes for record in log), "sizes of the world are", sorted({record["size"] for record in log}))
    need(sorted(record["rank"] for record in log) == list(range(processes)), "ranks are", sorted(record["rank"] for record in log))
    by_host = {}
    for record in log:
        by_host.setdefault(record["host"], []).append(record["local"])
    need(len(by_host) == nodes, "processes on", *by_host)
    for host, local in by_host.items():
        need(sorted(local) == list(range(processes // nodes)), f"{host} has local ranks {sorted(local)}")


def proof(system, text, folder, meeting):
    """Throws Wrong where the script is not what its heading says."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"node{number:02}" for number in (7, 3, 11, 5, 1, 9, 2, 8, 4, 10, 6, 12, 15, 13, 16, 14)]  # in no order of the alphabet
    check_world(text, *started(system, text, folder / "machines", names, meeting))


# Scripts with a fault: what does not fall here would pass for right.

HEADING = "#!/bin/bash\n# m with ddp on c: 8 GPUs on 2 nodes, 8 processes, global batch 256.\n"
SLURM = HEADING + "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node={}\n#SBATCH --cpus-per-task=8\n#SBATCH --gres=gpu:4\nexport SRUN_CPUS_PER_TASK=8\n"
MEET = ("export MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\nsrun torchrun --nnodes=2 --nproc_per_node={} --rdzv_id=$SLURM_JOB_ID "
        "--rdzv_backend=c10d --rdzv_endpoint=$MASTER_ADDR:29500 train.py\n")
POD = ("apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: m}\nspec:\n  nprocPerNode: %s\n  pytorchReplicaSpecs:\n"
       + "".join("    %s: {replicas: 1, template: {spec: {containers: [{name: %%s, image: i, command: [bash, -c, '%%s'], resources: {limits: "
                 "{nvidia.com/gpu: 4, cpu: 8}}}]}}}\n" % role for role in ("Master", "Worker")))
POD_LINE = "torchrun --nnodes=2 --nproc_per_node=4 --node_rank=$RANK --master_addr=$MASTER_ADDR --master_port=$MASTER_PORT train.py"
FAULTY = [
    ("slurm", SLURM.format(1) + "srun torchrun --standalone --nproc_per_node=4 train.py\n", "2 trainings that know nothing"),
    ("slurm", SLURM.format(1) + "srun torchrun --nproc_per_node=4 train.py\n", "2 trainings that know nothing"),
    ("slurm", SLURM.format(1) + "torchrun --standalone --nproc_per_node=4 train.py\n", "4 processes under a heading of 8"),
    ("slurm", SLURM.format(1) + MEET.format(2), "4 processes under a heading of 8"),
    ("slurm", SLURM.format(4) + "srun python train.py\n", "8 trainings that know nothing"),
    ("slurm", SLURM.format(4) + "srun torchrun --nnodes=2 --nproc_per_node=4 train.py\n", "two nodes have one number"),
    ("slurm", SLURM.format(2) + "mpirun -np 8 python train.py\n", "not enough slots"),
    ("flux", HEADING + "#flux: --nodes=2\n#flux: --nslots=2\n#flux: --cores-per-slot=8\n#flux: --gpus-per-slot=4\n"
     "export MASTER_ADDR=$(flux hostlist -e local | head -n 1)\n"
     "flux run -N 2 -n 2 -c 8 -g 4 torchrun --nnodes=2 --nproc_per_node=4 --rdzv_id=1 --rdzv_backend=c10d --rdzv_endpoint=$MASTER_ADDR:29500 train.py\n",
     "it ends with"),
    ("flux", HEADING + "#flux: --nodes=2\n#flux: --nslots=2\n#flux: --cores-per-slot=8\n#flux: --gpus-per-slot=4\n"
     "flux run -N 2 -n 2 torchrun --nnodes=2 --nproc_per_node=4 --rdzv_id=1 --rdzv_backend=c10d --rdzv_endpoint=node07:29500 train.py\n", "sees no GPU"),
    ("kubernetes", HEADING[12:] + POD % ("4", "pytorch", POD_LINE, "pytorch", POD_LINE), "nprocPerNode must be of type string"),
    ("kubernetes", HEADING[12:] + POD % ('"4"', "training", POD_LINE, "training", POD_LINE), "no container named pytorch"),
    ("kubernetes", HEADING[12:] + POD % ('"4"', "pytorch", "torchrun --standalone --nproc_per_node=4 train.py", "pytorch", POD_LINE), "it ends with"),
    ("htcondor", HEADING + "universe = parallel\nmachine_count = 2\nexecutable = /bin/bash\narguments = \"-c 'torchrun --standalone train.py'\"\n", "universe"),
]
RIGHT = [("slurm", SLURM.format(1) + MEET.format(4)), ("kubernetes", HEADING[12:] + POD % ('"4"', "pytorch", POD_LINE, "pytorch", POD_LINE))]


def check_stubs(folder):
    """How many faults the stubs see: all of them, or the test proves nothing."""
    for system, text in RIGHT:
        if system != "kubernetes" or yaml is not None:
            proof(system, text, folder, "environment")
    os.environ["STUB_PATIENCE"] = "3"
    for system, text, expected in FAULTY:
        if system == "kubernetes" and yaml is None:
            continue
        try:
            proof(system, text, folder, "environment")
        except Wrong as seen:
            need(expected in str(seen), f"a fault of {system} is seen as", seen, "not as", expected)
        else:
            raise Wrong(f"a fault of {system} is not seen ({expected}):\n{text}")
    del os.environ["STUB_PATIENCE"]


# The jobs.

def draw_large_job(draw):
    """A layout of a large model, whose program is the framework's own."""
    nodes = draw.choice([1, 2, 3])
    return {"cluster": "mahti", "strategy": "layout", "meeting": "environment", "gpus": 4 * nodes, "nodes": nodes, "launcher": None, "model": "gpt2-xl",
            "framework": draw.choice(FRAMEWORKS)}


def draw_job(draw):
    if draw.random() < 0.2:
        return draw_large_job(draw)
    cluster = draw.choice(list(CLUSTERS))
    each, strategy = CLUSTERS[cluster], draw.choice(STRATEGIES)
    meeting = MEETINGS.get(strategy, "environment")
    nodes = 1 if meeting == "nobody" or cluster in ONE_NODE else draw.choice([1, 1, 2, 2, 3])
    gpus = nodes * (each if nodes > 1 else draw.choice([1, 2, each]))
    per_node = ["srun", "torchrun", "mpirun", "python"]
    suited = {"data_parallel": per_node[::2] + ["python"], "mirrored": per_node[::2] + ["python"], "multi_worker_mirrored": per_node,
              "parameter_server": per_node}.get(strategy, LAUNCHERS)
    return {"cluster": cluster, "strategy": strategy, "meeting": meeting, "gpus": gpus, "nodes": nodes,
            "launcher": draw.choice([None, None, *suited]), "model": draw.choice(["resnet50", "mnist_net", "vgg16"])}


def command_of(job):
    if "framework" in job:
        return ["--model", job["model"], "--cluster", job["cluster"], "--gpus", str(job["gpus"]), "--set", f'parallel.framework="{job["framework"]}"', "--set",
                "data.samples=100000"]
    out = ["--model", job["model"], "--cluster", job["cluster"], "--strategy", job["strategy"], "--gpus", str(job["gpus"]), "--batch", "16",
           "--set", "data.samples=100000", "--goal", "fastest"]
    return out + (["--set", f'launch.with="{job["launcher"]}"'] if job["launcher"] else [])


def may_refuse(job, system):
    """Whether this job has no script of the system that would be one training."""
    launcher, meeting, several = job["launcher"], job["meeting"], job["nodes"] > 1
    if launcher == "python" and meeting in ("environment", "horovod"):
        launcher = None  # a recommendation starts a process for each GPU, and says so
    if meeting == "servers" or job.get("framework") in ("maxtext", "internevo") or (several and system == "htcondor"):
        return True
    if several and launcher in ("python", "mp_spawn"):
        return True
    if meeting == "horovod" and job["gpus"] > 1 and launcher in ("torchrun", "deepspeed", "mp_spawn"):
        return True
    if meeting == "environment" and job["gpus"] > 1 and launcher == "horovodrun":
        return True
    return meeting == "tensorflow" and several and system != "kubernetes" and not (system == "slurm" and launcher in (None, "srun"))


class Campaign:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.proved, self.refused, self.failures = 0, 0, []

    def foretrain(self, *words):
        return subprocess.run([self.arguments.program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder)

    def check_own(self, file, job):
        """Whether one process spreads over several GPUs by itself is known to nobody but its user: that may be said. Of large models it may be said
        which options are not read or not modelled, but nothing of how they are started."""
        checked = self.foretrain("job", "check", file, "--cluster", job["cluster"], "--format", "json")
        found = json.loads(checked.stdout)
        spreads = job["launcher"] == "mp_spawn" or job["meeting"] in ("nobody", "tensorflow")
        unknown = re.compile("unless the program itself spreads|^1 process on a node for [0-9]+ GPUs: [0-9]+ unused$" if spreads else
                             "does not lie beside the script|is not modelled|^not known here: | is of each process: " if "framework" in job else "^$")
        warnings = [one["message"] for one in found["warnings"] if not unknown.search(one["message"])]
        need(checked.returncode == 0 and not found["mistakes"] and not warnings, "job check says:", found["mistakes"], *warnings)

    def prove(self, job, system):
        (self.folder / "written").unlink(missing_ok=True)
        run = self.foretrain("predict", *command_of(job), "--job-script", "written", "--job-system", system)
        if run.returncode == 1 and any(reason in run.stderr for reason in REASONS):
            need(may_refuse(job, system), "a job that can be written is refused:", run.stderr)
            need(not (self.folder / "written").exists(), "a refused script is written")
            self.refused += 1
            return
        need(run.returncode == 0, run.stderr)
        need(not may_refuse(job, system), "a job is written that cannot be one training")
        text = (self.folder / "written").read_text()
        try:
            proof(system, text, self.folder, job["meeting"])
            self.check_own("written", job)
        except Wrong as wrong:
            raise Wrong(f"{wrong}\n{text}") from None
        self.proved += 1

    def run(self, jobs):
        for number, job in enumerate(jobs):
            for system in SYSTEMS:
                if system == "kubernetes" and yaml is None:
                    continue
                try:
                    self.prove(job, system)
                except Wrong as wrong:
                    self.failures.append(f"job {number}, {system}, {job}: {wrong}")
                    print("wrong:", self.failures[-1], flush=True)
                else:
                    if self.arguments.verbose:
                        print(number, system, job, flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--jobs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(arguments.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        check_stubs(folder)
        campaign = Campaign(arguments, folder)
        campaign.run([draw_job(draw) for _ in range(arguments.jobs)])
    print(f"{arguments.jobs} jobs, {len(SYSTEMS)} systems: {campaign.proved} scripts start what their heading says, {campaign.refused} refused with the reason, "
          f"{len(campaign.failures)} wrong; {len(FAULTY)} faulty scripts seen"
          + ("" if yaml else "; Kubernetes left out (no python3-yaml)") + ("" if shutil.which("shellcheck") else "; no shellcheck"))
    return 1 if campaign.failures or campaign.proved == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
