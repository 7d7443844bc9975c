// Writes Slurm's directives around a plan's launch line.
#include "sim/import/jobs/job_writers.hpp"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/job_text.hpp"

namespace foretrain {

namespace {

/// Returns a line for srun: newer versions use the job's CPUs per task only if this variable says so.
std::string srun_environment(const JobPlan& plan) {
  return plan.launcher == Launcher::torchrun || plan.launcher == Launcher::srun
             ? "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK    # srun does not take it over by itself\n"
             : "";
}

/// srun starts as many tasks as the job has, so it needs no numbers.
std::string srun_start(const JobPlan&, int) { return "srun "; }

constexpr ScriptWords kSlurmWords{.job_id = "$SLURM_JOB_ID",
                                  .hosts = "scontrol show hostnames \"$SLURM_JOB_NODELIST\"",
                                  .start = srun_start,
                                  .rank = "$SLURM_PROCID",
                                  .local_rank = "$SLURM_LOCALID",
                                  .environment = srun_environment};

/// Returns a directive, with its comments in one column.
std::string directive(std::string_view option, const std::string& comment = "") {
  return comment.empty() ? fmt::format("#SBATCH --{}\n", option)
                         : fmt::format("#SBATCH --{:<28} # {}\n", option, comment);
}

/// Returns the option for GPUs, with their type if the site has one.
std::string gres(const JobPlan& plan) {
  return fmt::format(
      "gres={}", directive_value(fmt::format("gpu:{}{}{}", plan.gpu_type, plan.gpu_type.empty() ? "" : ":",
                                             plan.gpus_per_node)));
}

}  // namespace

const ScriptWords& slurm_words() { return kSlurmWords; }

std::string write_sbatch(const JobPlan& plan) {
  assert(plan.nodes >= 1 && plan.gpus_per_node >= 1 && plan.processes_per_node >= 1 &&
         plan.cores_per_node >= 1);
  // Tasks are the processes, or one a node for launchers that start the processes themselves.
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

}  // namespace foretrain
