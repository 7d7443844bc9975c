// Writes a plan as a Job, or as the object of Kubeflow whose operator tells the processes of each other. The
// text is made by yaml-cpp's writer.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/jobs/job_text.hpp"
#include "sim/import/jobs/job_writers.hpp"
#include "sim/import/jobs/meeting.hpp"
#include "sim/import/jobs/yaml.hpp"

namespace foretrain {

namespace {

using Entries = std::vector<std::pair<std::string, YamlNode>>;

/// Returns a list of texts.
YamlNode words_of(std::initializer_list<std::string> words) {
  std::vector<YamlNode> items;
  for (const std::string& word : words) items.push_back(yaml_string(word));
  return yaml_list(std::move(items));
}

/// Returns the container of a pod. Operators look for its name. If `line` is empty, it starts what its image
/// starts.
YamlNode container_of(const std::string& name, const std::string& line, Entries more) {
  Entries entries{{"name", yaml_string(name)}, {"image", yaml_string("<image with your framework>")}};
  if (!line.empty()) entries.emplace_back("command", words_of({"bash", "-c", line}));
  for (auto& entry : more) entries.push_back(std::move(entry));
  return yaml_map(std::move(entries));
}

/// Returns the pod of a plan with GPUs, cores and memory. /dev/shm is half of the memory, as it is on
/// machines.
Entries pod_of(const JobPlan& plan, const std::string& name, const std::string& line) {
  Entries limits{{"nvidia.com/gpu", yaml_text(std::to_string(plan.gpus_per_node))},
                 {"cpu", yaml_text(std::to_string(plan.cores_per_node))}};
  const std::int64_t memory = mebibytes(plan.memory_per_node);
  if (memory > 0) limits.emplace_back("memory", yaml_text(fmt::format("{}Mi", memory)));
  Entries shm{{"medium", yaml_text("Memory")}};
  if (memory > 0)
    shm.emplace_back("sizeLimit", yaml_text(fmt::format("{}Mi", std::max<std::int64_t>(1, memory / 2))));
  const YamlNode container = container_of(
      name, line,
      {{"resources", yaml_map({{"limits", yaml_map(std::move(limits))}})},
       {"volumeMounts",
        yaml_list({yaml_map({{"name", yaml_text("shm")}, {"mountPath", yaml_text("/dev/shm")}})})}});
  return {{"containers", yaml_list({container})},
          {"volumes",
           yaml_list({yaml_map({{"name", yaml_text("shm")}, {"emptyDir", yaml_map(std::move(shm))}})})}};
}

/// Returns a name for an object and its pods, which are labels of DNS (RFC 1035): lower-case letters, digits
/// and hyphens, a letter first.
std::string object_name(const std::string& name) {
  std::string out = lower_case(name.substr(0, 40));
  for (char& c : out) {
    if ((c < 'a' || c > 'z') && (c < '0' || c > '9')) c = '-';
  }
  while (out.starts_with('-')) out.erase(0, 1);
  while (out.ends_with('-')) out.pop_back();
  if (out.empty()) return "training";
  return out[0] >= '0' && out[0] <= '9' ? "training-" + out : out;
}

/// Returns a group of equal pods. The operator restarts pods and overrides what their template says about it.
YamlNode replicas(int count, Entries pod) {
  return yaml_map({{"replicas", yaml_text(std::to_string(count))},
                   {"restartPolicy", yaml_text("Never")},
                   {"template", yaml_map({{"spec", yaml_map(std::move(pod))}})}});
}

/// Returns the lines of a pod's shell; a single line if nothing stands before the launch.
std::string shell_of(const JobPlan& plan, const std::string& line) {
  static constexpr ScriptWords kWords{};
  std::string before = plan.before;
  for (const Assignment& set : launch_assignments(plan, kWords))
    before += fmt::format("export {}={}\n", set.name, set.value);
  return fmt::format("{}OMP_NUM_THREADS={} {}", before, threads(plan), line);
}

/// Returns the launch line on one machine. Containers run as root, which Open MPI refuses unless it is told
/// otherwise.
std::string line_of_job(const JobPlan& plan) {
  static constexpr ScriptWords kWords{.start = [](const JobPlan&, int) { return std::string(); }};
  std::string line = script_launch_line(plan, kWords);
  const std::string_view mpirun = "mpirun ";
  if (line.starts_with(mpirun)) line.insert(mpirun.size(), "--allow-run-as-root ");
  return line;
}

/// Returns the launch line of each pod. The operator sets RANK, the number of the pod, and the address of the
/// first one (envvar.go).
std::string line_of_pytorch(const JobPlan& plan) {
  return fmt::format(
      "torchrun --nnodes={} --nproc_per_node={} --node_rank=$RANK --master_addr=$MASTER_ADDR "
      "--master_port=$MASTER_PORT {}",
      plan.nodes, plan.processes_per_node, program(plan));
}

/// A Kubernetes object before it is written.
struct Object {
  std::string version, kind;
  Entries spec;
};

/// Returns a Job with one pod, which is not started again.
Object job(const JobPlan& plan) {
  Entries pod{{"restartPolicy", yaml_text("Never")}};
  for (auto& entry : pod_of(plan, "training", shell_of(plan, line_of_job(plan)))) pod.push_back(entry);
  return {"batch/v1",
          "Job",
          {{"backoffLimit", yaml_text("0")}, {"template", yaml_map({{"spec", yaml_map(std::move(pod))}})}}};
}

/// Returns a PyTorchJob. Its nprocPerNode is a string, and the container has to be called pytorch
/// (pytorch_validation.go).
Object pytorch_job(const JobPlan& plan) {
  JobPlan torchrun = plan;
  // The operator sets the addresses, so none are written.
  torchrun.launcher = Launcher::python;
  const Entries pod = pod_of(plan, "pytorch", shell_of(torchrun, line_of_pytorch(plan)));
  YamlNode processes = yaml_string(std::to_string(plan.processes_per_node));
  return {"kubeflow.org/v1",
          "PyTorchJob",
          {{"nprocPerNode", std::move(processes)},
           {"pytorchReplicaSpecs",
            yaml_map({{"Master", replicas(1, pod)}, {"Worker", replicas(plan.nodes - 1, pod)}})}}};
}

/// Returns a TFJob. Its operator sets TF_CONFIG in containers called tensorflow.
Object tensorflow_job(const JobPlan& plan) {
  JobPlan own = plan;
  own.launcher = Launcher::python;
  return {"kubeflow.org/v1",
          "TFJob",
          {{"tfReplicaSpecs",
            yaml_map({{"Worker", replicas(plan.nodes, pod_of(plan, "tensorflow",
                                                             shell_of(own, "python " + program(plan))))}})}}};
}

/// Returns an MPIJob. Its operator writes Open MPI's host file from slotsPerWorker, and the workers wait for
/// connections.
Object mpi_job(const JobPlan& plan) {
  const std::string line =
      fmt::format("{}mpirun --allow-run-as-root -np {} --bind-to none -x OMP_NUM_THREADS={} python {}",
                  plan.before, plan.nodes * plan.processes_per_node, threads(plan), program(plan));
  Entries launcher{{"containers", yaml_list({container_of("mpi-launcher", line, {})})}};
  return {
      "kubeflow.org/v2beta1",
      "MPIJob",
      {{"slotsPerWorker", yaml_text(std::to_string(plan.processes_per_node))},
       {"mpiReplicaSpecs", yaml_map({{"Launcher", replicas(1, std::move(launcher))},
                                     {"Worker", replicas(plan.nodes, pod_of(plan, "mpi-worker", ""))}})}}};
}

/// Chooses the object by the way in which the processes find each other.
Object object_of(const JobPlan& plan) {
  if (plan.nodes == 1) return job(plan);
  const Meeting meeting = meeting_of(plan);
  return meeting == Meeting::horovod      ? mpi_job(plan)
         : meeting == Meeting::tensorflow ? tensorflow_job(plan)
                                          : pytorch_job(plan);
}

}  // namespace

std::string write_kubernetes(const JobPlan& given) {
  const JobPlan plan = without_srun(given);
  Object object = object_of(plan);
  const bool is_job = object.kind == "Job";
  // A Job has the deadline in its specification, Kubeflow's objects have it in their run policy.
  if (limit_s(plan) > 0) {
    const YamlNode seconds = yaml_text(std::to_string(limit_s(plan)));
    object.spec.insert(
        object.spec.begin(),
        is_job ? std::pair{std::string("activeDeadlineSeconds"), seconds}
               : std::pair{std::string("runPolicy"), yaml_map({{"activeDeadlineSeconds", seconds}})});
  }
  return script_heading(plan) + program_comments(plan) +
         write_yaml(yaml_map({{"apiVersion", yaml_text(object.version)},
                              {"kind", yaml_text(object.kind)},
                              {"metadata", yaml_map({{"name", yaml_string(object_name(plan.name))}})},
                              {"spec", yaml_map(std::move(object.spec))}}));
}

}  // namespace foretrain
