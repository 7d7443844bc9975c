// Writes a plan as one line to type. Where the batch system can start it from a login node, the line asks for
// the job, too.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/job_text.hpp"
#include "sim/import/jobs/job_writers.hpp"
#include "sim/import/jobs/meeting.hpp"

namespace foretrain {

namespace {

/// Returns assignments and commands that the launch line needs before it, on the same line.
std::string on_one_line(const JobPlan& plan, const ScriptWords& words) {
  std::string out;
  for (const Assignment& line : launch_assignments(plan, words))
    out += fmt::format("{}{}={}; ", line.is_exported ? "export " : "", line.name, line.value);
  if (const std::string command = launch_command_before(plan, words); !command.empty()) out += command + "; ";
  return out;
}

/// Returns Slurm's options for the resources of a plan with that many tasks on each node.
std::string resources_of(const JobPlan& plan, int tasks) {
  std::string out;
  if (!plan.partition.empty()) out += " --partition=" + directive_value(plan.partition);
  out += fmt::format(" --nodes={} --ntasks-per-node={} --cpus-per-task={}", plan.nodes, tasks,
                     std::max(1, plan.cores_per_node / tasks));
  out += " --gres=" + directive_value(fmt::format(
                          "gpu:{}{}", plan.gpu_type.empty() ? "" : plan.gpu_type + ":", plan.gpus_per_node));
  const std::int64_t minutes = (limit_s(plan) + 59) / 60;
  // To Slurm a limit of 0 means unlimited; without the option the partition's default holds.
  return out + (minutes > 0 ? fmt::format(" --time={} ", minutes) : " ");
}

/// Returns the line for launchers that run as tasks of srun. Names of hosts are known only inside of the job,
/// so they are found there by a shell.
std::string under_srun(const JobPlan& plan, const ScriptWords& words) {
  const int all = plan.nodes * plan.processes_per_node;
  const std::string first_host =
      plan.nodes > 1 ? fmt::format("$({} | head -n 1)", words.hosts) : std::string("localhost");
  // srun itself stands in front, so each case is the launch line without its own srun.
  std::string line;
  // torchrun needs the address of the first host, which only a command inside of the job can print.
  if (plan.launcher == Launcher::torchrun) {
    line = torchrun_line(plan, words);
    const std::string address = "$MASTER_ADDR:$MASTER_PORT";
    if (plan.nodes > 1) line.replace(line.find(address), address.size(), first_host + ":29500");
    if (plan.nodes > 1) line = "bash -c " + shell_quoted(line);
  } else if (needs_ranks(plan)) {
    // Every task of srun sets its rank from Slurm's variables before it becomes the program.
    line = "bash -c " + shell_quoted(fmt::format(
                            "MASTER_ADDR={} MASTER_PORT=29500 WORLD_SIZE={} {} exec python {}", first_host,
                            all, rank_assignments(words.rank, words.local_rank), program(plan)));
  } else {
    line = script_launch_line(plan, words);
    if (line.starts_with("srun ")) line = line.substr(5);
  }
  return "srun" + resources_of(plan, plan.launcher == Launcher::srun ? plan.processes_per_node : 1) + line;
}

/// Returns the line for launchers that start the processes of all nodes from the first one. They run once
/// under salloc, beside the job's tasks.
std::string under_salloc(const JobPlan& plan, const ScriptWords& words) {
  const std::string before = on_one_line(plan, words), line = script_launch_line(plan, words);
  return "salloc" + resources_of(plan, tasks_per_node(plan)) +
         (before.empty() && !needs_ranks(plan) ? line : "bash -c " + shell_quoted(before + line));
}

}  // namespace

std::string interactive_command(const JobPlan& given) {
  const ScriptRefusal refusal = why_not_written(given, given.system);
  if (!refusal.why.empty()) return "# " + refusal.why;
  const JobSystem& system = job_system(given.system);
  // Pods and submit files start the processes of one machine, and there is no line for several.
  if (system.words == nullptr) {
    JobPlan plan = without_srun(given);
    if (plan.nodes > 1) return "# started by the operator: --job-script FILE writes what it needs";
    const ScriptWords& words = slurm_words();
    return on_one_line(plan, words) + (plan.launcher == Launcher::torchrun ? torchrun_line(plan, words)
                                                                           : script_launch_line(plan, words));
  }
  // The line for other batch systems is typed inside of a job that has the resources already.
  if (given.system != BatchSystem::slurm)
    return on_one_line(given, *system.words) + script_launch_line(given, *system.words);
  // mpirun, horovodrun and deepspeed reach the other nodes themselves, so they run once under salloc.
  const bool by_tasks =
      given.launcher != Launcher::mpirun &&
      (given.nodes == 1 || given.launcher == Launcher::torchrun || given.launcher == Launcher::srun);
  return by_tasks ? under_srun(given, *system.words) : under_salloc(given, *system.words);
}

}  // namespace foretrain
