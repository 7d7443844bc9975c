#!/usr/bin/env python3
# Submits jobs through foretrain's filters: what they print, that they refuse nothing unless told to, and that they hold up no job.
"""Usage: submit_filters.py FORETRAIN. Slurm's filter runs in the real sbatch, where Debian's Slurm is installed (its client needs no controller to
run a filter, and a controller is started where it can be); the wrapper, Torque's filter and the PBS hook run with stubs of what they submit to.
"""
import contextlib
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import real_slurm

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUBMIT = ROOT / "packaging" / "submit"
IDLE = "#!/bin/bash\n#SBATCH --gres=gpu:4\n#SBATCH --cpus-per-task=32\nsrun torchrun --nproc_per_node=2 train.py\n"
IDLE_PBS = "#!/bin/bash\n#PBS -l select=1:ncpus=32:ngpus=4\ntorchrun --nproc_per_node=2 train.py\n"
REFUSED = "#!/bin/bash\n#SBATCH --gres=gpu:4\n#SBATCH --cpus-per-task=32\nsrun torchrun --nproc_per_node=8 train.py\n"
GOOD = IDLE.replace("node=2", "node=4")
NO_GPU = "#!/bin/bash\n#SBATCH --ntasks=4\nsrun ./solver\n"
PATIENCE = "20"
IDLES = "2 of 4 GPUs on a node will idle"
checks = 0


def need(right, what):
    global checks
    checks += 1
    if not right:
        raise SystemExit(f"submit_filters: {what}")


class Playground:
    """A folder with the jobs, and a bin/ with foretrain and what is submitted to."""

    def __init__(self, folder, foretrain):
        self.folder, self.bin = folder, folder / "bin"
        self.bin.mkdir()
        (self.bin / "foretrain").symlink_to(foretrain)
        for name, text in {"idle": IDLE, "idle_pbs": IDLE_PBS, "refused": REFUSED, "good": GOOD, "no_gpu": NO_GPU}.items():
            (folder / f"{name}.sh").write_text(text)
        # A busy machine may need more than a filter's second.
        self.environment = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "FORETRAIN_PATH": str(ROOT), "FORETRAIN_SECONDS": PATIENCE}

    def replace_foretrain(self, text):
        (self.bin / "foretrain").unlink()
        if text:
            (self.bin / "foretrain").write_text(text)
            (self.bin / "foretrain").chmod(0o755)

    def run(self, *words, more=None, **given):
        begin = time.monotonic()
        done = subprocess.run(words, cwd=self.folder, env={**self.environment, **(more or {})}, capture_output=True, text=True, timeout=60, check=False,
                              **given)
        return done, time.monotonic() - begin


def said(text):
    return [line[line.index("foretrain: "):] for line in text.splitlines() if "foretrain: " in line]


@contextlib.contextmanager
def playground(foretrain):
    with tempfile.TemporaryDirectory(prefix="foretrain-submit-") as folder:
        yield Playground(pathlib.Path(folder).resolve(), foretrain)


def check_wrapper(foretrain):
    with playground(foretrain) as place:
        real = place.folder / "real"
        real.mkdir()
        for name in ("sbatch", "qsub", "condor_submit"):
            (real / name).write_text('#!/bin/bash\nprintf "%s|" submitted "$@"\n')
            (real / name).chmod(0o755)
            (place.bin / name).symlink_to(SUBMIT / "submit_wrapper")
        place.environment["PATH"] = f"{place.bin}:{real}:{os.environ['PATH']}"
        done, _ = place.run("sbatch", "-o", "a b.log", "idle.sh", "x")
        need(done.stdout == "submitted|-o|a b.log|idle.sh|x|", f"the wrapper changed the job: {done.stdout}")
        need(len(said(done.stderr)) == 1 and IDLES in done.stderr, f"the wrapper says: {done.stderr}")
        need(not said(place.run("sbatch", "--gres=gpu:2", "idle.sh")[0].stderr), "options of the line do not come before the script's")
        need(IDLES in place.run("qsub", "idle_pbs.sh")[0].stderr, "the wrapper is silent as qsub")
        for quiet in ("good.sh", "no_gpu.sh"):
            need(not place.run("sbatch", quiet)[0].stderr, f"{quiet} is spoken of")
        done, _ = place.run("sbatch", "refused.sh")
        need(done.returncode == 0 and done.stdout.startswith("submitted") and "NCCL refuses" in done.stderr, "an error keeps a job from being submitted")
        done, _ = place.run("sbatch", "refused.sh", more={"FORETRAIN_REFUSE": "1"})
        need(done.returncode == 1 and not done.stdout, "FORETRAIN_REFUSE does not refuse")
        need(place.run("sbatch", "idle.sh", more={"FORETRAIN_REFUSE": "1"})[0].stdout.startswith("submitted"), "a warning refuses")
        need(not place.run("sbatch", "idle.sh", more={"FORETRAIN_SUBMIT": "off"})[0].stderr, "FORETRAIN_SUBMIT=off speaks")
        check_bad_programs(place, lambda: place.run("sbatch", "idle.sh"), lambda done: done.stdout.startswith("submitted"))


def check_bad_programs(place, submit, is_submitted):
    """One that hangs, one that talks without end, one that crashes, and none."""
    place.environment.pop("FORETRAIN_SECONDS", None)
    for text in ("#!/bin/sh\nexec sleep 60\n", "#!/bin/sh\nyes 'foretrain: x' | head -n 100\nexit 1\n", "#!/bin/sh\nkill -SEGV $$\n", ""):
        place.replace_foretrain(text)
        done, seconds = submit()
        need(is_submitted(done), f"a bad program keeps a job from being submitted: {done.stderr}")
        need(len(said(done.stderr)) <= 3, f"more than three lines: {done.stderr}")
        need(seconds < 10, f"a bad program holds a job up for {seconds:.1f} s")
        need("yes" in text or not said(done.stderr), f"a bad program speaks: {done.stderr}")


def check_torque(foretrain):
    with playground(foretrain) as place:
        filter_ = str(SUBMIT / "torque_submit_filter")
        done, _ = place.run(filter_, input=IDLE_PBS)
        need(done.stdout == IDLE_PBS and IDLES in done.stderr, f"Torque's filter: {done.stdout}{done.stderr}")
        refused = REFUSED.replace("#SBATCH --gres=gpu:4\n#SBATCH --cpus-per-task=32", "#PBS -l select=1:ncpus=32:ngpus=4")
        need(place.run(filter_, input=refused)[0].returncode == 0, "Torque's filter refuses")
        need(place.run(filter_, input=refused, more={"FORETRAIN_REFUSE": "1"})[0].returncode == 255, "Torque's filter does not refuse")
        check_bad_programs(place, lambda: place.run(filter_, input=IDLE_PBS), lambda done: done.stdout == IDLE_PBS)


class StubPbs:
    LOG_DEBUG = 0

    def __init__(self, arguments, folder):
        self.log, self.answer = [], None
        self.job = type("Job", (), {"Submit_arguments": arguments, "Variable_List": f"PBS_O_HOST=a,PBS_O_WORKDIR={folder}"})()

    def event(self):
        return self

    def accept(self):
        self.answer = "accepted"

    def reject(self, why):
        self.answer = f"rejected: {why}"

    def logmsg(self, _, line):
        self.log.append(line)


def check_pbs(foretrain):
    spec = importlib.util.spec_from_file_location("pbs_hook", SUBMIT / "pbs_hook.py")
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    os.environ["FORETRAIN_PATH"] = str(ROOT)
    with playground(foretrain) as place:
        (place.folder / "refused.sh").write_text(IDLE_PBS.replace("node=2", "node=8"))
        hook.PROGRAM, hook.SECONDS = foretrain, int(PATIENCE)

        def run(arguments):
            pbs = StubPbs(arguments, place.folder)
            hook.run(pbs)
            return pbs

        need(IDLES in "".join(run("-q gpu idle_pbs.sh").log), "the PBS hook says nothing")
        need(IDLES in "".join(run("<jsdl-hpcpa:Argument>idle_pbs.sh</jsdl-hpcpa:Argument>").log), "the PBS hook does not read XML")
        need(run("refused.sh").answer == "accepted", "the PBS hook refuses")
        for nothing in ("", "missing.sh", "'broken"):
            need(run(nothing).answer == "accepted" and not run(nothing).log, f"the PBS hook speaks of {nothing}")
        hook.REFUSE = True
        need(run("refused.sh").answer.startswith("rejected: foretrain: error: "), "the PBS hook does not refuse")
        need(run("idle_pbs.sh").answer == "accepted", "a warning refuses")
        hook.PROGRAM = str(place.folder / "missing")
        need(run("refused.sh").answer == "accepted", "without foretrain the PBS hook refuses")


def filter_in(folder, foretrain, **settings):
    text = (SUBMIT / "cli_filter.lua").read_text()
    for name, value in {"program": f'"{foretrain}"', **settings}.items():
        text, count = re.subn(rf"^  {name} = [^,]*,", lambda _, n=name, v=value: f"  {n} = {v},", text, flags=re.M)
        need(count == 1, f"the filter has no setting {name}")
    (folder / "cli_filter.lua").write_text(text)


def has_lua_filter():
    if shutil.which("sbatch") is None:
        return False
    return any(pathlib.Path("/usr/lib").glob("*/slurm*/cli_filter_lua.so"))


def check_slurm_client(foretrain):
    """Without a controller: the filter runs, then sbatch does not know what a GPU is, and would ask nobody."""
    with playground(foretrain) as place:
        (place.folder / "slurm.conf").write_text("ClusterName=t\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort=1\nCliFilterPlugins=lua\n"
                                                 "NodeName=n1 CPUs=4\nPartitionName=p Nodes=ALL Default=YES\n")
        (place.folder / "cli_filter.lua").write_text("")
        place.environment["SLURM_CONF"] = str(place.folder / "slurm.conf")

        def submit(*words, **settings):
            filter_in(place.folder, place.bin / "foretrain", **{"seconds": PATIENCE, **settings})
            return place.run("timeout", "2", "sbatch", *words)[0].stderr

        need(len(said(submit("idle.sh"))) == 1 and IDLES in submit("idle.sh"), f"Slurm's filter: {submit('idle.sh')}")
        need(not said(submit("good.sh")) and not said(submit("no_gpu.sh")), "Slurm's filter speaks of a good job")
        need(not said(submit("--gres=gpu:2", "idle.sh")), "options of the line do not come before the script's")
        need(not said(submit("--wrap", "hostname")), "Slurm's filter speaks of --wrap")
        (place.folder / "it's; a $(script).sh").write_text(IDLE)
        need(IDLES in submit("it's; a $(script).sh"), "a name with signs of the shell")
        need("NCCL refuses" in submit("refused.sh"), "Slurm's filter says no error")
        filter_in(place.folder, place.bin / "foretrain")
        check_bad_programs(place, lambda: place.run("timeout", "20", "sbatch", "idle.sh"), lambda done: "generic resource" in done.stderr)


def check_slurm_server(foretrain):
    with playground(foretrain) as place:
        slurm = real_slurm.Slurm(place.folder)
        try:
            slurm.start_all()
            place.environment.update(slurm.environment, PATH=place.environment["PATH"])
            with open(place.folder / "slurm.conf", "a") as conf:
                conf.write("CliFilterPlugins=lua\n")
            filter_in(place.folder, foretrain, seconds=PATIENCE)
            done, _ = place.run("sbatch", "idle.sh")
            need("Submitted batch job" in done.stdout and IDLES in done.stderr, f"a real Slurm: {done.stdout}{done.stderr}")
            need("Submitted batch job" in place.run("sbatch", "refused.sh")[0].stdout, "an error keeps a job from being submitted")
            filter_in(place.folder, foretrain, refuse="true", seconds=PATIENCE)
            done, _ = place.run("sbatch", "refused.sh")
            need(done.returncode != 0 and "Submitted" not in done.stdout, "the setting does not refuse")
            need("Submitted batch job" in place.run("sbatch", "idle.sh")[0].stdout, "a warning refuses")
        finally:
            slurm.stop()


def main():
    foretrain = str(pathlib.Path(sys.argv[1]).resolve())
    check_wrapper(foretrain)
    check_torque(foretrain)
    check_pbs(foretrain)
    left_out = []
    if has_lua_filter():
        check_slurm_client(foretrain)
        try:
            check_slurm_server(foretrain)
        except (real_slurm.Skipped, OSError) as why:
            left_out.append(f"no controller: {why}")
    else:
        left_out.append("Slurm's Lua filter is not installed")
    print(f"{checks} checks" + "".join(f"\nleft out: {why}" for why in left_out))


if __name__ == "__main__":
    main()
