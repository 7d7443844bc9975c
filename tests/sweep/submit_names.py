#!/usr/bin/env python3
# Writes scripts of sweeps with hostile names for every engine and proves that the names stay names.
"""Usage: submit_names.py FORETRAIN

Each script is read as its engine reads it, and what it starts is a stub that writes its arguments down: they must be
the shard's, byte for byte, and no command that stands in a name may have run. Names with control characters must be
refused with one sentence. Kubernetes' YAML is read with PyYAML where that is there.
"""
import json
import os
import re
import stat
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    yaml = None

SWEEP = 'scenario = "workshop-mnist-ddp"\n[axes]\nbatch = [32, 64, 128]\ngpus = [1, 2]\n'
NAMES = ["plain", "two words", "it's", 'a "quoted" one', "$(touch PWNED)", "`touch PWNED`", "; touch PWNED #",
         "a && touch PWNED", "$HOME", "${HOME}", "$$(touch PWNED)", "$(HOME)", "$(part)", "{cc}", "{{cc}}", "%a-%j",
         "#SBATCH --partition=gold", "back\\slash", "ends with \\", "-x", "--help", "*", "~", "!x", "é 漢字 \U0001f680",
         "\ufeffmark", "a: b", "- a", "'; touch PWNED; '", '", "touch PWNED", "', "]", "}", "<PWNED", ">PWNED", "|touch PWNED",
         "a=b", "&x", "*x", "@x", "'", '"', "''", "\u00a0", "%", "$ENV(HOME)", "$F(x)", "$", "a$"]
REFUSED = ["q\ntouch PWNED\n#", "a\rb", "a\tb", "a\x1b[31m", "a\u2028b", "a\u202eb", "a\x7fb", "a\u0085b"]
# What HTCondor and Flux have no quoting for.
CANNOT_QUOTE = {"htcondor": "$", "flux": "{}", "slurm": "", "kubernetes": ""}
STUB = "#!/bin/sh\nprintf '%s\\0' \"$@\" > \"$ARGUMENTS\"\n"
# As `flux submit --cc` starts its jobs, of which this is the second.
FLUX = """#!/bin/sh
test "$1" = submit || exit 1
while test "$1" != sh; do shift; done
FLUX_JOB_CC=2 exec "$@"
"""
CONDOR_KEYS = {"executable", "transfer_executable", "should_transfer_files", "initialdir", "getenv", "arguments", "output",
               "error", "log", "request_cpus", "request_memory", "max_retries", "+MaxRuntime"}


def fail(*said):
    sys.exit(" ".join(str(word) for word in said))


def write_program(path, text):
    with open(path, "w") as out:
        out.write(text)
    os.chmod(path, stat.S_IRWXU)


def started(command, **variables):
    """What the stub was started with."""
    if os.path.exists("arguments"):
        os.remove("arguments")
    environment = dict(os.environ, PATH=os.path.abspath("bin") + ":" + os.environ["PATH"],
                       ARGUMENTS=os.path.abspath("arguments"), HOME="/PWNED", **variables)
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        fail(command, "ended with", done.returncode, done.stderr)
    with open("arguments") as said:
        return said.read().split("\0")[:-1]


def kubernetes_text(text, variables):
    """What Kubernetes makes of a text of `command` (k8s.io/kubernetes/third_party/forked/golang/expansion)."""
    out, at = "", 0
    while at < len(text):
        if text[at] != "$" or at + 1 == len(text):
            out, at = out + text[at], at + 1
        elif text[at + 1] == "$":
            out, at = out + "$", at + 2
        elif text[at + 1] == "(" and ")" in text[at:]:
            end = text.index(")", at)
            name = text[at + 2:end]
            out, at = out + variables.get(name, "$(" + name + ")"), end + 1
        else:
            out, at = out + text[at:at + 2], at + 2
    return out


def of_slurm(script, _names):
    return started(["bash", script], SLURM_ARRAY_TASK_ID="2")


def of_flux(script, _names):
    return started(["sh", script])


def of_kubernetes(script, names):
    if yaml is None:
        return None
    with open(script) as text:
        job = yaml.safe_load(text)
    pod = job["spec"]["template"]["spec"]
    container = pod["containers"][0]
    if container["image"] != names["image"] or pod["volumes"][0]["persistentVolumeClaim"]["claimName"] != names["claim"]:
        fail("another image or claim than", names, container)
    if not re.fullmatch("[a-z0-9]([-a-z0-9]*[a-z0-9])?", job["metadata"]["name"]) or len(job["metadata"]["name"]) > 63:
        fail("no name for a job:", job["metadata"]["name"])
    command = [kubernetes_text(word, {"HOME": "touch PWNED", "part": "PWNED"}) for word in container["command"]]
    if len(command) != 3 or command[:2] != ["sh", "-c"]:
        fail("another command:", command)
    return started(["sh", "-c", command[2].replace("cd /sweep &&", "", 1)], JOB_COMPLETION_INDEX="1")


def condor_words(text):
    """HTCondor's new syntax of arguments, after its macros."""
    if not (text.startswith('"') and text.endswith('"')):
        fail("arguments without quotes:", text)
    inside = text[1:-1]
    if re.search('(?<!")(?:"")*"(?!")', inside):
        fail("a quote ends the arguments:", text)
    inside = inside.replace('""', '"')
    words, word, at, quoted, begun = [], "", 0, False, False
    while at < len(inside):
        c = inside[at]
        if c == "'" and quoted and inside[at + 1:at + 2] == "'":
            word, at = word + "'", at + 1
        elif c == "'":
            quoted, begun = not quoted, True
        elif c == " " and not quoted:
            if begun:
                words.append(word)
            word, begun = "", False
        else:
            word, begun = word + c, True
        at += 1
    return words + [word] if begun else words


def of_htcondor(script, _names):
    with open(script) as text:
        lines = text.read().split("\n")
    arguments = None
    for line in lines:
        key = line.split(" = ")[0]
        if not line or line.startswith("#") or re.fullmatch(r"queue part from seq 1 3 \|", line):
            continue
        if key not in CONDOR_KEYS:
            fail("a line of another kind:", line)
        if key == "arguments":
            arguments = line[len("arguments = "):]
        macros = re.findall(r"\$[^ ]*", line.replace("$(part)", ""))
        if macros and line != "initialdir = $ENV(PWD)":
            fail("a macro:", line)
    return condor_words(arguments.replace("$(part)", "2"))


ENGINES = {"slurm": of_slurm, "flux": of_flux, "kubernetes": of_kubernetes, "htcondor": of_htcondor}


def submit(program, engine, file, database, names):
    options = ["--image", names["image"], "--claim", names["claim"]] if engine == "kubernetes" else []
    if os.path.exists("script"):
        os.remove("script")
    path = "./" + file if file.startswith("-") else file
    # With the stub on its path: where there is no foretrain, scripts start the program by its own path.
    there = dict(os.environ, PATH=os.path.abspath("bin") + ":" + os.environ["PATH"])
    return subprocess.run([program, "sweep", "submit", "--" + engine, "--shards", "3", "-j", "2", "-o", "script",
                           "--db=" + database, *options, path], env=there, capture_output=True, text=True)


def expected(file, database):
    dashed = lambda name: "./" + name if name.startswith("-") else name
    return ["sweep", "run", dashed(file), "--db", dashed(database) + "-2.sqlite", "--shard", "2/3", "-j", "2"]


def check_refused(said, sentence, name):
    if said.returncode != 1 or sentence not in said.stderr or os.path.exists("script"):
        fail(repr(name), "is not refused in one sentence:", said.returncode, said.stderr)
    if any(ord(c) < 32 and c != "\n" for c in said.stderr):
        fail("the sentence holds control characters:", repr(said.stderr))


def main():
    program, counts = os.path.abspath(sys.argv[1]), {"written": 0, "refused": 0}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.mkdir("bin")
        write_program("bin/foretrain", STUB)
        write_program("bin/flux", FLUX)
        for name in NAMES + REFUSED:
            file = name + ".toml"
            with open(file, "w") as out:
                out.write(SWEEP)
            for engine, read in ENGINES.items():
                names = {"image": name, "claim": name}
                said = submit(program, engine, file, name, names)
                if name in REFUSED:
                    check_refused(said, "line break or another control character", name)
                elif set(name) & set(CANNOT_QUOTE[engine]):
                    check_refused(said, "in it, where", name)
                elif said.returncode != 0:
                    fail(engine, repr(name), said.stderr)
                counts["refused" if said.returncode else "written"] += 1
                if said.returncode == 0:
                    arguments = read("script", names)
                    if arguments is not None and arguments != expected(file, name):
                        fail(engine, repr(name), "starts", arguments)
                if "PWNED" in os.listdir("."):
                    fail(engine, repr(name), "ran a command that stands in the name")
        os.chdir("/")
    print(json.dumps(dict(counts, read_yaml=yaml is not None)))


if __name__ == "__main__":
    main()
