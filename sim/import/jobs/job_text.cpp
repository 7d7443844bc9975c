// The launch line; each launcher is one case of script_launch_line().
#include "sim/import/jobs/job_text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

/// What the launch line needs before it: addresses, hosts.
std::string preparation(const JobPlan& plan, const ScriptWords& words) {
  if (plan.nodes == 1) return "";
  switch (plan.launcher) {
    case Launcher::torchrun:
    case Launcher::srun:
      return fmt::format(
          "export MASTER_ADDR=$({} | head -n 1)\nexport MASTER_PORT=29500    # any free port\n", words.hosts);
    case Launcher::horovodrun:
      return fmt::format("HOSTS=$({} | sed 's/$/:{}/' | paste -sd,)\n", words.hosts, plan.processes_per_node);
    case Launcher::deepspeed:
      return fmt::format("{} | sed 's/$/ slots={}/' > hosts.{}\n", words.hosts, plan.processes_per_node,
                         words.job_id);
    default:
      return "";
  }
}

/// A long line goes on behind a backslash, an option or some of them a line.
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

std::int64_t limit_s(const JobPlan& plan) {
  return static_cast<std::int64_t>(std::ceil(std::min(plan.time_limit_s, 1e15)));
}

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

int threads(const JobPlan& plan) {
  const int gpus_of_process = std::max(1, plan.gpus_per_node / plan.processes_per_node);
  return std::max(1, plan.cores_per_node / plan.processes_per_node - plan.workers_per_gpu * gpus_of_process);
}

std::string program(const JobPlan& plan) {
  if (!plan.program.empty()) return plan.program;
  std::string out = "train.py";
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

std::string script_launch_line(const JobPlan& plan, const ScriptWords& words) {
  const int all = plan.nodes * plan.processes_per_node;
  switch (plan.launcher) {
    case Launcher::torchrun:
      return words.start(plan.nodes, 1) + torchrun_line(plan, words);
    case Launcher::srun:
      return words.start(plan.nodes, plan.processes_per_node) + "python " + program(plan);
    case Launcher::mpirun:
      return fmt::format("mpirun -np {} python {}", all, program(plan));
    case Launcher::horovodrun:
      return plan.nodes == 1 ? fmt::format("horovodrun -np {} python {}", all, program(plan))
                             : fmt::format("horovodrun -np {} -H $HOSTS python {}", all, program(plan));
    case Launcher::deepspeed:
      if (plan.nodes == 1)
        return fmt::format("deepspeed --num_gpus={} {}", plan.processes_per_node, program(plan));
      return fmt::format("deepspeed --hostfile=hosts.{} --num_nodes={} --num_gpus={} {}", words.job_id,
                         plan.nodes, plan.processes_per_node, program(plan));
    case Launcher::mp_spawn:
    case Launcher::python:
      break;
  }
  return "python " + program(plan);
}

std::string script_heading(const JobPlan& plan) {
  std::string batch = plan.global_batch > 0 ? fmt::format(", global batch {}", plan.global_batch)
                      : plan.batch_per_gpu > 0
                          ? fmt::format(", {} per GPU", counted(plan.batch_per_gpu, "sample"))
                          : "";
  return fmt::format(
      "# {} with {} on {}: {} on {}{}.\n# Written by foretrain; fill in what stands in <…>, and "
      "the program's own options.\n",
      printable(plan.model), printable(plan.strategy), printable(plan.cluster),
      counted(std::int64_t{plan.nodes} * plan.gpus_per_node, "GPU"), counted(plan.nodes, "node"), batch);
}

std::string script_body(const JobPlan& plan, const ScriptWords& words) {
  std::string out =
      "\n# module load <the module with your framework>\n"
      "# source <your environment>/bin/activate\n\n";
  out += fmt::format("export OMP_NUM_THREADS={}\n", threads(plan));
  out += words.environment(plan);
  out += preparation(plan, words);
  if (plan.launcher == Launcher::mp_spawn)
    out +=
        fmt::format("# train.py starts its {} processes on this node by itself\n", plan.processes_per_node);
  out += plan.before;
  const std::string line = script_launch_line(plan, words);
  return out + "\n" + (plan.program.empty() ? line : folded(line)) + "\n";
}

}  // namespace foretrain
