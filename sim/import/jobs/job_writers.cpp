// Slurm's and HTCondor's: directives around a plan's launch line.
#include "sim/import/jobs/job_writers.hpp"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/job_text.hpp"

namespace foretrain {

namespace {

/// srun takes over which CPUs a task has only when it is told.
std::string srun_environment(const JobPlan& plan) {
  return plan.launcher == Launcher::torchrun || plan.launcher == Launcher::srun
             ? "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK    # srun does not take it over by itself\n"
             : "";
}

std::string srun_start(int, int) { return "srun "; }

constexpr ScriptWords kSlurmWords{"$SLURM_JOB_ID", "scontrol show hostnames \"$SLURM_JOB_NODELIST\"",
                                  srun_start, srun_environment};

/// A value of a submit file, to the end of its line: `$` begins no macro, and a backslash at the end takes no
/// line from below.
std::string condor_value(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) out += c == '$' ? "$(DOLLAR)" : std::string(1, c);
  return out.ends_with('\\') ? out + " " : out;
}

/// The launch line for a shell in which no script has set anything.
std::string bare_launch(const JobPlan& plan) {
  const std::string srun = "srun ";
  std::string line = script_launch_line(plan, kSlurmWords);
  if (line.starts_with(srun)) line = line.substr(srun.size());
  if (plan.nodes == 1 || plan.launcher != Launcher::torchrun) return line;
  const std::string address = "$MASTER_ADDR:$MASTER_PORT";
  if (plan.system != BatchSystem::slurm && plan.system != BatchSystem::htcondor)
    return line.replace(line.find(address), address.size(), "<the first node>:29500");
  line.replace(line.find(address), address.size(),
               "$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1):29500");
  return "bash -c '" + line + "'";
}

std::string directive(std::string_view option, const std::string& comment = "") {
  return comment.empty() ? fmt::format("#SBATCH --{}\n", option)
                         : fmt::format("#SBATCH --{:<28} # {}\n", option, comment);
}

std::string gres(const JobPlan& plan) {
  return fmt::format(
      "gres={}", directive_value(fmt::format("gpu:{}{}{}", plan.gpu_type, plan.gpu_type.empty() ? "" : ":",
                                             plan.gpus_per_node)));
}

}  // namespace

std::string write_sbatch(const JobPlan& plan) {
  assert(plan.nodes >= 1 && plan.gpus_per_node >= 1 && plan.processes_per_node >= 1 &&
         plan.cores_per_node >= 1);
  const int tasks = tasks_per_node(plan);
  std::string out = "#!/bin/bash\n" + script_heading(plan);
  out += directive(fmt::format("job-name={}", directive_value(plan.name)));
  out += directive("account=<project>", "who pays");
  if (!plan.partition.empty()) out += directive(fmt::format("partition={}", directive_value(plan.partition)));
  if (!plan.constraint.empty())
    out += directive(fmt::format("constraint={}", directive_value(plan.constraint)));
  out += directive(fmt::format("nodes={}", plan.nodes));
  out += directive(fmt::format("ntasks-per-node={}", tasks),
                   tasks == 1 ? fmt::format("{} starts the processes itself", name_of(plan.launcher))
                              : "one for each process");
  out += directive(fmt::format("cpus-per-task={}", std::max(1, plan.cores_per_node / tasks)));
  out += directive(gres(plan));
  if (plan.memory_per_node.count > 0)
    out += directive(fmt::format("mem={}M", mebibytes(plan.memory_per_node)));
  if (limit_s(plan) > 0)
    out += directive(fmt::format("time={}", days_clock(limit_s(plan))), "days-hours:minutes:seconds");
  out += directive("output=%x-%j.out");
  return out + script_body(plan, kSlurmWords);
}

std::string write_condor(const JobPlan& plan) {
  assert(plan.nodes >= 1 && plan.gpus_per_node >= 1 && plan.processes_per_node >= 1 &&
         plan.cores_per_node >= 1);
  JobPlan on_one_node = plan;
  on_one_node.nodes = 1;
  const bool by_torchrun = plan.launcher == Launcher::torchrun || plan.launcher == Launcher::srun;
  const std::string line =
      by_torchrun ? torchrun_line(on_one_node, kSlurmWords) : script_launch_line(on_one_node, kSlurmWords);
  std::string out =
      script_heading(plan) + fmt::format("universe = {}\n", plan.nodes > 1 ? "parallel" : "vanilla");
  if (plan.nodes > 1) out += fmt::format("machine_count = {}\n", plan.nodes);
  out += "# container_image = docker://<image with your framework>\n\n";
  out += "executable = /bin/bash\ntransfer_executable = false\n";
  out += fmt::format("arguments = \"-c 'OMP_NUM_THREADS={} {}'\"\n", threads(plan), line);
  out += "transfer_input_files = train.py\nshould_transfer_files = YES\n\n";
  out += fmt::format("request_gpus = {}\nrequest_cpus = {}\n", plan.gpus_per_node, plan.cores_per_node);
  if (plan.memory_per_node.count > 0)
    out += fmt::format("request_memory = {}MB\n", mebibytes(plan.memory_per_node));
  out += "# <room for environment, data and checkpoints>\nrequest_disk = 40GB\n";
  if (!plan.requirements.empty()) out += fmt::format("require_gpus = {}\n", condor_value(plan.requirements));
  if (limit_s(plan) > 0) out += fmt::format("allowed_job_duration = {}\n", limit_s(plan));
  if (plan.cluster.starts_with("chtc")) {
    out += fmt::format("+WantGPULab = true\n+GPUJobLength = \"{}\"\n", limit_s(plan) <= 12 * 3600   ? "short"
                                                                       : limit_s(plan) <= 24 * 3600 ? "medium"
                                                                                                    : "long");
  }
  return out + fmt::format("\nlog = {0}.log\noutput = {0}.out\nerror = {0}.err\n\nqueue 1\n",
                           condor_value(plan.name));
}

std::string interactive_command(const JobPlan& plan) {
  if (plan.system != BatchSystem::slurm) return bare_launch(plan);
  const int tasks = tasks_per_node(plan);
  std::string out = "srun";
  if (!plan.partition.empty()) out += " --partition=" + directive_value(plan.partition);
  out += fmt::format(" --nodes={} --ntasks-per-node={} --cpus-per-task={}", plan.nodes, tasks,
                     std::max(1, plan.cores_per_node / tasks));
  out += " --gres=" + directive_value(fmt::format(
                          "gpu:{}{}", plan.gpu_type.empty() ? "" : plan.gpu_type + ":", plan.gpus_per_node));
  const std::int64_t minutes = (limit_s(plan) + 59) / 60;
  return out + fmt::format(" --time={} {}", minutes, bare_launch(plan));
}

}  // namespace foretrain
