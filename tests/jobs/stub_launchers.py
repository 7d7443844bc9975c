# Launchers of training jobs that start nothing but a program which writes down what it was told, by the rules of the real ones.
"""Usage: stub_launchers.py LAUNCHER ARGUMENTS…, under the names of the launchers in a folder of PATH (written_scripts.py makes it).

A machine is a name in STUB_HOST. STUB_STATE is a folder that all machines share: rendezvous and the log are in it. Sources of the rules:
torch/distributed/run.py and elastic/rendezvous (torchrun), srun(1), mpirun(1) of Open MPI 4, Cray's PALS and MPICH (mpiexec),
horovod/runner/launch.py, deepspeed/launcher/runner.py, flux-run(1) and flux-hostlist(1), tf.distribute.cluster_resolver.SlurmClusterResolver.
"""
import json
import os
import pathlib
import subprocess
import sys
import time

PATIENCE = float(os.environ.get("STUB_PATIENCE", 60))  # seconds in which all nodes of a rendezvous have to come
STATE = pathlib.Path(os.environ.get("STUB_STATE", "."))
HOST = os.environ.get("SLURMD_NODENAME", os.environ.get("STUB_HOST", ""))  # a real Slurm says where


def fail(text, code=1):
    print(f"{HOST}: {text}", file=sys.stderr)
    sys.exit(code)


def hosts():
    """The machines that names lead to."""
    return os.environ["STUB_HOSTS"].split()


def options(words, flags, with_value, pairs=()):
    """Values by name, with '-' for '_', and the rest; what is no option of the launcher is wrong usage, as it is for the real one."""
    out, i = {}, 0
    while i < len(words) and words[i].startswith("-") and words[i] != "--":
        name, equals, value = words[i].partition("=")
        name = name[:2] + name[2:].replace("_", "-") if name.startswith("--") else name
        if name in flags and not equals:
            out[name] = True
        elif name in with_value or name in pairs:
            if not equals:
                i += 1
                value = words[i] if i < len(words) else fail(f"{name} needs a value", 2)
            out.setdefault(name, []).append(value) if name in pairs else out.__setitem__(name, value)
        else:
            fail(f"unrecognized option {words[i]}", 2)
        i += 1
    rest = words[i + 1:] if i < len(words) and words[i] == "--" else words[i:]
    if not rest:
        fail("no program to start", 2)
    return out, rest


def start_all(copies):
    """Each is host, variables, command; True variables are those of a clean machine."""
    running = []
    for host, variables, command, is_clean in copies:
        if host not in hosts():
            fail(f"{host}: name or service not known")
        environment = json.loads((STATE / "clean.json").read_text()) if is_clean and host != HOST else dict(os.environ)
        environment.update({key: str(value) for key, value in variables.items()}, STUB_HOST=host)
        running.append(subprocess.Popen(command, env=environment))
    sys.exit(max(process.wait() for process in running))


def join(key, node, nodes):
    """The number of this node among those of a rendezvous, which waits for all of them."""
    folder = STATE / "rendezvous" / "".join(c if c.isalnum() else "_" for c in key)
    folder.mkdir(parents=True, exist_ok=True)
    mine = STATE / f"joining.{os.getpid()}"
    mine.write_text(HOST)
    for number in range(nodes) if node is None else [node]:
        try:
            os.link(mine, folder / str(number))  # with what it holds
            node = number
            break
        except FileExistsError:
            continue
    else:
        fail(f"the rendezvous {key} is full, or two nodes have one number")
    until = time.monotonic() + PATIENCE
    while len(list(folder.iterdir())) < nodes:
        if time.monotonic() > until:
            fail(f"rendezvous timeout: {len(list(folder.iterdir()))} of {nodes} nodes at {key}")
        time.sleep(0.01)
    return node, [(folder / str(number)).read_text() for number in range(nodes)]


def is_host(address, host):
    return address in (host, "localhost", "127.0.0.1")


def program(words, is_module):
    return ["python", "-m", *words] if is_module else ["python", *words]


def torchrun(words):
    got, rest = options(words, {"--standalone", "-m", "--module", "--no-python"},
                        {"--nnodes", "--nproc-per-node", "--rdzv-id", "--rdzv-backend", "--rdzv-endpoint", "--node-rank", "--master-addr", "--master-port",
                         "--max-restarts", "--log-dir", "--role"})
    each = int(got.get("--nproc-per-node", os.environ.get("PET_NPROC_PER_NODE", 1)))
    nodes = got.get("--nnodes", os.environ.get("PET_NNODES", "1")).split(":")[-1]
    nodes = int(nodes)
    if "--standalone" in got:
        nodes, node, key, address, port = 1, 0, f"standalone {HOST} {os.getpid()}", HOST, "29400"
    elif got.get("--rdzv-backend", "static") == "c10d":
        if not got.get("--rdzv-id", "none"):
            fail("The run id must be a non-empty string")
        address, _, port = got.get("--rdzv-endpoint", "localhost:29400").partition(":")
        key = f"{HOST if address in ('localhost', '127.0.0.1') else address} {port} {got.get('--rdzv-id', 'none')}"
        node, joined = join(key, None, nodes)
        if not any(is_host(address, host) for host in joined):
            fail(f"no node is {address}, which would hold the store")
        address = joined[0]  # the agent of rank 0 says where it is
    else:
        address = got.get("--master-addr", os.environ.get("PET_MASTER_ADDR", "127.0.0.1"))
        port = got.get("--master-port", "29500")
        key = f"static {HOST if address == '127.0.0.1' else address} {port}"
        node, joined = join(key, int(got.get("--node-rank", os.environ.get("PET_NODE_RANK", 0))), nodes)
        if not is_host(address, joined[0]):
            fail(f"node 0 is {joined[0]}, not {address}")
    first = node * each
    start_all([(HOST, {"RANK": first + local, "LOCAL_RANK": local, "WORLD_SIZE": nodes * each, "LOCAL_WORLD_SIZE": each, "MASTER_ADDR": address,
                       "MASTER_PORT": port, "STUB_WORLD": key}, program(rest, "-m" in got or "--module" in got), False) for local in range(each)])


def srun(words):
    got, rest = options(words, {"--exclusive", "--unbuffered", "-u"}, {"-n", "--ntasks", "-N", "--nodes", "--ntasks-per-node", "-c", "--cpus-per-task", "--mpi"})
    everyone = os.environ["SLURM_JOB_NODELIST"].split(",")
    nodes = int(got.get("--nodes", got.get("-N", len(everyone))))
    tasks = int(got.get("--ntasks", got.get("-n", nodes * int(got.get("--ntasks-per-node", os.environ.get("SLURM_NTASKS_PER_NODE", 1))))))
    each = -(-tasks // nodes)
    if "SRUN_CPUS_PER_TASK" not in os.environ and "--cpus-per-task" not in got and "-c" not in got and each * nodes == nodes and "torchrun" in rest:
        fail("srun gives each task one CPU: since 22.05 it does not take over --cpus-per-task")
    start_all([(everyone[task // each], {"SLURM_PROCID": task, "SLURM_LOCALID": task % each, "SLURM_NODEID": task // each, "SLURM_NTASKS": tasks,
                                         "SLURM_STEP_NODELIST": ",".join(everyone[:nodes]), "SLURM_STEP_ID": 0, "PMIX_RANK": task}, rest, False)
               for task in range(tasks)])


def slots():
    """Hosts of the job with their slots, in their order, as Open MPI finds them."""
    found = {}
    if file := os.environ.get("OMPI_MCA_orte_default_hostfile"):
        for line in pathlib.Path(file).read_text().splitlines():
            host, _, count = line.partition(" slots=")
            found[host] = int(count)
    elif "SLURM_JOB_NODELIST" in os.environ:
        found = {host: int(os.environ.get("SLURM_NTASKS_PER_NODE", 1)) for host in os.environ["SLURM_JOB_NODELIST"].split(",")}
    elif file := os.environ.get("PBS_NODEFILE") or os.environ.get("LSB_DJOB_HOSTFILE"):
        for host in pathlib.Path(file).read_text().split():
            found[host] = found.get(host, 0) + 1
    elif file := os.environ.get("PE_HOSTFILE"):
        found = {line.split()[0]: int(line.split()[1]) for line in pathlib.Path(file).read_text().splitlines()}
    return found or {HOST: 128}


def mpirun(words):
    got, rest = options(words, {"--allow-run-as-root", "--oversubscribe"}, {"-np", "-n", "-npernode", "--map-by", "--bind-to"}, {"-x"})
    if os.environ.get("STUB_ROOT") and "--allow-run-as-root" not in got:
        fail("mpirun has detected an attempt to run as root")
    have = slots()
    all_of_them = int(got.get("-np", got.get("-n", sum(have.values()))))
    if all_of_them > sum(have.values()):
        fail(f"there are not enough slots: {all_of_them} of {sum(have.values())}")
    each = {host: int(got["-npernode"]) for host in have} if "-npernode" in got else dict(have)
    if "--map-by" in got:
        _, per_node, unit = got["--map-by"].split(":")
        each = {host: int(per_node) if unit == "node" else fail("only ppr:N:node is known", 2) for host in have}
    places = [(host, local) for host in have for local in range(each[host])][:all_of_them]
    if len(places) < all_of_them:
        fail(f"{all_of_them} processes have no place on {len(places)}")
    handed_on = {name: value if equals else os.environ.get(name, "") for name, equals, value in (one.partition("=") for one in got.get("-x", []))}
    start_all([(host, {**handed_on, "OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": all_of_them, "OMPI_COMM_WORLD_LOCAL_RANK": local,
                       "STUB_MPI": f"mpirun {HOST} {os.getpid()}"}, rest, True) for rank, (host, local) in enumerate(places)])


def mpiexec(words):
    """Of Cray's PALS, as on PBS: the environment goes along."""
    got, rest = options(words, set(), {"-n", "--ppn", "--depth", "--cpu-bind"})
    everyone = list(dict.fromkeys(pathlib.Path(os.environ["PBS_NODEFILE"]).read_text().split()))
    all_of_them, each = int(got["-n"]), int(got["--ppn"])
    if all_of_them > each * len(everyone):
        fail(f"{all_of_them} ranks with {each} on each of {len(everyone)} nodes")
    start_all([(everyone[rank // each], {"PMI_RANK": rank, "PMI_SIZE": all_of_them, "PALS_RANKID": rank, "PALS_LOCAL_RANKID": rank % each,
                                         "STUB_MPI": f"mpiexec {HOST} {os.getpid()}"}, rest, False) for rank in range(all_of_them)])


def horovodrun(words):
    got, rest = options(words, {"--gloo", "--mpi", "--verbose"}, {"-np", "--num-proc", "-H", "--hosts", "--hostfile"})
    all_of_them = int(got.get("-np", got.get("--num-proc", 0)))
    listed = [one.split(":") for one in got.get("-H", got.get("--hosts", f"{HOST}:{all_of_them}")).split(",")]
    places = [(host, local) for host, count in listed for local in range(int(count))][:all_of_them]
    if len(places) < all_of_them:
        fail(f"{all_of_them} processes, but {len(places)} slots")
    start_all([(host, {"HOROVOD_RANK": rank, "HOROVOD_SIZE": all_of_them, "HOROVOD_LOCAL_RANK": local, "HOROVOD_GLOO_RENDEZVOUS_ADDR": HOST,
                       "STUB_MPI": f"horovodrun {HOST} {os.getpid()}"}, rest, False) for rank, (host, local) in enumerate(places)])


def deepspeed(words):
    """Without a host file, or when it is not there, the machine it is started on alone."""
    got, rest = options(words, {"--no-ssh", "-m", "--module"}, {"--hostfile", "-H", "--num-nodes", "--num-gpus", "--master-addr", "--master-port"})
    file = pathlib.Path(got.get("--hostfile", got.get("-H", "/job/hostfile")))
    listed = {HOST: int(got.get("--num-gpus", 1))}
    if file.is_file():
        listed = {line.split()[0]: int(line.split("slots=")[1]) for line in file.read_text().splitlines()}
    elif int(got.get("--num-nodes", 1)) > 1:
        fail("--num_nodes without a host file")
    listed = dict(list(listed.items())[:int(got.get("--num-nodes", len(listed)))])
    listed = {host: min(count, int(got.get("--num-gpus", count))) for host, count in listed.items()}
    first = next(iter(listed))
    places = [(host, local) for host, count in listed.items() for local in range(count)]
    start_all([(host, {"RANK": rank, "LOCAL_RANK": local, "WORLD_SIZE": len(places), "MASTER_ADDR": first, "MASTER_PORT": 29500,
                       "STUB_WORLD": f"deepspeed {first} {os.getpid()}"}, program(rest, "-m" in got), True) for rank, (host, local) in enumerate(places)])


def flux(words):
    everyone = os.environ["STUB_FLUX_HOSTS"].split()
    if words[:1] == ["hostlist"]:
        return print(" ".join(everyone) if "-e" in words else ",".join(everyone))
    if words[:1] != ["run"]:
        fail(f"flux {words[0]} is not known", 2)
    got, rest = options(words[1:], set(), {"-N", "-n", "-c", "-g"})
    nodes, tasks = int(got.get("-N", len(everyone))), int(got.get("-n", 1))
    each = -(-tasks // nodes)
    gpus = int(got.get("-g", 0)) * each
    if gpus > int(os.environ["STUB_GPUS"]) or int(got.get("-c", 1)) * each > int(os.environ["STUB_CORES"]):
        fail("unsatisfiable request")
    visible = ",".join(map(str, range(gpus))) if gpus else "-1"
    start_all([(everyone[task // each], {"FLUX_TASK_RANK": task, "FLUX_TASK_LOCAL_ID": task % each, "FLUX_JOB_ID": "f1", "FLUX_JOB_SIZE": tasks,
                                         "PMI_RANK": task, "PMI_SIZE": tasks, "STUB_MPI": f"flux {os.getpid()}", "CUDA_VISIBLE_DEVICES": visible,
                                         "STUB_TASK_CORES": got.get("-c", 1)}, rest, False) for task in range(tasks)])


def scontrol(words):
    if words[:2] != ["show", "hostnames"]:
        fail("only show hostnames is known", 2)
    print("\n".join(words[2].split(",")))


def met(variables):
    """Rank, size and world as the training program of a kind finds them; a world of its own where nobody tells it."""
    alone = (0, 1, f"alone {HOST} {os.getpid()}")
    number = lambda *names: next((int(variables[name]) for name in names if variables.get(name, "") != ""), None)
    kind = variables["STUB_MEETING"]
    if kind == "environment":
        if variables.get("RANK", "") == "":
            return alone
        rank, address = int(variables["RANK"]), variables["MASTER_ADDR"]
        if rank == 0 and not is_host(address, HOST):
            fail(f"rank 0 is on {HOST}, and the others look for it on {address}")
        shared = HOST if address in ("localhost", "127.0.0.1") else address
        return rank, int(variables["WORLD_SIZE"]), variables.get("STUB_WORLD", f"{shared} {variables['MASTER_PORT']}")
    if kind == "horovod":
        rank, size = number("HOROVOD_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"), number("HOROVOD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
        if rank is None and "PMIX_RANK" in variables:  # of srun, where Horovod is built with MPI
            return int(variables["PMIX_RANK"]), int(variables["SLURM_NTASKS"]), variables["SLURM_JOB_ID"]
        return alone if rank is None else (rank, size, variables["STUB_MPI"])
    if kind == "tensorflow":
        if "TF_CONFIG" in variables:
            config = json.loads(variables["TF_CONFIG"])
            return config["task"]["index"], len(config["cluster"]["worker"]), " ".join(config["cluster"]["worker"])
        if "SLURM_STEP_ID" in variables:
            return int(variables["SLURM_PROCID"]), int(variables["SLURM_NTASKS"]), variables["SLURM_JOB_ID"]
    return alone


def python(words):
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "-1":
        fail("sees no GPU")
    if words[0] != "-m" and not words[0].endswith(".py"):
        fail(f"can't open file {words[0]}", 2)
    rank, size, world = met(os.environ)
    local = next((int(os.environ[name]) for name in ("LOCAL_RANK", "HOROVOD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID", "SLURM_LOCALID",
                                                     "FLUX_TASK_LOCAL_ID") if os.environ.get(name, "") != ""), 0)
    record = {"host": HOST, "rank": rank, "size": size, "world": world, "local": local, "words": words}
    with open(STATE / "log.jsonl", "a") as log:
        log.write(json.dumps(record) + "\n")


LAUNCHERS = {one.__name__: one for one in (torchrun, srun, mpirun, mpiexec, horovodrun, deepspeed, flux, scontrol, python)}

if __name__ == "__main__":
    LAUNCHERS[sys.argv[1]](sys.argv[2:])
