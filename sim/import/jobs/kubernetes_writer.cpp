// A plan as a Job, or a PyTorchJob of Kubeflow, through yaml-cpp's writer.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/jobs/job_text.hpp"
#include "sim/import/jobs/job_writers.hpp"
#include "sim/import/jobs/yaml.hpp"

namespace foretrain {

namespace {

YamlNode words_of(std::initializer_list<std::string> words) {
  std::vector<YamlNode> items;
  for (const std::string& word : words) items.push_back(yaml_text(word));
  return yaml_list(std::move(items));
}

/// The pod of a plan: GPUs, cores, memory, and /dev/shm as large as half of the memory, as machines have it.
YamlNode pod_of(const JobPlan& plan, const std::string& line) {
  std::vector<std::pair<std::string, YamlNode>> limits{
      {"nvidia.com/gpu", yaml_text(std::to_string(plan.gpus_per_node))},
      {"cpu", yaml_text(std::to_string(plan.cores_per_node))}};
  const std::int64_t memory = mebibytes(plan.memory_per_node);
  if (memory > 0) limits.emplace_back("memory", yaml_text(fmt::format("{}Mi", memory)));
  std::vector<std::pair<std::string, YamlNode>> shm{{"medium", yaml_text("Memory")}};
  if (memory > 0)
    shm.emplace_back("sizeLimit", yaml_text(fmt::format("{}Mi", std::max<std::int64_t>(1, memory / 2))));
  const YamlNode container = yaml_map(
      {{"name", yaml_text("training")},
       {"image", yaml_text("<image with your framework>")},
       {"command", words_of({"bash", "-c", fmt::format("OMP_NUM_THREADS={} {}", threads(plan), line)})},
       {"resources", yaml_map({{"limits", yaml_map(std::move(limits))}})},
       {"volumeMounts",
        yaml_list({yaml_map({{"name", yaml_text("shm")}, {"mountPath", yaml_text("/dev/shm")}})})}});
  return yaml_map(
      {{"restartPolicy", yaml_text("Never")},
       {"containers", yaml_list({container})},
       {"volumes",
        yaml_list({yaml_map({{"name", yaml_text("shm")}, {"emptyDir", yaml_map(std::move(shm))}})})}});
}

/// Names of objects are small letters, digits and hyphens.
std::string object_name(const std::string& name) {
  std::string out = lower_case(name.substr(0, 50));
  for (char& c : out) {
    if ((c < 'a' || c > 'z') && (c < '0' || c > '9')) c = '-';
  }
  while (out.starts_with('-')) out.erase(0, 1);
  while (out.ends_with('-')) out.pop_back();
  return out.empty() ? "training" : out;
}

}  // namespace

std::string write_kubernetes(const JobPlan& plan) {
  const bool is_alone = plan.nodes == 1;
  static constexpr ScriptWords kWords{"", "", [](int, int) { return std::string(); }};
  JobPlan one = plan;
  one.nodes = 1;
  const bool by_torchrun =
      plan.launcher == Launcher::torchrun || plan.launcher == Launcher::srun || !is_alone;
  const std::string line = !is_alone ? fmt::format("torchrun --nnodes={} --nproc_per_node={} {}", plan.nodes,
                                                   plan.processes_per_node, program(plan))
                           : by_torchrun ? torchrun_line(one, kWords)
                                         : script_launch_line(one, kWords);
  const YamlNode metadata = yaml_map({{"name", yaml_text(object_name(plan.name))}});
  const YamlNode pod = yaml_map({{"spec", pod_of(plan, line)}});
  std::vector<std::pair<std::string, YamlNode>> spec;
  const auto deadline = yaml_text(std::to_string(limit_s(plan)));
  if (is_alone) {
    spec = {{"backoffLimit", yaml_text("0")}, {"template", pod}};
    if (limit_s(plan) > 0) spec.insert(spec.begin(), {"activeDeadlineSeconds", deadline});
  } else {
    const auto replicas = [&](int count) {
      return yaml_map({{"replicas", yaml_text(std::to_string(count))}, {"template", pod}});
    };
    if (limit_s(plan) > 0) spec.emplace_back("runPolicy", yaml_map({{"activeDeadlineSeconds", deadline}}));
    spec.emplace_back("nprocPerNode", yaml_text(std::to_string(plan.processes_per_node)));
    spec.emplace_back("pytorchReplicaSpecs",
                      yaml_map({{"Master", replicas(1)}, {"Worker", replicas(plan.nodes - 1)}}));
  }
  return script_heading(plan) +
         write_yaml(yaml_map({{"apiVersion", yaml_text(is_alone ? "batch/v1" : "kubeflow.org/v1")},
                              {"kind", yaml_text(is_alone ? "Job" : "PyTorchJob")},
                              {"metadata", metadata},
                              {"spec", yaml_map(std::move(spec))}}));
}

}  // namespace foretrain
