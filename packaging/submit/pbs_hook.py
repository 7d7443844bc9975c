"""foretrain's hook for OpenPBS and PBS Professional (event queuejob): what is wrong with a job, before it waits.

Install, as PBS's manager:
  qmgr -c "create hook foretrain event=queuejob"
  qmgr -c "import hook foretrain application/x-python default pbs_hook.py"

PBS shows a user nothing of a hook that accepts. The lines therefore go to the server's log; with REFUSE a job that would not start is rejected,
and then qsub shows them. Sites that want the lines at every submission link submit_wrapper as qsub. The script is read where qsub was called, if
the server sees that folder; else the hook is silent. Test: tests/jobs/submit_filters.py.
"""
import os
import re
import shlex
import subprocess

PROGRAM = "foretrain"
CLUSTER = ""      # the site's cluster in foretrain's catalog, or a file; "": as the script says
REFUSE = False    # True: a job that would not start is rejected
SECONDS = 1


def script_of(arguments, folder):
    """The file among qsub's arguments, which PBS keeps in XML: the last word that is one."""
    words = re.findall(r"<jsdl-hpcpa:Argument>(.*?)</jsdl-hpcpa:Argument>", arguments) or shlex.split(arguments)
    for word in reversed(words):
        path = os.path.join(folder or "", word)
        if os.path.isfile(path):
            return path
    return None


def lines_about(script):
    """At most three lines, and whether the job would start."""
    command = [PROGRAM, "job", "check", script, "--brief"] + (["--cluster", CLUSTER] if CLUSTER else [])
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=SECONDS,
                              universal_newlines=True, check=False)
    except (OSError, subprocess.SubprocessError, UnicodeError):
        return [], True
    lines = [line for line in done.stdout.splitlines() if line.startswith("foretrain: ")][:3]
    return lines, not (lines and done.returncode == 1)


def run(pbs):
    event = pbs.event()
    job = event.job
    variables = {}
    for pair in str(job.Variable_List or "").split(","):
        name, _, value = pair.partition("=")
        variables[name] = value
    try:
        script = script_of(str(job.Submit_arguments or ""), variables.get("PBS_O_WORKDIR", ""))
    except ValueError:
        script = None
    if script is None:
        return event.accept()
    lines, starts = lines_about(script)
    if REFUSE and not starts:
        return event.reject("\n".join(lines))
    for line in lines:
        pbs.logmsg(pbs.LOG_DEBUG, line)
    return event.accept()


try:
    import pbs as _pbs
except ImportError:  # a test, not PBS
    _pbs = None
if _pbs is not None:
    run(_pbs)
