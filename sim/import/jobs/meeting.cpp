// Decides which jobs can be written. Each refusal names what the processes would have to know, and who does
// not tell them.
#include "sim/import/jobs/meeting.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"
#include "sim/base/printable.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Strategies whose workers need processes that only serve.
constexpr std::array<std::string_view, 2> kWithServers{"parameter_server", "byteps"};

/// Returns what the launcher does not tell the processes, in any batch system.
ScriptRefusal why_launcher_fails(const JobPlan& plan, Meeting meeting) {
  const std::string_view launcher = name_of(plan.launcher);
  const bool by_horovodrun = plan.launcher == Launcher::horovodrun;
  const bool by_mpi = by_horovodrun || plan.launcher == Launcher::mpirun || plan.launcher == Launcher::srun;
  const bool stays = plan.launcher == Launcher::python || plan.launcher == Launcher::mp_spawn;
  // A launcher that reaches no other node leaves the others idle.
  if (plan.nodes > 1 && (stays || meeting == Meeting::nobody))
    return {fmt::format("{} starts processes on the first of {} nodes only", launcher, plan.nodes),
            "launch.with = \"torchrun\", or fewer GPUs, so that one node has them"};
  // Horovod's processes meet through MPI or horovodrun's own rendezvous.
  if (meeting == Meeting::horovod && !by_mpi)
    return {fmt::format("{} does not tell Horovod's processes of each other", launcher),
            "launch.with = \"horovodrun\" or \"mpirun\""};
  if (meeting == Meeting::environment && by_horovodrun)
    return {
        fmt::format("horovodrun does not set RANK and WORLD_SIZE, which {} reads", printable(plan.strategy)),
        "launch.with = \"torchrun\""};
  return {};
}

/// Returns why TensorFlow's processes cannot meet. They find other nodes by TF_CONFIG, which Kubeflow sets,
/// or by the variables of srun's tasks.
ScriptRefusal why_tensorflow_fails(const JobPlan& plan, BatchSystem system) {
  if (plan.nodes == 1 || system == BatchSystem::kubernetes) return {};
  if (system == BatchSystem::slurm && plan.launcher == Launcher::srun) return {};
  if (system == BatchSystem::slurm)
    return {fmt::format("{} does not set the variables by which TensorFlow's processes find each other",
                        name_of(plan.launcher)),
            "launch.with = \"srun\""};
  return {fmt::format("nothing in {} tells TensorFlow's processes on {} nodes of each other (TF_CONFIG)",
                      job_system(system).title, plan.nodes),
          "--job-system slurm or kubernetes, or fewer GPUs, so that one node has them"};
}

}  // namespace

// A layout of a large model is no strategy of the catalog; its programs read the environment.
Meeting meeting_of(const JobPlan& plan) {
  const StrategyEntry* entry = find_strategy(plan.strategy);
  if (entry == nullptr) return Meeting::environment;
  if (std::ranges::find(kWithServers, entry->name) != kWithServers.end()) return Meeting::servers;
  if (entry->processes == Processes::one || entry->one_gpu) return Meeting::nobody;
  if (entry->processes == Processes::per_node) return Meeting::tensorflow;
  return entry->starter == Starter::horovodrun ? Meeting::horovod : Meeting::environment;
}

ScriptRefusal why_not_written(const JobPlan& plan, BatchSystem system) {
  const Meeting meeting = meeting_of(plan);
  if (meeting == Meeting::servers)
    return {fmt::format("no job script is written for {}: it needs processes that only serve, and how "
                        "the program starts them is not known here",
                        plan.strategy),
            "write the launch line by hand; the resources are in the table"};
  if (!plan.unknown_program.empty())
    return {fmt::format("no job script is written for {}: how its processes are started is not known here",
                        plan.unknown_program),
            "write the launch line by hand; the resources are in the table"};
  // A single process has nobody to find.
  if (plan.nodes * plan.processes_per_node == 1) return {};
  // A launcher that cannot work is refused before the batch system is looked at.
  if (ScriptRefusal refusal = why_launcher_fails(plan, meeting); !refusal.why.empty()) return refusal;
  if (plan.nodes > 1 && system == BatchSystem::htcondor)
    return {fmt::format("no submit file of HTCondor is written for {} machines: its parallel universe "
                        "starts the same command on each and tells none where the first one is, so "
                        "that each would train by itself",
                        plan.nodes),
            "fewer GPUs, so that one machine has them (--gpus), or another system with --job-system"};
  return meeting == Meeting::tensorflow ? why_tensorflow_fails(plan, system) : ScriptRefusal{};
}

std::string write_job_script(const JobPlan& plan, const JobSystem& system) {
  const ScriptRefusal refusal = why_not_written(plan, system.system);
  if (!refusal.why.empty()) throw InputError(refusal.why, refusal.hint);
  return system.write(plan);
}

JobPlan without_srun(JobPlan plan) {
  if (plan.launcher != Launcher::srun) return plan;
  const Meeting meeting = meeting_of(plan);
  // The replacement has to tell the processes of each other in the way that they read.
  plan.launcher = meeting == Meeting::environment ? Launcher::torchrun
                  : meeting == Meeting::horovod   ? Launcher::horovodrun
                                                  : Launcher::python;
  return plan;
}

}  // namespace foretrain
