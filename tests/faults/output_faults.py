#!/usr/bin/env python3
"""Whether every output is there whole or as before when files or devices fail: a full disk, a folder that cannot be written, a reader that
goes away, a signal at any moment, two processes at once; and whether outputs are the same to the byte wherever the program runs.

Usage: output_faults.py BINARY ROOT. What needs a file system of its own is left out, and said, where user namespaces are not allowed.
"""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile

BINARY, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
QUESTION = ["predict", "--model", "mnist_net", "--cluster", "star-1gpu", "--gpus", "1,2"]
# One output of each kind that a command writes.
WRITERS = {"-o": [*QUESTION, "--format", "json", "-o"], "--html": [*QUESTION, "--html"], "--trace": [*QUESTION, "--trace"],
           "model": ["model", "show", "mnist_net", "-o"],
           "collective": ["collective", "--cluster", "dgx-a100", "--op", "all_reduce", "--gpus", "8", "--svg"]}
OLD = "an old file\n"
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def run(arguments, folder, **more):
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **more}
    environment = {**os.environ, "FORETRAIN_PATH": str(ROOT), **more.pop("environment", {})}
    return subprocess.run([BINARY, *arguments], cwd=folder, env=environment, **more)


def is_one_sentence(text, *words):
    lines = text.decode(errors="replace").splitlines()
    return len(lines) == 1 and lines[0].startswith("error: ") and all(word in lines[0] for word in words)


def in_own_mount(setup, commands):
    """Runs shell commands where `setup` has mounted something; None where that is not allowed."""
    enter = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    if not shutil.which("unshare") or subprocess.run([*enter, "true"], capture_output=True).returncode != 0:
        return None
    with tempfile.TemporaryDirectory() as folder:
        if subprocess.run([*enter, "sh", "-c", setup], cwd=folder, capture_output=True).returncode != 0:
            return None
        return subprocess.run([*enter, "sh", "-c", f"{setup}; {commands}"], cwd=folder, capture_output=True,
                              env={**os.environ, "FORETRAIN_PATH": str(ROOT)})


def quoted(words):
    return " ".join("'" + word + "'" for word in words)


def full_or_read_only():
    """Old file, program, its code, what is in the folder afterwards: as one transcript."""
    full = "mkdir -p there && mount -t tmpfs -o size=16k none there && printf 'an old file\\n' >there/out && head -c 12288 /dev/zero >there/fill"
    sealed = "mkdir -p there && mount -t tmpfs none there && printf 'an old file\\n' >there/out && mount -o remount,ro there"
    for setup, cause in ((full, "No space left on device"), (sealed, "Read-only file system")):
        script = "".join(f"{quoted([BINARY, *command, 'there/out'])} >/dev/null; echo \"{name} $? $(cat there/out) $(ls there | tr '\\n' ' ')\";"
                         for name, command in WRITERS.items())
        ran = in_own_mount(setup, script)
        if ran is None:
            print("left out, no mount of one's own is allowed here:", cause)
            continue
        listing = "fill out" if setup is full else "out"
        expected = [f"{name} 3 an old file {listing} " for name in WRITERS]
        check(ran.stdout.decode().splitlines() == expected, f"{cause}: {ran.stdout.decode()}")
        said = ran.stderr.decode().splitlines()
        check(len(said) == len(WRITERS) and all(line.startswith("error: ") and cause in line for line in said), f"{cause}: {said}")


def devices_and_closed_ends(folder):
    for command in WRITERS.values():
        ran = run([*command, "/dev/full"], folder)
        check(ran.returncode == 3 and is_one_sentence(ran.stderr, "/dev/full", "No space left on device"), f"/dev/full: {command} {ran}")
    with open("/dev/full", "w") as full:
        ran = run(QUESTION, folder, stdout=full)
        check(ran.returncode == 3 and is_one_sentence(ran.stderr, "standard output"), f"standard output on a full device: {ran}")
    for closed in (0, 1, 2):
        (folder / "out").write_text(OLD)
        ran = run([*WRITERS["-o"], "out"], folder, preexec_fn=lambda: os.close(closed))
        check(ran.returncode == 0 and (folder / "out").read_text().startswith("{"), f"number {closed} closed: {ran}")


def reader_goes_away(folder):
    for command in (["reference", "commands"], ["list", "models"], [*QUESTION, "--format", "json"]):
        process = subprocess.Popen([BINARY, *command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**os.environ, "FORETRAIN_PATH": str(ROOT)}, restore_signals=True)
        process.stdout.close()
        said = process.stderr.read()
        process.stderr.close()
        check(process.wait() in (-signal.SIGPIPE, 0) and said == b"", f"no reader: {command} {process.returncode} {said}")


def signals_at_any_moment(folder):
    """Each of two outputs is the old one or the new one, and nothing else is left behind; what the shell makes of it is 130, 143, 129."""
    command = [*QUESTION, "--format", "json", "-o", "out", "--html", "page"]
    run(command, folder)
    new = {name: (folder / name).read_bytes() for name in ("out", "page")}
    draw = random.Random(23)
    for i in range(12):
        for name in new:
            (folder / name).write_text(OLD)
        sent = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[i % 3]
        process = subprocess.Popen([BINARY, *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env={**os.environ, "FORETRAIN_PATH": str(ROOT)})
        try:
            process.wait(draw.uniform(0.005, 0.12))
        except subprocess.TimeoutExpired:
            process.send_signal(sent)
        said = process.stderr.read()
        process.stderr.close()
        code = process.wait()
        check(code in (0, -sent), f"signal {sent}: ended with {code}: {said}")
        check(code == 0 or said == b"" or is_one_sentence(said, "interrupted"), f"signal {sent}: {said}")
        for name, whole in new.items():
            check((folder / name).read_bytes() in (OLD.encode(), whole), f"signal {sent}: {name} is neither the old nor the new one")
        check(sorted(os.listdir(folder)) == ["out", "page"], f"signal {sent}: {os.listdir(folder)}")


def two_at_once(folder):
    questions = [["predict", "--model", "mnist_net", "--cluster", "star-1gpu", "--gpus", "1,2", "--batch", str(16 * (i + 1)), "--format", "json"]
                 for i in range(4)]
    alone = {run(question, folder).stdout for question in questions}
    check(len(alone) == len(questions), "the questions have four answers")
    processes = [subprocess.Popen([BINARY, *question, "-o", "out"], cwd=folder, stderr=subprocess.PIPE,
                                  env={**os.environ, "FORETRAIN_PATH": str(ROOT)}) for question in questions]
    for process in processes:
        said = process.communicate()[1]
        check(process.returncode == 0, f"one of four at once: {said}")
    check((folder / "out").read_bytes() in alone, "one output of four processes is none of theirs")
    check(os.listdir(folder) == ["out"], f"four at once left {os.listdir(folder)}")


def german(folder):
    """Environment of a locale whose numbers have commas, made here; None where that cannot be done."""
    if not shutil.which("localedef"):
        return None
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", "./de_DE.UTF-8"], cwd=folder, capture_output=True)
    return {"LOCPATH": str(folder), "LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"} if made.returncode == 0 else None


def same_everywhere(folder, locales):
    commands = [[*QUESTION, "--format", kind] for kind in ("json", "table")]
    commands += [["collective", "--cluster", "dgx-a100", "--op", "all_reduce", "--gpus", "16", "--sizes", "1M"], ["model", "show", "resnet50"],
                 ["topology", "show", "puhti"], ["list", "models"]]
    elsewhere = folder / "ein Ordner"
    elsewhere.mkdir()
    places = [({"LC_ALL": "C.UTF-8", "TZ": "Pacific/Chatham"}, folder), ({"LC_ALL": "none_such", "TZ": "UTC", "OMP_NUM_THREADS": "7"}, elsewhere),
              ({"MALLOC_PERTURB_": "165", "LC_ALL": "C"}, elsewhere)]
    comma = german(locales)
    if comma is None:
        print("left out, no German locale can be made here")
    else:
        places.append((comma, folder))
    for command in commands:
        first = run(command, folder, environment={"LC_ALL": "C"})
        check(first.returncode == 0 and first.stdout, f"{command} {first.stderr}")
        for environment, where in places:
            again = run(command, where, environment=environment)
            check((again.returncode, again.stdout, again.stderr) == (first.returncode, first.stdout, first.stderr), f"{environment}: {command} differs")


def main():
    full_or_read_only()
    for test in (devices_and_closed_ends, reader_goes_away, signals_at_any_moment, two_at_once):
        with tempfile.TemporaryDirectory() as folder:
            test(pathlib.Path(folder))
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as locales:
        same_everywhere(pathlib.Path(folder), pathlib.Path(locales))
    print("failed:", len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
