// The functions check one kind of mistake each: the request against node, partition and cluster, then the
// launch against the request, then the program against both.
#include "sim/import/job_checks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/import/job_scenario.hpp"
#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/requested_gpus.hpp"
#include "sim/import/jobs/slurm_values.hpp"
#include "sim/import/program_arguments.hpp"

namespace foretrain {

namespace {

/// Data sheets write GB where memory modules have GiB, so a request may exceed the stated memory by this
/// factor.
constexpr double kGibPerGb = 1.0738;
/// CPUs of Slurm may be hardware threads, two to a core, where a centre has enabled them.
constexpr int kThreadsPerCore = 2;
/// Limit of mistakes of each kind.
constexpr std::size_t kMostFindings = 50;

/// Runs all checks of one script and collects the mistakes.
class JobChecker {
 public:
  JobChecker(const JobScript& script, const SourceText& source, const ClusterSpec& cluster)
      : script_(script), source_(source), cluster_(cluster) {}

  JobFindings check() {
    check_recognised();
    check_gpus();
    if (cluster_.node.gpus > 0) check_node(), check_partition(), check_placement();
    check_tasks();
    check_launch();
    check_program();
    check_kind();
    for (const NotUnderstood& line : script_.remarks)
      warn(line.span,
           line.text.empty() ? line.why : fmt::format("\"{}\" {}", line.text.substr(0, 120), line.why));
    for (const NotUnderstood& line : script_.not_understood)
      warn(line.span, line.text.empty()
                          ? "not understood: " + line.why
                          : fmt::format("not understood: \"{}\": {}", line.text.substr(0, 120), line.why));
    return std::move(findings_);
  }

 private:
  /// Returns a mistake with its quoted line. If the launch line stands in another script, its text is not at
  /// hand.
  Diagnostic finding(const SourceSpan& span, std::string message, std::string hint) const {
    const bool other_file = !script_.launch.file.empty() && span.line > 0 && script_.launch.started_by &&
                            span == script_.launch.started_by->span;
    if (other_file) return {script_.launch.file, span, "", std::move(message), std::move(hint)};
    return {source_.name, span, std::string(source_.line(span.line)), std::move(message), std::move(hint)};
  }
  /// Adds a mistake for which the batch system would not take the job, or nothing can be predicted.
  void refuse(const SourceSpan& span, std::string message, std::string hint = "") {
    if (findings_.refused.size() < kMostFindings)
      findings_.refused.push_back(finding(span, std::move(message), std::move(hint)));
  }
  /// Adds a mistake with which the job runs, but probably not as intended.
  void warn(const SourceSpan& span, std::string message, std::string hint = "") {
    if (findings_.warnings.size() < kMostFindings)
      findings_.warnings.push_back(finding(span, std::move(message), std::move(hint)));
  }

  /// Refuses a text in which nothing was recognised, since that does not mean that nothing is wrong.
  void check_recognised() {
    // A launcher that takes all GPUs of the machine tells nothing about a job that asks for none.
    const bool takes_all = script_.launch.follows_gpus && !script_.launch.processes_per_node;
    const bool is_launched = (script_.launch.started_by || script_.launch.program) && !takes_all;
    const bool is_script = script_.system != BatchSystem::none && script_.system != BatchSystem::kubernetes;
    if (!is_script || script_.request.asks || is_launched) return;
    refuse({},
           fmt::format("nothing was recognised: no directive of a batch system, and no line that {}",
                       takes_all ? "says how many processes train" : "starts a training program"),
           "directives are lines such as #SBATCH --gres=gpu:4; launch lines begin with torchrun, srun, "
           "accelerate launch, deepspeed, horovodrun, mpirun or python");
  }

  /// Checks that GPUs, nodes and tasks are reserved, and that the cluster has such GPUs.
  void check_gpus() {
    const JobResources& have = script_.resources;
    const auto& type = script_.request.gpu_type;
    if (have.gpus && have.gpus->value == 0)
      refuse(have.gpus->span, "reserves no GPU", fmt::format("as in {}", job_system(script_.system).asks_as));
    if (have.nodes && have.nodes->value == 0) refuse(have.nodes->span, "reserves no node");
    if (have.tasks && have.tasks->value == 0) refuse(have.tasks->span, "reserves no task");
    if (type && is_slice(type->value))
      refuse(type->span, fmt::format("{} is a slice of a GPU, which is not simulated", type->value),
             "predict a whole one with --gpus 1 of a script that asks for it");
    else if (cluster_.node.gpus > 0)
      for (const WrongGpu& wrong : wrong_gpus(script_, cluster_))
        refuse(wrong.span, wrong.message, wrong.hint);
  }

  /// Checks the request against the cluster's node: GPUs, nodes, cores and memory.
  void check_node() {
    const JobResources& have = script_.resources;
    const NodeSpec& node = cluster_.node;
    if (script_.request.gpus_per_node && have.gpus_per_node && have.gpus_per_node->value > node.gpus)
      refuse(have.gpus_per_node->span,
             fmt::format("{} on each node, but nodes of {} have {}",
                         counted(have.gpus_per_node->value, "GPU"), cluster_.name, node.gpus),
             fmt::format("--nodes={} with {} on each",
                         (have.gpus_per_node->value + node.gpus - 1) / node.gpus, counted(node.gpus, "GPU")));
    if (have.gpus && have.gpus->value > std::int64_t{cluster_.nodes} * node.gpus)
      refuse(have.gpus->span, fmt::format("{}, but {} has {}", counted(have.gpus->value, "GPU"),
                                          cluster_.name, std::int64_t{cluster_.nodes} * node.gpus));
    if (have.nodes && have.nodes->value > cluster_.nodes)
      refuse(have.nodes->span, fmt::format("{}, but {} has {}", counted(have.nodes->value, "node"),
                                           cluster_.name, cluster_.nodes));
    check_cores();
    const bool asks_memory = have.memory_per_node && !have.memory_per_node->value.whole_node;
    if (asks_memory && static_cast<double>(have.memory_per_node->value.bytes.count) >
                           static_cast<double>(node.host.memory.count) * kGibPerGb)
      refuse(have.memory_per_node->span,
             fmt::format("{:.1f} GiB of memory, but nodes of {} have {}",
                         static_cast<double>(have.memory_per_node->value.bytes.count) / (1 << 30),
                         cluster_.name, to_string(node.host.memory)));
  }

  /// Checks the CPUs of a node. More than all hardware threads are impossible; a number between cores and
  /// threads depends on the site, so it is a warning.
  void check_cores() {
    const JobResources& have = script_.resources;
    const int cores = cluster_.node.host.cores;
    if (!have.cpus_per_node || have.cpus_per_node->value <= cores) return;
    const SourceSpan span = have.cpus_per_task ? have.cpus_per_task->span : have.cpus_per_node->span;
    const std::string what =
        have.tasks_per_node && have.tasks_per_node->value > 1 && have.cpus_per_task
            ? fmt::format("{} tasks with {} CPUs each are {} CPUs", have.tasks_per_node->value,
                          have.cpus_per_task->value, have.cpus_per_node->value)
            : fmt::format("{} CPUs", have.cpus_per_node->value);
    if (script_.request.physical_cores || have.cpus_per_node->value > kThreadsPerCore * cores)
      refuse(span, fmt::format("{} on a node, but nodes of {} have {} cores", what, cluster_.name, cores),
             script_.system == BatchSystem::slurm ? "fewer --cpus-per-task, or more --nodes"
                                                  : "fewer CPUs, or more nodes");
    else
      warn(span, fmt::format("{} on a node, but nodes of {} have {} cores: only where hardware threads count "
                             "as CPUs is that possible",
                             what, cluster_.name, cores));
  }

  /// Checks the partition of the request.
  void check_partition() {
    const auto& asked = script_.request.partition;
    const Site& site = cluster_.site;
    if (!asked || site.partitions.empty()) return;
    // Slurm takes the first of several partitions with free nodes; limits are checked for the first one
    // named.
    const std::vector<std::string_view> names = split_at(asked->value, ',');
    const auto own = std::find_if(site.partitions.begin(), site.partitions.end(),
                                  [&](const Partition& p) { return p.name == names[0]; });
    if (own == site.partitions.end()) {
      std::vector<std::string> known;
      for (const Partition& partition : site.partitions) known.push_back(partition.name);
      return warn(asked->span,
                  fmt::format("{} has no partition {} that is known here", cluster_.name, asked->value),
                  fmt::format("known: {}", fmt::join(known, ", ")));
    }
    // A partition for tests has limits as well, so both may be reported.
    check_limits(*own);
    if (own->for_tests) warn(asked->span, fmt::format("{} is for tests, not for production", own->name));
  }

  /// Checks the partition's limits, beyond which the batch system refuses the job or lets it wait for ever.
  void check_limits(const Partition& partition) {
    const JobResources& have = script_.resources;
    if (partition.most_gpus > 0 && have.gpus && have.gpus->value > partition.most_gpus)
      refuse(
          have.gpus->span,
          fmt::format("{}, but a job gets at most {} in partition {} of {}", counted(have.gpus->value, "GPU"),
                      partition.most_gpus, partition.name, cluster_.name),
          larger_partition(have.gpus->value));
    if (have.gpus && have.gpus->value < partition.least_gpus)
      refuse(have.gpus->span, fmt::format("{}, but a job in partition {} of {} has at least {}",
                                          counted(have.gpus->value, "GPU"), partition.name, cluster_.name,
                                          partition.least_gpus));
    if (have.nodes && have.nodes->value < partition.least_nodes)
      refuse(have.nodes->span, fmt::format("{}, but a job in partition {} of {} has at least {}",
                                           counted(have.nodes->value, "node"), partition.name, cluster_.name,
                                           partition.least_nodes));
    if (partition.most_nodes > 0 && have.nodes && have.nodes->value > partition.most_nodes)
      refuse(have.nodes->span, fmt::format("{}, but a job gets at most {} in partition {} of {}",
                                           counted(have.nodes->value, "node"), partition.most_nodes,
                                           partition.name, cluster_.name));
    const auto& seconds = script_.request.seconds;
    if (partition.longest > Time::zero() && seconds &&
        static_cast<double>(seconds->value) > to_seconds(partition.longest) + 0.5)
      refuse(seconds->span,
             fmt::format("a time limit of {}, but jobs in partition {} of {} end after {}",
                         slurm_time_text(seconds->value), partition.name, cluster_.name,
                         slurm_time_text(static_cast<std::int64_t>(to_seconds(partition.longest)))));
  }

  /// Returns a hint with the first partition for production that gives that many GPUs; empty when none does.
  std::string larger_partition(int gpus) const {
    for (const Partition& partition : cluster_.site.partitions) {
      if (!partition.for_tests && (partition.most_gpus == 0 || partition.most_gpus >= gpus))
        return fmt::format("--partition={}", partition.name);
    }
    return "";
  }

  /// Checks the tasks: more than the nodes take, or not the same number on each.
  void check_tasks() {
    const JobRequest& asked = script_.request;
    if (asked.tasks && asked.tasks_per_node && script_.resources.nodes) {
      const std::int64_t room = std::int64_t{asked.tasks_per_node->value} * script_.resources.nodes->value;
      if (asked.tasks->value > room)
        refuse(
            asked.tasks->span,
            fmt::format("{} tasks, but {} with {} tasks each have room for {}", asked.tasks->value,
                        counted(script_.resources.nodes->value, "node"), asked.tasks_per_node->value, room));
      else if (asked.tasks->value < room &&
               asked.tasks->value % std::max(1, script_.resources.nodes->value) != 0)
        warn(asked.tasks->span, fmt::format("{} tasks do not divide among {}", asked.tasks->value,
                                            counted(script_.resources.nodes->value, "node")));
    }
    if (asked.most_nodes && !script_.resources.nodes)
      warn(asked.nodes->span,
           fmt::format("not understood: from {} to {} nodes: how many the job gets is not known",
                       asked.nodes->value, asked.most_nodes->value),
           "say one number");
  }

  /// Checks the launch against the resources that are reserved.
  void check_launch() {
    const JobLaunch& launch = script_.launch;
    const JobResources& have = script_.resources;
    if (!launch.started_by || !have.gpus_per_node || have.gpus_per_node->value < 1) return;
    const SourceSpan span = launch.started_by->span;
    const int gpus = have.gpus_per_node->value, nodes = have.nodes ? have.nodes->value : 1;
    const std::string_view starter = name_of(launch.started_by->value);
    check_started_nodes(span, starter, nodes);
    check_meeting(span);
    check_srun(span, starter);
    if (!launch.processes_per_node || drives_all_gpus(script_)) return;
    const int processes = launch.processes_per_node->value;
    if (launch.started_by->value == StartedBy::python && gpus > 1)
      return warn(
          span,
          fmt::format("one process for {}: it uses one of them, unless the program itself spreads over all",
                      counted(gpus, "GPU")),
          fmt::format(
              "{}torchrun start{} one for each; --strategy data_parallel or mirrored if it does spread",
              starts_on_nodes().empty() ? "" : fmt::format("{} or ", starts_on_nodes()),
              starts_on_nodes().empty() ? "s" : ""));
    if (processes < gpus)
      warn(span, fmt::format("{} of {} on a node will idle: {} there", gpus - processes, counted(gpus, "GPU"),
                             counted(processes, "process")));
    if (processes > gpus)
      refuse(span,
             fmt::format("{} processes on a node for {}: NCCL refuses two on one GPU", processes,
                         counted(gpus, "GPU")),
             fmt::format("one process for each GPU: {} on a node", gpus));
  }

  /// Checks for nodes on which nothing is started. A launcher that waits for them never begins, unless
  /// several lines or a loop start it, which may each start another node.
  void check_started_nodes(const SourceSpan& span, std::string_view starter, int nodes) {
    const JobLaunch& launch = script_.launch;
    if (nodes < 2 || !launch.nodes || launch.nodes->value >= nodes) return;
    const int started = launch.nodes->value;
    // A launcher that waits for more nodes than are started never begins.
    const bool waits = launch.awaited_nodes && launch.awaited_nodes->value > started;
    if (waits && (launch.repeated || launch.lines > 1)) return;
    const std::string where = fmt::format("on {} of the {} reserved nodes only",
                                          started == 1 ? "the first" : std::to_string(started), nodes);
    const std::string hint =
        starts_on_nodes().empty() ? "" : fmt::format("{} {} …", starts_on_nodes(), starter);
    if (waits)
      return refuse(
          span,
          fmt::format("{}{} starts {} and waits for {}: the training never begins", missing_starter(),
                      starter, where, counted(launch.awaited_nodes->value, "node")),
          hint);
    warn(span, fmt::format("{}{} starts {}", missing_starter(), starter, where), hint);
  }

  /// Checks for starts on several nodes that do not look for each other.
  void check_meeting(const SourceSpan& span) {
    const JobLaunch& launch = script_.launch;
    if (!launch.alone || !launch.nodes || launch.nodes->value < 2) return;
    warn(
        span,
        fmt::format("{0} on each of {1} nodes starts {1} trainings that know nothing of each other",
                    launch.alone->value, launch.nodes->value),
        launch.started_by->value == StartedBy::torchrun
            ? fmt::format("torchrun --nnodes={} --rdzv_backend=c10d --rdzv_endpoint=<the first node>:29500 …",
                          launch.nodes->value)
            : "");
  }

  /// Returns the command that starts another one on every node in this batch system.
  std::string_view starts_on_nodes() const { return job_system(script_.system).starter; }
  std::string missing_starter() const {
    return starts_on_nodes().empty() ? "" : fmt::format("{} is missing: ", starts_on_nodes());
  }

  /// Warns that PBS may put small chunks on one node.
  void check_placement() {
    const JobResources& have = script_.resources;
    const bool may_share = script_.system == BatchSystem::pbs && !script_.request.placement && have.nodes &&
                           have.nodes->value > 1 && script_.request.gpus_per_node && have.gpus_per_node &&
                           have.gpus_per_node->value > 0 &&
                           2 * have.gpus_per_node->value <= cluster_.node.gpus;
    if (may_share)
      warn(have.nodes->span,
           fmt::format("{} chunks of {} may lie on one node, which has {}", have.nodes->value,
                       counted(have.gpus_per_node->value, "GPU"), cluster_.node.gpus),
           "#PBS -l place=scatter puts each on its own");
  }

  /// Warns of several reserved tasks, when a plain python in the script is started once.
  void check_srun(const SourceSpan& span, std::string_view starter) {
    const JobLaunch& launch = script_.launch;
    const Field<int>& tasks = script_.resources.tasks;
    const bool runs_once = !launch.under_srun && launch.started_by->value == StartedBy::python;
    if (runs_once && script_.system == BatchSystem::slurm && tasks && tasks->value > 1 &&
        script_.request.tasks)
      warn(script_.request.tasks->span,
           fmt::format("srun is missing: {} tasks are reserved, but {} in line {} runs once", tasks->value,
                       starter, span.line),
           "srun starts a process for each task; for cores of one process there is --cpus-per-task");
    else if (runs_once && script_.system == BatchSystem::slurm && script_.request.tasks_per_node &&
             script_.request.tasks_per_node->value > 1)
      warn(script_.request.tasks_per_node->span,
           fmt::format("srun is missing: {} tasks per node are reserved, but {} in line {} runs once",
                       script_.request.tasks_per_node->value, starter, span.line));
  }

  /// Checks what the program is given against what is reserved.
  void check_program() {
    const JobLaunch& launch = script_.launch;
    const ProgramArgument* workers = find_argument(launch.arguments, "workers");
    const Field<int>& cpus = script_.resources.cpus_per_node;
    const auto count = workers == nullptr ? std::nullopt : whole_number(workers->value);
    if (count && cpus && launch.processes_per_node && *count > 0 && *count < 100'000 &&
        launch.processes_per_node->value < 100'000) {
      const std::int64_t all = *count * std::max(1, launch.processes_per_node->value);
      if (all > cpus->value)
        warn(workers->span,
             fmt::format("{} loader workers on a node, {} for each process, share {}", all, *count,
                         counted(cpus->value, "CPU")),
             fmt::format(
                 "{}, or {} {}", script_.system == BatchSystem::slurm ? "--cpus-per-task" : "more CPUs",
                 workers->option, std::max(1, cpus->value / std::max(1, launch.processes_per_node->value))));
    }
    const ProgramArgument* no_gpu = find_argument(launch.arguments, "no_gpu");
    if (no_gpu != nullptr && script_.resources.gpus && script_.resources.gpus->value > 0)
      warn(no_gpu->span, fmt::format("{} are reserved, but {} tells the program to use none",
                                     counted(script_.resources.gpus->value, "GPU"), no_gpu->option));
    if (launch.repeated)
      warn(launch.started_by ? launch.started_by->span : SourceSpan{},
           "stands in a loop: one run of it is predicted, the time limit is for all");
  }

  /// Checks arrays of jobs.
  void check_kind() {
    const auto& array = script_.request.array;
    if (array && array->value > 1)
      warn(array->span,
           fmt::format("{} jobs of this kind are submitted; one of them is predicted", array->value));
    if (array && array->value == 0) refuse(array->span, "submits no job");
  }

  const JobScript& script_;
  const SourceText& source_;
  const ClusterSpec& cluster_;
  JobFindings findings_;
};

}  // namespace

JobFindings check_job(const JobScript& script, const SourceText& source, const ClusterSpec& cluster) {
  return JobChecker(script, source, cluster).check();
}

std::string one_line(const Diagnostic& diagnostic) {
  std::string out = diagnostic.file;
  if (diagnostic.span.line > 0) out += fmt::format(":{}", diagnostic.span.line);
  out += ": " + diagnostic.message;
  return printable(diagnostic.hint.empty() ? out : out + fmt::format(" ({})", diagnostic.hint));
}

}  // namespace foretrain
