// One function per remark; each points at the line that could be changed.
#include "sim/import/jobs/job_lint.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/import/job_scenario.hpp"
#include "sim/import/program_arguments.hpp"

namespace foretrain {

namespace {

class JobLinter {
 public:
  JobLinter(const JobScript& script, const SourceText& source) : script_(script), source_(source) {}

  std::vector<Diagnostic> lint() {
    lint_cpus();
    lint_batch();
    lint_shared_memory();
    return std::move(found_);
  }

 private:
  void say(const SourceSpan& span, std::string message, std::string hint) {
    const bool elsewhere = !script_.launch.file.empty() && span.line > 0;
    const std::string& file = elsewhere ? script_.launch.file : source_.name;
    found_.push_back({file, span, elsewhere ? "" : std::string(source_.line(span.line)), std::move(message),
                      std::move(hint)});
  }

  /// A process for every GPU, and one CPU or none of its own: script and loader take turns on it.
  void lint_cpus() {
    const JobResources& have = script_.resources;
    if (!have.cpus_per_node || !have.gpus_per_node || have.gpus_per_node->value < 1) return;
    const Field<int>& asked = script_.request.cpus_per_task;
    if (have.cpus_per_node->value > have.gpus_per_node->value) return;
    found_.push_back(
        {source_.name, asked ? asked->span : SourceSpan{}, "",
         fmt::format("{} for {} on a node: the training process and its loader workers take turns",
                     counted(have.cpus_per_node->value, "CPU"), counted(have.gpus_per_node->value, "GPU")),
         "ask for the node's CPUs divided by its GPUs, for each GPU"});
  }

  /// A batch of each process: more GPUs make a step larger, not shorter.
  void lint_batch() {
    const JobLaunch& launch = script_.launch;
    if (!launch.processes_per_node || !launch.nodes || drives_all_gpus(script_)) return;
    const std::int64_t processes = std::int64_t{launch.processes_per_node->value} * launch.nodes->value;
    const ProgramArgument* batch = find_argument(launch.arguments, "batch");
    if (const ProgramArgument* own = find_argument(launch.arguments, "batch_per_gpu")) batch = own;
    const std::int64_t size = batch == nullptr ? 0 : whole_number(batch->value).value_or(0);
    if (processes < 2 || processes > 1'000'000 || size < 1 || size > 1'000'000'000) return;
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

  /// Workers hand batches over through /dev/shm, of which a container has 64 MiB unless told (containerd,
  /// Docker).
  void lint_shared_memory() {
    const ProgramArgument* workers = find_argument(script_.launch.arguments, "workers");
    const std::int64_t count = workers == nullptr ? 0 : whole_number(workers->value).value_or(0);
    if (!script_.request.has_container || script_.request.shared_memory || count < 1) return;
    say(workers->span,
        fmt::format("{} loader workers hand their batches over in /dev/shm, of which a container has 64 MiB",
                    count),
        "mount an emptyDir with medium: Memory at /dev/shm");
  }

  const JobScript& script_;
  const SourceText& source_;
  std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> lint_job(const JobScript& script, const SourceText& source) {
  return JobLinter(script, source).lint();
}

}  // namespace foretrain
