// Launchers that start a process per GPU do not suit strategies in which one process drives several.
#include "sim/scenario/sections/launch_section.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/scenario/job.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

constexpr int kMostProcessesOfNode = 64;

/// How many processes the launcher is made for.
bool suits(Launcher launcher, Processes processes) {
  if (processes == Processes::per_gpu) return true;
  if (processes == Processes::per_node)
    return launcher != Launcher::mp_spawn && launcher != Launcher::deepspeed;
  return launcher == Launcher::python || launcher == Launcher::srun || launcher == Launcher::mpirun;
}

std::string_view wanted_processes(Processes processes) {
  return processes == Processes::per_node ? "one process per node, which drives all its GPUs"
                                          : "one process, which drives all GPUs";
}

void check_processes(TableReader& launch, const Scenario& scenario) {
  const Processes wanted = find_strategy(scenario.strategy)->processes;
  const Launch& launched = scenario.launch;
  if (launched.with && !suits(*launched.with, wanted))
    launch.report(launch.span_of("with"),
                  fmt::format("{} starts a process for each GPU", name_of(*launched.with)),
                  fmt::format("{} is {}: launch.with = \"{}\"", scenario.strategy, wanted_processes(wanted),
                              wanted == Processes::one ? "python" : "srun"));
  const int started = launched.processes_per_node, gpus = scenario.cluster.node.gpus;
  if (started > 1 && wanted != Processes::per_gpu)
    launch.report(launch.span_of("processes_per_node"),
                  fmt::format("{} processes on a node would each drive all its GPUs", started),
                  fmt::format("{} is {}", scenario.strategy, wanted_processes(wanted)));
  else if (started > gpus && gpus > 0)
    launch.report(launch.span_of("processes_per_node"),
                  fmt::format("{} processes for {} of a node", started, counted(gpus, "GPU")),
                  "NCCL refuses two processes on one GPU");
  if (launched.with == Launcher::python && started > 1)
    launch.report(launch.span_of("processes_per_node"),
                  fmt::format("python starts one process, not {}", started), "as with torchrun or srun");
}

/// Why the strategy cannot run on so many GPUs; empty also where the cluster has fewer, which is another
/// mistake.
std::string refusal(const Scenario& scenario, int gpus) {
  const std::int64_t size = std::int64_t{scenario.cluster.nodes} * scenario.cluster.node.gpus;
  return gpus <= size ? why_not_together(scenario, gpus) : std::string();
}

}  // namespace

Key<Launch> processes_per_node_key() {
  return {"processes_per_node", takes::integer<&Launch::processes_per_node>(1, kMostProcessesOfNode), "1",
          "one per GPU; one for strategies whose process drives several GPUs",
          "fewer than the strategy needs leave GPUs idle; of `collective` 1 is one process that launches for "
          "all GPUs (nccl-tests -g N)"};
}

const Keys<Launch>& launch_keys() {
  static const Keys<Launch> keys{
      {"with", takes::choice<&Launch::with>(choices_of<Launcher>(kLauncherNames)), "\"srun\"",
       "what the strategy needs",
       "what starts the processes, and what its own start costs; python starts one, which with one process "
       "per GPU leaves the others idle"},
      processes_per_node_key(),
  };
  return keys;
}

void read_launch_section(TableReader& launch, Scenario& scenario) {
  read_keys(launch, launch_keys(), scenario.launch);
  scenario.collective.processes_per_node = scenario.launch.processes_per_node;
  check_processes(launch, scenario);
}

void check_gpus(TableReader& run, Scenario& scenario) {
  std::vector<int> refused;
  std::string why;
  for (const int gpus : scenario.gpus) {
    const std::string reason = refusal(scenario, gpus);
    if (reason.empty()) continue;
    refused.push_back(gpus);
    if (why.empty()) why = reason;
  }
  if (refused.empty()) return;
  if (run.has("gpus"))
    return run.report(
        run.span_of("gpus"),
        fmt::format("{} cannot run on {} GPUs: {}", scenario.strategy, fmt::join(refused, ", "), why),
        find_strategy(scenario.strategy)->one_gpu
            ? std::string("ask for one GPU, or for a strategy of several, as in --strategy ddp")
            : fmt::format("up to {} GPUs", most_usable_gpus(scenario, refused.front())));
  std::erase_if(scenario.gpus,
                [&](int gpus) { return std::find(refused.begin(), refused.end(), gpus) != refused.end(); });
  if (find_strategy(scenario.strategy)->one_gpu) return;
  scenario.warnings.push_back(fmt::format("{} GPUs are left out: {}", fmt::join(refused, ", "), why));
}

void check_anchor(TableReader& measured, const Scenario& scenario) {
  const std::string why = refusal(scenario, scenario.anchor->gpus);
  if (why.empty()) return;
  measured.report(measured.span_of("gpus"), fmt::format("{} cannot run on {}: {}", scenario.strategy,
                                                        counted(scenario.anchor->gpus, "GPU"), why));
}

}  // namespace foretrain
