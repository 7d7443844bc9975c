#!/usr/bin/env python3
# Submits job scripts that foretrain writes to a real Slurm of two nodes on this machine, and counts the ranks.
"""Usage: real_slurm.py FORETRAIN. Ends with 4, which ctest shows as skipped, where Slurm or munge is not installed or may not be started.

A munge, a controller and two slurmd of its own run in a temporary folder, on ports of their own and on this machine's own address alone; they
claim GPUs that are not there. sbatch, srun and scontrol are Slurm's; torchrun and python are the stubs of stub_launchers.py.
"""
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import written_scripts

NODES = ["n1", "n2"]
PATIENCE = 120  # seconds until a node or a job is taken to hang
SKIPPED = 4
# Strategy, launcher, GPUs, and what its processes read to find each other.
JOBS = [("ddp", None, 4, "environment"), ("ddp", None, 8, "environment"), ("ddp", "srun", 8, "environment"), ("fsdp", None, 8, "environment"),
        ("multi_worker_mirrored", None, 8, "tensorflow")]
CONFIGURATION = """ClusterName=foretrain
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
ReturnToService=2
GresTypes=gpu
{nodes}
PartitionName=gpumedium Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=128 RealMemory=500000 Gres=gpu:a100:4 State=UNKNOWN\n"


class Skipped(Exception):
    pass


def free_ports(count):
    with contextlib.ExitStack() as open_ones:
        sockets = [open_ones.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Slurm:
    def __init__(self, folder):
        self.folder, self.running = pathlib.Path(folder), []
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": os.environ["PATH"] + ":/usr/sbin"}

    def configure(self):
        ports, host = free_ports(3), socket.gethostname().split(".")[0]
        nodes = "".join(NODE.format(name=name, host=host, port=port) for name, port in zip(NODES, ports[1:]))
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(folder=self.folder, ports=ports, host=host, nodes=nodes))
        for gpu in range(4):
            (self.folder / f"gpu{gpu}").touch()
        (self.folder / "gres.conf").write_text(f"AutoDetect=off\nName=gpu Type=a100 File={self.folder}/gpu[0-3]\n")
        for name in ["state", *[f"spool-{node}" for node in NODES]]:
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)

    def start(self, *command):
        log = open(self.folder / "daemons.log", "ab")
        self.running.append(subprocess.Popen(command, env=self.environment, stdout=log, stderr=log))

    def start_all(self):
        self.configure()
        munge = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munge.pid", "log-file": "munge.log", "seed-file": "munge.seed"}
        self.start("munged", "--foreground", "--force", "--num-threads=2", *[f"--{option}={self.folder / file}" for option, file in munge.items()])
        self.wait_for(lambda: (self.folder / "munge.socket").exists(), "munge")
        self.start("slurmctld", "-D")
        for node in NODES:
            self.start("slurmd", "-D", "-N", node)
        self.wait_for(self.are_idle, "the nodes")

    def are_idle(self):
        shown = subprocess.run(["sinfo", "-h", "-N", "-o", "%t"], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return shown.stdout.split() == ["idle"] * len(NODES)

    def wait_for(self, is_there, what):
        until = time.monotonic() + PATIENCE
        while not is_there():
            said = f"{what} did not come up:\n{(self.folder / 'daemons.log').read_text()[-2000:]}"
            if any(process.poll() is not None for process in self.running):
                raise Skipped(said)
            written_scripts.need(time.monotonic() < until, said)
            time.sleep(0.1)

    def stop(self):
        for process in reversed(self.running):
            process.terminate()
        for process in reversed(self.running):
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()

    def state_at_end(self, job):
        """Asked for often: sbatch --wait looks only every few seconds."""
        until, state = time.monotonic() + PATIENCE, ""
        while time.monotonic() < until:
            shown = subprocess.run(["scontrol", "show", "job", job, "-o"], env=self.environment, stdout=subprocess.PIPE, text=True).stdout
            state = shown.partition("JobState=")[2].partition(" ")[0]
            if state not in ("", "PENDING", "CONFIGURING", "RUNNING", "COMPLETING"):
                return state
            time.sleep(0.1)
        return f"still {state}"

    def submit(self, text, folder, meeting):
        """What a script starts."""
        machines = written_scripts.Machines(folder, NODES, 4, 128, meeting)
        for real in ("srun", "scontrol"):
            (machines.folder / "bin" / real).unlink()
        script = machines.folder / "script.sh"
        script.write_text(text)
        variables = {**self.environment, **machines.clean, "PATH": f"{machines.folder / 'bin'}:{os.environ['PATH']}"}
        run = subprocess.run(["sbatch", "--parsable", "--export=ALL", str(script)], env=variables, cwd=machines.folder, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
        written_scripts.need(run.returncode == 0, "sbatch ends with", run.returncode, run.stdout)
        state = self.state_at_end(run.stdout.strip())
        said = "".join(file.read_text() for file in machines.folder.glob("*.out"))
        written_scripts.need(state == "COMPLETED", "the job is", state, said)
        log = machines.folder / "log.jsonl"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def written(program, folder, strategy, launcher, gpus):
    command = [program, "predict", "--model", "resnet50", "--cluster", "mahti", "--strategy", strategy, "--gpus", str(gpus), "--batch", "16", "--set",
               "data.samples=100000", "--goal", "fastest", "--job-script", "written", "--job-system", "slurm"]
    command += ["--set", f'launch.with="{launcher}"'] if launcher else []
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    # Partition and project are the centre's.
    return (pathlib.Path(folder) / "written").read_text().replace("--partition=gpusmall", "--partition=gpumedium")


def prove(slurm, program, folder):
    faulty = written_scripts.SLURM.format(1) + "srun torchrun --standalone --nproc_per_node=4 train.py\n"
    try:
        written_scripts.check_world(faulty, slurm.submit(faulty, folder / "job", "environment"), 2, 4)
    except written_scripts.Wrong as seen:
        written_scripts.need("2 trainings" in str(seen), "the faulty script is seen as", seen)
    else:
        raise written_scripts.Wrong("two trainings are not seen")
    for strategy, launcher, gpus, meeting in JOBS:
        text = written(program, folder, strategy, launcher, gpus)
        try:
            written_scripts.check_world(text, slurm.submit(text, folder / "job", meeting), max(1, gpus // 4), 4)
        except written_scripts.Wrong as wrong:
            raise written_scripts.Wrong(f"{wrong}\n{text}") from None


def main():
    program = os.path.abspath(sys.argv[1])
    missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")]
    if missing or os.geteuid() != 0:
        print("skipped:", "no " + ", ".join(missing) if missing else "Slurm's daemons are started by root here")
        return SKIPPED
    with tempfile.TemporaryDirectory() as temporary:
        slurm = Slurm(temporary)
        try:
            slurm.start_all()
            prove(slurm, program, pathlib.Path(temporary))
        except Skipped as why:
            print("skipped:", why)
            return SKIPPED
        except written_scripts.Wrong as wrong:
            print("wrong:", wrong)
            return 1
        finally:
            slurm.stop()
    print(f"{len(JOBS)} scripts start what their heading says under Slurm; two trainings are seen")
    return 0


if __name__ == "__main__":
    sys.exit(main())
