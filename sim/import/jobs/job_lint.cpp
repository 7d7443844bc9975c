// The functions look for one kind of surprise each, and point at the line that could be changed.
#include "sim/import/jobs/job_lint.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/import/job_scenario.hpp"
#include "sim/import/program_arguments.hpp"

namespace foretrain {

namespace {

/// Collects the warnings about one script.
class JobLinter {
 public:
  JobLinter(const JobScript& script, const SourceText& source, int gpus_of_node)
      : script_(script), source_(source), gpus_of_node_(gpus_of_node) {}

  std::vector<Diagnostic> only_cpus() {
    lint_cpus();
    return std::move(found_);
  }
  std::vector<Diagnostic> lint() {
    lint_cpus();
    lint_batch();
    lint_shared_memory();
    lint_pods();
    return std::move(found_);
  }

 private:
  /// Adds a warning at its place. The launch line may stand in another script, whose text is not at hand.
  void say(const SourceSpan& span, std::string message, std::string hint) {
    const bool elsewhere = !script_.launch.file.empty() && span.line > 0;
    const std::string& file = elsewhere ? script_.launch.file : source_.name;
    found_.push_back({file, span, elsewhere ? "" : std::string(source_.line(span.line)), std::move(message),
                      std::move(hint)});
  }

  /// Warns if a node has at most one CPU for each GPU: the training process and its loader workers then take
  /// turns on it.
  void lint_cpus() {
    const JobResources& have = script_.resources;
    if (!have.cpus_per_node || !have.gpus_per_node || have.gpus_per_node->value < 1) return;
    const Field<int>& asked = script_.request.cpus_per_task;
    // More CPUs than GPUs leave at least one CPU for the loader workers.
    if (have.cpus_per_node->value > have.gpus_per_node->value) return;
    found_.push_back(
        {source_.name, asked ? asked->span : SourceSpan{}, "",
         fmt::format("{} for {} on a node: the training process and its loader workers take turns",
                     counted(have.cpus_per_node->value, "CPU"), counted(have.gpus_per_node->value, "GPU")),
         "ask for the node's CPUs divided by its GPUs, for each GPU"});
  }

  /// Says whether a comment of the script states the batch of all processes, or a multiple of it where
  /// micro-steps are added up. Its writer then knows.
  bool says_global_batch(std::int64_t samples) const {
    constexpr std::string_view kWords = "global batch ";
    const std::size_t at = source_.text.find(kWords);
    if (at == std::string::npos) return false;
    const std::string_view rest = std::string_view(source_.text).substr(at + kWords.size(), 18);
    const auto said = whole_number(rest.substr(0, rest.find_first_not_of("0123456789")));
    return said && *said > 0 && *said % samples == 0;
  }

  /// Warns of a batch that belongs to each process: more GPUs make a step larger, not shorter.
  void lint_batch() {
    const JobLaunch& launch = script_.launch;
    if (!launch.processes_per_node || !launch.nodes || drives_all_gpus(script_)) return;
    // A program that is given the batch of all GPUs does the same work in a step on any number of them.
    if (find_argument(launch.arguments, "global_batch") != nullptr) return;
    const std::int64_t processes = std::int64_t{launch.processes_per_node->value} * launch.nodes->value;
    const ProgramArgument* batch = find_argument(launch.arguments, "batch");
    if (const ProgramArgument* own = find_argument(launch.arguments, "batch_per_gpu")) batch = own;
    const std::int64_t size = batch == nullptr ? 0 : whole_number(batch->value).value_or(0);
    if (processes < 2 || processes > 1'000'000 || size < 1 || size > 1'000'000'000) return;
    // The size is multiplied by all processes, since each of them gets the same option.
    if (says_global_batch(size * processes)) return;
    const std::string keep =
        size >= processes ? fmt::format("; {} {} keeps the batch of one GPU", batch->option, size / processes)
                          : "";
    say(batch->span,
        fmt::format(
            "{} {} is of each process: {} of them train on {} samples a step, one on {}; their step times "
            "are of unlike work",
            batch->option, size, processes, size * processes, size),
        fmt::format("compare samples/s or epochs{}", keep));
  }

  /// Warns of loader workers in a container: they pass batches through /dev/shm, of which a container has
  /// 64 MiB by default (containerd, Docker).
  void lint_shared_memory() {
    const ProgramArgument* workers = find_argument(script_.launch.arguments, "workers");
    const std::int64_t count = workers == nullptr ? 0 : whole_number(workers->value).value_or(0);
    if (!script_.request.has_container || script_.request.shared_memory || count < 1) return;
    say(workers->span,
        fmt::format("{} loader workers hand their batches over in /dev/shm, of which a container has 64 MiB",
                    count),
        "mount an emptyDir with medium: Memory at /dev/shm");
  }

  /// Warns of several pods that may share a machine: each has a host name of its own, and NCCL takes ranks
  /// with different ones for different nodes.
  void lint_pods() {
    const JobResources& have = script_.resources;
    if (!script_.request.has_container || !have.nodes || have.nodes->value < 2 || !have.gpus_per_node) return;
    // A pod with all GPUs of a machine cannot share the machine with another pod of the job.
    if (gpus_of_node_ > 0 && have.gpus_per_node->value >= gpus_of_node_) return;
    found_.push_back(
        {source_.name, have.nodes->span, std::string(source_.line(have.nodes->span.line)),
         fmt::format(
             "{} of {} each are so many nodes to NCCL: GPUs of two pods on one machine have no NVLink, "
             "P2P or shared memory between them",
             counted(have.nodes->value, "pod"), counted(have.gpus_per_node->value, "GPU")),
         "give a pod all GPUs of a machine; launch.isolation = \"pod\" predicts them apart"});
  }

  const JobScript& script_;
  const SourceText& source_;
  int gpus_of_node_;
  std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> lint_job(const JobScript& script, const SourceText& source, int gpus_of_node) {
  return JobLinter(script, source, gpus_of_node).lint();
}

std::vector<Diagnostic> lint_job_cpus(const JobScript& script, const SourceText& source) {
  return JobLinter(script, source, 0).only_cpus();
}

}  // namespace foretrain
