// Text that all writers of scripts share. Each launcher is one case of script_launch_line().
#include "sim/import/jobs/job_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/jobs/meeting.hpp"

namespace foretrain {

namespace {

/// Escapes a text for the inside of double quotes of a shell, so that nothing in it is expanded.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '$' || c == '"' || c == '\\' || c == '`') out += '\\';
    out += c;
  }
  return out;
}

/// Returns a line that starts each process with its rank. The addresses are passed along, because not every
/// MPI passes variables on.
std::string with_ranks(const std::string& start, const JobPlan& plan, std::string_view rank,
                       std::string_view local_rank) {
  return fmt::format(
      "{}bash -c \"MASTER_ADDR=$MASTER_ADDR MASTER_PORT=$MASTER_PORT WORLD_SIZE={} {} exec python {}\"",
      start, plan.nodes * plan.processes_per_node, escaped(rank_assignments(rank, local_rank)),
      escaped(program(plan)));
}

/// Breaks a long line before options, with a backslash at the end of each part.
std::string folded(const std::string& line) {
  constexpr std::size_t kColumns = 96;
  std::string out;
  std::size_t column = 0, begin = 0;
  while (begin < line.size()) {
    const std::size_t end = std::min(line.find(" --", begin + 1), line.size());
    if (column > 0 && column + (end - begin) > kColumns) out += " \\\n   ", column = 3;
    out += line.substr(begin, end - begin), column += end - begin, begin = end;
  }
  return out;
}

}  // namespace

// The bound keeps the conversion defined for absurd limits.
std::int64_t limit_s(const JobPlan& plan) {
  return static_cast<std::int64_t>(std::ceil(std::min(plan.time_limit_s, 1e15)));
}

// Characters that have a meaning to some batch system need quotes; these have none.
std::string directive_value(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-:=,@%/";
  std::string line = printable(text);
  if (!line.empty() && line.find_first_not_of(kPlain) == std::string::npos) return line;
  std::string out = "'";
  for (const char c : line) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string days_clock(std::int64_t seconds) {
  return fmt::format("{}-{:02}:{:02}:{:02}", seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60,
                     seconds % 60);
}

std::string hours_clock(std::int64_t seconds) {
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::int64_t mebibytes(Bytes memory) { return (memory.count + (1 << 20) - 1) >> 20; }

// The loader workers of all GPUs of a process share the process's cores with it.
int threads(const JobPlan& plan) {
  // A process may drive several GPUs, each with loader workers of its own.
  const int gpus_of_process = std::max(1, plan.gpus_per_node / plan.processes_per_node);
  return std::max(1, plan.cores_per_node / plan.processes_per_node - plan.workers_per_gpu * gpus_of_process);
}

// A process that drives several GPUs itself gets the batch of all of them.
std::string program(const JobPlan& plan) {
  if (!plan.program.empty()) return plan.program;
  std::string out = "train.py";
  // Options are those of common training scripts; the user adapts them to the program.
  if (plan.epochs > 0) out += fmt::format(" --epochs={:g}", plan.epochs);
  const bool is_one_process = plan.processes_per_node == 1 && plan.nodes == 1 && plan.gpus_per_node > 1;
  const std::int64_t batch = is_one_process ? plan.global_batch / plan.accumulation : plan.batch_per_gpu;
  if (batch > 0) out += fmt::format(" --batch-size={}", batch);
  if (plan.accumulation > 1) out += fmt::format(" --gradient-accumulation-steps={}", plan.accumulation);
  if (plan.workers_per_gpu > 0) out += fmt::format(" --workers={}", plan.workers_per_gpu);
  return out;
}

std::string torchrun_line(const JobPlan& plan, const ScriptWords& words) {
  if (plan.nodes == 1)
    return fmt::format("torchrun --standalone --nproc_per_node={} {}", plan.processes_per_node,
                       program(plan));
  return fmt::format(
      "torchrun --nnodes={} --nproc_per_node={} --rdzv_id={} --rdzv_backend=c10d "
      "--rdzv_endpoint=$MASTER_ADDR:$MASTER_PORT {}",
      plan.nodes, plan.processes_per_node, words.job_id, program(plan));
}

// srun and mpirun start processes without RANK; torchrun and the like set it themselves.
bool needs_ranks(const JobPlan& plan) {
  const bool starts_each = plan.launcher == Launcher::srun || plan.launcher == Launcher::mpirun;
  return starts_each && plan.nodes * plan.processes_per_node > 1 && meeting_of(plan) == Meeting::environment;
}

std::string rank_assignments(std::string_view rank, std::string_view local_rank) {
  return fmt::format("RANK={} LOCAL_RANK={}", rank, local_rank);
}

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

// A port is fixed here and marked as free to choose, since a script cannot know which ports are in use.
std::vector<Assignment> launch_assignments(const JobPlan& plan, const ScriptWords& words) {
  // Processes of PyTorch meet at an address; horovodrun needs a list of hosts with their slots.
  const bool meets = needs_ranks(plan) || (plan.launcher == Launcher::torchrun && plan.nodes > 1);
  if (meets)
    return {{"MASTER_ADDR", plan.nodes > 1 ? fmt::format("$({} | head -n 1)", words.hosts) : "localhost", ""},
            {"MASTER_PORT", "29500", "any free port"}};
  if (plan.launcher == Launcher::horovodrun && plan.nodes > 1)
    return {{"HOSTS",
             fmt::format("$({} | sed 's/$/:{}/' | paste -sd,)", words.hosts, plan.processes_per_node), "",
             false}};
  return {};
}

// DeepSpeed starts other nodes only from a file of hosts with their slots.
std::string launch_command_before(const JobPlan& plan, const ScriptWords& words) {
  if (plan.launcher != Launcher::deepspeed || plan.nodes == 1) return "";
  return fmt::format("{} | sed 's/$/ slots={}/' > hosts.{}", words.hosts, plan.processes_per_node,
                     words.job_id);
}

// `start` is the batch system's own way, or plain mpirun where Open MPI knows the hosts by itself.
std::string script_launch_line(const JobPlan& plan, const ScriptWords& words) {
  const int all = plan.nodes * plan.processes_per_node;
  const bool by_start =
      plan.launcher == Launcher::srun || (plan.launcher == Launcher::mpirun && words.starts_mpi);
  const std::string start =
      by_start ? words.start(plan, plan.processes_per_node) : fmt::format("mpirun -np {} ", all);
  switch (plan.launcher) {
    case Launcher::torchrun:
      return words.start(plan, 1) + torchrun_line(plan, words);
    case Launcher::srun:
    case Launcher::mpirun:
      return needs_ranks(plan) ? with_ranks(start, plan, by_start ? words.rank : ScriptWords::kMpiRank,
                                            by_start ? words.local_rank : ScriptWords::kMpiLocalRank)
                               : start + "python " + program(plan);
    // Horovod's own starter needs the hosts with their slots on its command line.
    case Launcher::horovodrun:
      return plan.nodes == 1 ? fmt::format("horovodrun -np {} python {}", all, program(plan))
                             : fmt::format("horovodrun -np {} -H \"$HOSTS\" python {}", all, program(plan));
    case Launcher::deepspeed:
      if (plan.nodes == 1)
        return fmt::format("deepspeed --num_gpus={} {}", plan.processes_per_node, program(plan));
      return fmt::format("deepspeed --hostfile=hosts.{} --num_nodes={} --num_gpus={} {}", words.job_id,
                         plan.nodes, plan.processes_per_node, program(plan));
    // The program runs as it is; with mp_spawn it starts its processes itself.
    case Launcher::mp_spawn:
    case Launcher::python:
      break;
  }
  return "python " + program(plan);
}

// Names come from files of users, so they are made printable before they stand in comments.
std::string script_heading(const JobPlan& plan) {
  // The batch stands in the heading, because job check compares it with the options.
  std::string batch = plan.global_batch > 0 ? fmt::format(", global batch {}", plan.global_batch)
                      : plan.batch_per_gpu > 0
                          ? fmt::format(", {} per GPU", counted(plan.batch_per_gpu, "sample"))
                          : "";
  return fmt::format(
      "# {} with {} on {}: {} on {}, {}{}.\n# Written by foretrain; fill in what stands in <…>, and "
      "the program's own options.\n",
      printable(plan.model), printable(plan.strategy), printable(plan.cluster),
      counted(std::int64_t{plan.nodes} * plan.gpus_per_node, "GPU"), counted(plan.nodes, "node"),
      counted(std::int64_t{plan.nodes} * plan.processes_per_node, "process"), batch);
}

// Launchers that leave something to the program need a comment.
std::string program_comments(const JobPlan& plan) {
  if (plan.launcher == Launcher::mp_spawn)
    return fmt::format("# train.py starts its {} processes on this node by itself\n",
                       plan.processes_per_node);
  if (plan.launcher != Launcher::srun || plan.nodes * plan.processes_per_node == 1) return "";
  if (meeting_of(plan) == Meeting::tensorflow)
    return "# train.py finds the other processes by tf.distribute.cluster_resolver.SlurmClusterResolver\n";
  return meeting_of(plan) == Meeting::horovod
             ? "# Horovod has to be built with MPI, by which srun tells its tasks of each other\n"
             : "";
}

std::string script_body(const JobPlan& plan, const ScriptWords& words) {
  std::string out =
      "\n# module load <the module with your framework>\n"
      "# source <your environment>/bin/activate\n\n";
  out += fmt::format("export OMP_NUM_THREADS={}\n", threads(plan));
  // Variables stand before the launch line, in the order in which they depend on each other.
  out += words.environment(plan);
  for (const Assignment& line : launch_assignments(plan, words))
    out += fmt::format("{}{}={}{}{}\n", line.is_exported ? "export " : "", line.name, line.value,
                       line.comment.empty() ? "" : "    # ", line.comment);
  if (const std::string command = launch_command_before(plan, words); !command.empty()) out += command + "\n";
  out += program_comments(plan);
  out += plan.before;
  const std::string line = script_launch_line(plan, words);
  return out + "\n" + (plan.program.empty() ? line : folded(line)) + "\n";
}

}  // namespace foretrain
