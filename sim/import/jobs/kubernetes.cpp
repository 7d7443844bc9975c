// Reader of Kubernetes: Job, Pod, PyTorchJob, MPIJob, TFJob, TrainJob and Volcano's Job, from the API
// reference and the documentation of Kubeflow's training operator.
// It reads YAML such as "kind: PyTorchJob", "spec:", "  pytorchReplicaSpecs:", "    Worker: {replicas: 3,
// template: {…}}".
// A pod is taken for a node. The GPUs, CPUs and memory of its container, /dev/shm, the node selector and the
// deadline are taken, and its command is read as a shell would read it.
// Throws InputError for text that is no YAML, and for objects that start no training.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/directives.hpp"
#include "sim/import/jobs/job_writers.hpp"
#include "sim/import/jobs/named_software.hpp"
#include "sim/import/jobs/yaml.hpp"
#include "sim/import/launch_reader.hpp"

namespace foretrain {

namespace {

using YamlKind = YamlNode::Kind;

/// A group of pods with one template.
struct PodGroup {
  std::string role;
  int replicas = 1;
  SourceSpan span{};
  /// Its specification (PodSpec).
  const YamlNode* pod = nullptr;
};

/// Reads the first object of a file that starts a training.
class KubernetesReader {
 public:
  KubernetesReader(const SourceText& source, const ScriptFinder& find, JobScript& script)
      : source_(source), find_(find), script_(script) {}

  void read() {
    const std::vector<YamlNode> documents = read_yaml(source_);
    std::vector<std::string> kinds;
    for (const YamlNode& document : documents) {
      if (read_object(document)) return;
      if (!document.at("kind").text.empty()) kinds.push_back(document.at("kind").text.substr(0, 40));
    }
    throw InputError(std::vector<Diagnostic>{
        {source_.name,
         {},
         "",
         kinds.empty() ? "holds no object of Kubernetes"
                       : fmt::format("holds {}, which starts no training", fmt::join(kinds, ", ")),
         "Job, Pod, PyTorchJob, MPIJob, TFJob, TrainJob and Volcano's Job are read"}});
  }

 private:
  /// Reads an object. Returns false if it starts no training.
  bool read_object(const YamlNode& object) {
    const std::string& kind = object.at("kind").text;
    const YamlNode& spec = object.at("spec");
    groups_.clear();
    tells_torchrun_ = kind == "PyTorchJob" || kind == "TrainJob";
    if (kind == "Pod") groups_.push_back({"pod", 1, spec.span, &spec});
    if (kind == "Job") job(spec);
    if (kind == "PyTorchJob") replica_specs(spec.at("pytorchReplicaSpecs"));
    if (kind == "MPIJob") replica_specs(spec.at("mpiReplicaSpecs"));
    if (kind == "TFJob") replica_specs(spec.at("tfReplicaSpecs"));
    // A TrainJob has no templates of pods, so it is read on its own.
    if (kind == "TrainJob") return train_job(object), true;
    // Other kinds, such as Service or ConfigMap, may stand in the same file.
    if (groups_.empty()) return false;
    script_.request.name = object.path("metadata/name").text;
    deadline(spec);
    take_groups(spec, kind == "MPIJob");
    return true;
  }

  /// Reads the groups of a Job. Volcano's has tasks; the plain one has as many pods as `parallelism` at the
  /// same time.
  void job(const YamlNode& spec) {
    for (const YamlNode& task : spec.at("tasks").items)
      groups_.push_back({task.at("name").text, count_or(task.at("replicas"), 1), task.at("replicas").span,
                         &task.path("template/spec")});
    if (!groups_.empty() || spec.at("template").is_null()) return;
    const YamlNode& pods = spec.at("parallelism");
    groups_.push_back(
        {"pod", count_or(pods, 1), pods.is_null() ? spec.span : pods.span, &spec.path("template/spec")});
  }

  /// Reads the groups of a Kubeflow object: Master, Worker, Launcher and so on.
  void replica_specs(const YamlNode& specs) {
    for (const auto& [role, replica] : specs.entries)
      groups_.push_back({role, count_or(replica.at("replicas"), 1),
                         replica.at("replicas").is_null() ? replica.span : replica.at("replicas").span,
                         &replica.path("template/spec")});
  }

  /// Reads Kubeflow's TrainJob. The runtime of its image is defined elsewhere, so only what the trainer
  /// states is read.
  void train_job(const YamlNode& object) {
    const YamlNode& trainer = object.path("spec/trainer");
    script_.request.name = object.path("metadata/name").text;
    JobRequest& request = script_.request;
    request.asks = true, request.has_container = true;
    request.nodes = Found<int>{count_or(trainer.at("numNodes"), 1), trainer.at("numNodes").span};
    resources_of(trainer.at("resourcesPerNode"));
    processes_of(trainer.at("numProcPerNode"));
    settle();
    launch(trainer, false);
  }

  /// Returns a count, or `fallback` where there is none; a bad one is reported.
  int count_or(const YamlNode& node, int fallback) {
    if (node.is_null()) return fallback;
    const auto count = whole_number(node.text);
    if (count && *count >= 0 && *count <= 100'000) return static_cast<int>(*count);
    open(node, "is no count");
    return fallback;
  }

  /// Reports a value that cannot be read, at most 100 times.
  void open(const YamlNode& node, std::string why) {
    if (script_.not_understood.size() < 100)
      script_.not_understood.push_back({node.span, node.text.substr(0, 80), std::move(why)});
  }

  /// Reads the time limit of either kind of object.
  void deadline(const YamlNode& spec) {
    for (const YamlNode* node :
         {&spec.at("activeDeadlineSeconds"), &spec.path("runPolicy/activeDeadlineSeconds")}) {
      const auto seconds = whole_number(node->text);
      if (seconds && *seconds > 0 && *seconds < 1'000'000'000)
        script_.request.seconds = {*seconds, node->span};
    }
  }

  /// Returns the container that has GPUs, else the first one.
  static const YamlNode& container_of(const YamlNode& pod) {
    const YamlNode& containers = pod.at("containers");
    static const YamlNode none;
    for (const YamlNode& container : containers.items) {
      if (has_gpus(container.at("resources"))) return container;
    }
    return containers.items.empty() ? none : containers.items[0];
  }

  /// Says whether a resource is a GPU or a MIG slice of one.
  static bool is_gpu_key(std::string_view key) {
    return key == "nvidia.com/gpu" || key == "amd.com/gpu" || key.starts_with("nvidia.com/mig-") ||
           key == "nvidia.com/gpu.shared";
  }
  static bool has_gpus(const YamlNode& resources) {
    for (const char* part : {"limits", "requests"}) {
      for (const auto& [key, value] : resources.at(part).entries) {
        if (is_gpu_key(key) && value.text != "0") return true;
      }
    }
    return false;
  }

  /// Reads the request of all pods with GPUs as nodes, and the launch. MPIJob starts everything from its
  /// Launcher, the others from each pod.
  void take_groups(const YamlNode& spec, bool by_mpi) {
    JobRequest& request = script_.request;
    request.asks = true, request.has_container = true;
    const PodGroup* main = nullptr;
    int pods = 0;
    for (const PodGroup& group : groups_) {
      const bool works = has_gpus(container_of(*group.pod).at("resources"));
      if (works && main == nullptr) main = &group;
      if (works) pods = std::min(pods + group.replicas, 1'000'000);
    }
    // A training without GPUs runs in all pods of the first group.
    if (main == nullptr) main = &groups_.front(), pods = main->replicas;
    request.nodes = Found<int>{pods, main->span};
    resources_of(container_of(*main->pod).at("resources"));
    shared_memory_of(*main->pod);
    selector_of(main->pod->at("nodeSelector"));
    const YamlNode& each = spec.path("elasticPolicy/nProcPerNode");
    processes_of(!spec.at("slotsPerWorker").is_null() ? spec.at("slotsPerWorker")
                 : !each.is_null()                    ? each
                                                      : spec.at("nprocPerNode"));
    settle();
    const auto launcher = std::ranges::find_if(
        groups_, [&](const PodGroup& group) { return by_mpi && lower_case(group.role) == "launcher"; });
    launch(container_of(*(launcher != groups_.end() ? *launcher : *main).pod), by_mpi);
  }

  /// Derives the resources. CPUs are those of the pod; a pod that requests none gets what is free, so they
  /// are unknown.
  void settle() {
    JobRequest& request = script_.request;
    const Field<int> of_pod = request.cpus_per_task;
    if (of_pod && request.tasks_per_node)
      request.cpus_per_task->value = std::max(1, of_pod->value / std::max(1, request.tasks_per_node->value));
    script_.resources = resolve(request);
    script_.resources.cpus_per_node = of_pod;
    if (!of_pod) script_.resources.cpus_per_task.reset();
  }

  /// Reads GPUs, CPUs and memory of a container.
  void resources_of(const YamlNode& resources) {
    JobRequest& request = script_.request;
    // Requests are read first, because limits count where both are stated.
    for (const char* part : {"requests", "limits"}) {
      for (const auto& [key, value] : resources.at(part).entries) {
        if (is_gpu_key(key)) {
          request.gpus_per_node = Found<int>{count_or(value, 1), value.span};
          if (key.starts_with("nvidia.com/mig-")) request.gpu_type = {key.substr(15), value.span};
        } else if (key == "cpu") {
          cpus_of(value);
        } else if (key == "memory") {
          request.memory = amount(value);
        }
      }
    }
  }

  /// Reads CPUs such as "16", or "15500m" in thousandths.
  void cpus_of(const YamlNode& value) {
    const bool thousandths = value.text.ends_with('m');
    const auto number =
        whole_number(std::string_view(value.text).substr(0, value.text.size() - (thousandths ? 1 : 0)));
    if (!number || *number < 1 || *number > 100'000'000) return open(value, "is no number of CPUs");
    script_.request.cpus_per_task = {
        static_cast<int>(std::max<std::int64_t>(1, thousandths ? *number / 1000 : *number)), value.span};
  }

  /// Reads an amount such as "64Gi" in powers of 1024, "64G" in powers of 1000, or "1024" bytes.
  Field<MemoryRequest> amount(const YamlNode& value) {
    static constexpr std::string_view kUnits = "KMGTP";
    std::string_view text = value.text;
    const bool binary = text.ends_with('i');
    if (binary) text.remove_suffix(1);
    double factor = 1;
    if (!text.empty()) {
      const char unit = text.back() == 'k' ? 'K' : text.back();
      const std::size_t power = kUnits.find(unit);
      if (power != std::string_view::npos)
        factor = std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power + 1)), text.remove_suffix(1);
    }
    const auto number = whole_number(text);
    const double bytes = number ? static_cast<double>(*number) * factor : -1;
    if (bytes < 0 || bytes > 1e18) return open(value, "is no amount of memory"), Field<MemoryRequest>();
    return Found<MemoryRequest>{{{static_cast<std::int64_t>(bytes)}, false}, value.span};
  }

  /// Reads the size of /dev/shm: that of a volume in memory that is mounted there, or all of the host's.
  void shared_memory_of(const YamlNode& pod) {
    if (pod.at("hostIPC").text == "true")
      script_.request.shared_memory = {{{}, true}, pod.at("hostIPC").span};
    for (const YamlNode& mount : container_of(pod).at("volumeMounts").items) {
      if (mount.at("mountPath").text != "/dev/shm") continue;
      for (const YamlNode& volume : pod.at("volumes").items) {
        if (volume.at("name").text != mount.at("name").text) continue;
        const YamlNode& limit = volume.path("emptyDir/sizeLimit");
        if (limit.is_null())
          script_.request.shared_memory = {{{}, true}, volume.span};
        else
          script_.request.shared_memory = amount(limit);
      }
    }
  }

  /// Turns a node selector for a product into a requirement on the GPU's name.
  void selector_of(const YamlNode& selector) {
    for (const auto& [key, value] : selector.entries) {
      if (key.ends_with("gpu.product") || key.ends_with("accelerator"))
        script_.request.requirements.push_back({fmt::format("DeviceName == \"{}\"", value.text), value.span});
    }
  }

  /// Reads the processes of each pod: a number, or "auto" and "gpu" for one on each GPU.
  void processes_of(const YamlNode& each) {
    if (each.is_null()) return;
    const Field<int>& gpus = script_.request.gpus_per_node;
    const bool by_gpus = each.text == "auto" || each.text == "gpu";
    const int count = by_gpus && gpus ? gpus->value : by_gpus ? 0 : count_or(each, 0);
    if (count > 0) script_.request.tasks_per_node = {count, each.span};
  }

  /// Reads the launch from the container's command and arguments, with the variables that it and the operator
  /// set.
  void launch(const YamlNode& container, bool by_mpi) {
    ShellValues values;
    for (const YamlNode& variable : container.at("env").items) {
      if (variable.at("value").kind == YamlKind::scalar)
        values.set(variable.at("name").text, variable.at("value").text);
    }
    const JobRequest& request = script_.request;
    // The operator tells torchrun the number of processes by this variable.
    if (request.tasks_per_node && !by_mpi) values.set("PET_NPROC_PER_NODE", request.tasks_per_node->value);
    if (request.nodes && tells_torchrun_)
      values.set("PET_NNODES", request.nodes->value), values.set("PET_MASTER_ADDR", "$MASTER_ADDR");
    if (script_.resources.gpus_per_node) values.gpus_on_node = script_.resources.gpus_per_node->value;
    ShellCommand command;
    for (const char* part : {"command", "args"}) {
      for (const YamlNode& word : container.at(part).items) command.words.push_back(word_of(word, values));
    }
    // An image may have an entry point of its own, which is not in the file.
    if (command.words.empty())
      return open(container, "has no command: what its image starts is not known here");
    const YamlNode& image = container.at("image");
    if (image.kind == YamlKind::scalar) script_.software = software_of_image(image.text, image.span);
    read_launch({command}, values, find_, script_);
    // Pods start the command themselves, except the pods of an MPIJob, which mpirun reaches.
    if (!by_mpi && script_.launch.started_by) script_.launch.nodes = script_.resources.nodes;
    if (!script_.request.tasks_per_node && script_.launch.processes_per_node)
      script_.resources.tasks_per_node = script_.launch.processes_per_node;
  }

  /// Replaces $(NAME) of Kubernetes by the variable's value where it is known.
  static ShellWord word_of(const YamlNode& node, const ShellValues& values) {
    std::string out;
    const std::string& text = node.text;
    for (std::size_t at = 0; at < text.size() && out.size() < kLongestValue;) {
      const std::size_t open = std::min(text.find("$(", at), text.size());
      out += text.substr(at, open - at);
      const std::size_t close = text.find(')', open);
      if (open == text.size() || close == std::string::npos)
        return {out + text.substr(open), true, true, node.span};
      const auto value = values.find(text.substr(open + 2, close - open - 2));
      out += value ? *value : text.substr(open, close + 1 - open);
      at = close + 1;
    }
    return {out, true, true, node.span};
  }

  const SourceText& source_;
  const ScriptFinder& find_;
  JobScript& script_;
  std::vector<PodGroup> groups_;
  /// True if the operator sets PET_NNODES and PET_MASTER_ADDR in each pod.
  bool tells_torchrun_ = false;
};

/// JSON is accepted as well, as kubectl prints it.
bool is_kubernetes(std::string_view text) {
  const bool yaml = has_directive(text, "apiVersion:") && has_directive(text, "kind:");
  const bool json = text.starts_with('{') && text.find("\"apiVersion\"") != std::string_view::npos;
  return !text.starts_with("#!") && (yaml || json);
}

void read_kubernetes(const SourceText& source, std::string_view, const ScriptFinder& find,
                     JobScript& script) {
  KubernetesReader(source, find, script).read();
}

}  // namespace

JobSystem kubernetes_system() {
  return {.system = BatchSystem::kubernetes,
          .title = "Kubernetes",
          .kind = "a job of Kubernetes",
          .asks_as = "nvidia.com/gpu: 1",
          .starter = "",
          .is = is_kubernetes,
          .read = read_kubernetes,
          .write = write_kubernetes};
}

}  // namespace foretrain
