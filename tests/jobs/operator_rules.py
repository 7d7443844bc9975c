# What Kubernetes' API and the operators of Kubeflow refuse of the objects that foretrain writes.
"""The rules, by project and file:

kubernetes/kubernetes, pkg/apis/batch/validation/validation.go, pkg/apis/core/validation/validation.go: Job, pods, names.
kubeflow/training-operator, pkg/apis/kubeflow.org/v1/pytorch_types.go and pytorch_validation.go: nprocPerNode is a string, a container is called pytorch, one
master; tensorflow_validation.go: a container is called tensorflow.
kubeflow/mpi-operator, pkg/apis/kubeflow/validation/validation.go (v2beta1): slotsPerWorker, one launcher, the longest pod's name.
"""
import re

LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?\Z")
QUANTITY = re.compile(r"[0-9]+(\.[0-9]+)?(m|k|Ki|Mi|Gi|Ti|M|G|T)?\Z")
RESTARTS = {"Always", "OnFailure", "Never", "ExitCode"}


class Rules:
    def __init__(self):
        self.mistakes = []

    def need(self, is_right, what):
        if not is_right:
            self.mistakes.append(what)

    def only(self, where, value, allowed):
        self.need(isinstance(value, dict), f"{where} is no map")
        for key in value if isinstance(value, dict) else []:
            self.need(key in allowed, f"{where}: unknown field {key}")

    def container(self, where, value):
        self.only(where, value, {"name", "image", "command", "args", "env", "resources", "volumeMounts"})
        self.need(isinstance(value.get("name"), str) and LABEL.match(value["name"]), f"{where}: name")
        self.need(isinstance(value.get("image"), str) and value["image"], f"{where}: image")
        words = value.get("command", [])
        self.need(isinstance(words, list) and all(isinstance(word, str) for word in words), f"{where}: command is no list of strings")
        for amount in value.get("resources", {}).get("limits", {}).values():
            is_number = isinstance(amount, int) and not isinstance(amount, bool)
            self.need(is_number or (isinstance(amount, str) and QUANTITY.match(amount)), f"{where}: {amount} is no quantity")

    def pod(self, where, spec, restarts):
        self.only(where, spec, {"containers", "volumes", "restartPolicy"})
        self.need(spec.get("restartPolicy", "Always") in restarts, f"{where}: restartPolicy")
        self.need(spec.get("containers"), f"{where}: no containers")
        volumes = {volume["name"] for volume in spec.get("volumes", [])}
        for container in spec.get("containers", []):
            self.container(where, container)
            for mount in container.get("volumeMounts", []):
                self.need(mount["name"] in volumes, f"{where}: no volume {mount['name']}")

    def replicas(self, where, value, roles, needed, container):
        self.only(where, value, roles)
        for role in needed:
            self.need(role in value, f"{where}: no {role}")
        for role, group in value.items():
            self.only(f"{where}/{role}", group, {"replicas", "restartPolicy", "template"})
            self.need(type(group.get("replicas")) is int and group["replicas"] >= 1, f"{role}: replicas")
            self.need(group.get("restartPolicy", "Never") in RESTARTS, f"{role}: restartPolicy")
            spec = group.get("template", {}).get("spec", {})
            self.pod(f"{where}/{role}", spec, {"Always", "OnFailure", "Never"})
            names = [one.get("name") for one in spec.get("containers", [])]
            self.need(container is None or container in names, f"there is no container named {container} in {role}")

    def policy(self, spec):
        self.only("runPolicy", spec.get("runPolicy", {}), {"activeDeadlineSeconds", "cleanPodPolicy", "backoffLimit", "ttlSecondsAfterFinished"})
        seconds = spec.get("runPolicy", {}).get("activeDeadlineSeconds", 1)
        self.need(type(seconds) is int and seconds > 0, "activeDeadlineSeconds is no number of seconds")


def mistakes_of(thing):
    """What the API server or an operator would say of an object; empty: it is taken."""
    rules = Rules()
    rules.only("the object", thing, {"apiVersion", "kind", "metadata", "spec"})
    kind, spec, name = thing.get("kind"), thing.get("spec", {}), thing.get("metadata", {}).get("name")
    rules.need(isinstance(name, str) and LABEL.match(name or "") and len(name) <= 55, f"metadata.name {name!r} is no label of DNS")
    if kind == "Job":
        rules.need(thing.get("apiVersion") == "batch/v1", "apiVersion")
        rules.only("spec", spec, {"activeDeadlineSeconds", "backoffLimit", "template", "parallelism", "completions"})
        rules.need(type(spec.get("activeDeadlineSeconds", 1)) is int, "activeDeadlineSeconds")
        rules.need(type(spec.get("backoffLimit", 0)) is int, "backoffLimit")
        rules.pod("template", spec.get("template", {}).get("spec", {}), {"OnFailure", "Never"})
    elif kind == "PyTorchJob":
        rules.need(thing.get("apiVersion") == "kubeflow.org/v1", "apiVersion")
        rules.only("spec", spec, {"runPolicy", "nprocPerNode", "pytorchReplicaSpecs"})
        rules.need(isinstance(spec.get("nprocPerNode", ""), str), "spec.nprocPerNode must be of type string")
        rules.replicas("pytorchReplicaSpecs", spec.get("pytorchReplicaSpecs"), {"Master", "Worker"}, ["Master"], "pytorch")
        rules.need(spec.get("pytorchReplicaSpecs", {}).get("Master", {}).get("replicas") == 1, "there must be only 1 master replica")
    elif kind == "TFJob":
        rules.need(thing.get("apiVersion") == "kubeflow.org/v1", "apiVersion")
        rules.only("spec", spec, {"runPolicy", "tfReplicaSpecs"})
        rules.replicas("tfReplicaSpecs", spec.get("tfReplicaSpecs"), {"Chief", "Master", "Worker", "PS", "Evaluator"}, [], "tensorflow")
    elif kind == "MPIJob":
        rules.need(thing.get("apiVersion") == "kubeflow.org/v2beta1", "apiVersion")
        rules.only("spec", spec, {"runPolicy", "slotsPerWorker", "mpiReplicaSpecs"})
        rules.need(type(spec.get("slotsPerWorker")) is int and spec["slotsPerWorker"] >= 0, "slotsPerWorker")
        rules.replicas("mpiReplicaSpecs", spec.get("mpiReplicaSpecs"), {"Launcher", "Worker"}, ["Launcher"], None)
        rules.need(spec.get("mpiReplicaSpecs", {}).get("Launcher", {}).get("replicas") == 1, "Launcher: replicas must be 1")
    else:
        rules.need(False, f"kind {kind} is not known")
    rules.policy(spec)
    return rules.mistakes
