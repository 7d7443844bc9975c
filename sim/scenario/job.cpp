// A launch decides how many processes run on each reserved node, the strategy how many GPUs a process drives;
// GPUs beyond that are idle. A sampler divides the epoch between the processes; without one each runs through
// all of it.
#include "sim/scenario/job.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

const StrategyEntry& strategy_of(const Scenario& scenario) { return *find_strategy(scenario.strategy); }

bool is_one_process(const Scenario& scenario) { return scenario.launch.with == Launcher::python; }

/// GPUs of each node that have a process, when the node has enough.
int driven_per_node(const Scenario& scenario) {
  const int all = scenario.cluster.node.gpus;
  if (strategy_of(scenario).processes != Processes::per_gpu) return all;
  if (scenario.launch.processes_per_node > 0) return scenario.launch.processes_per_node;
  return is_one_process(scenario) ? 1 : all;
}

int processes(const Scenario& scenario, const Placement& working) {
  switch (strategy_of(scenario).processes) {
    case Processes::per_gpu:
      return working.size();
    case Processes::per_node:
      return working.nodes;
    case Processes::one:
      break;
  }
  return 1;
}

/// How to start it so that every GPU works.
std::string right_launch(const Scenario& scenario, int gpus) {
  const int per_node = std::min(scenario.cluster.node.gpus, gpus);
  if (strategy_of(scenario).processes == Processes::per_node)
    return "start one process on each node, as with srun --ntasks-per-node=1";
  if (strategy_of(scenario).starter == Starter::horovodrun)
    return fmt::format("start one per GPU, as with horovodrun -np N or srun --ntasks-per-node={}", per_node);
  return fmt::format("start one per GPU, as with torchrun --nproc_per_node={} or srun --ntasks-per-node={}",
                     per_node, per_node);
}

std::string idle_warning(const Scenario& scenario, int gpus) {
  const Placement working = working_gpus(scenario, gpus);
  const int started = processes(scenario, working);
  return fmt::format("of {} reserved GPUs {} work{} and {} {} idle: {} of {}; {}", gpus, working.size(),
                     working.size() == 1 ? "s" : "", gpus - working.size(),
                     gpus - working.size() == 1 ? "is" : "are", counted(started, "process"),
                     scenario.strategy, right_launch(scenario, gpus));
}

std::string sampler_warning(const Scenario& scenario, int gpus) {
  const int readers = readers_of_a_sample(scenario, gpus);
  if (scenario.sampler == Sampler::none)
    return fmt::format(
        "{}: without a DistributedSampler each of {} processes runs through the whole data set: an epoch has "
        "as many steps as on the GPUs "
        "of "
        "one process; samples/s and speedup count every sample once",
        counted(gpus, "GPU"), readers);
  return fmt::format(
      "{}: with LOCAL_RANK as the sampler's rank {} nodes train on the same samples and an epoch leaves out "
      "{} of {}: give the sampler "
      "RANK; "
      "samples/s and speedup count every sample once",
      counted(gpus, "GPU"), readers, readers - 1, readers);
}

/// Micro-steps that cannot have the same number of samples: the first such number of GPUs, empty when there
/// is none.
std::string uneven_warning(const Scenario& scenario) {
  const std::int64_t steps = scenario.knobs.accumulation;
  if (!scenario.global_batch || steps == 1) return {};
  for (const int gpus : scenario.gpus) {
    const std::int64_t batch = *scenario.global_batch, shares = steps * working_gpus(scenario, gpus).size();
    if (batch % shares == 0) continue;
    return fmt::format(
        "strategy.accumulation = {} on {} does not divide the global batch of {}: micro-steps of {} "
        "samples are computed",
        steps, counted(gpus, "GPU"), batch, (batch + shares - 1) / shares);
  }
  return {};
}

}  // namespace

Placement reserved_gpus(const Scenario& scenario, int gpus) {
  const int per_node = scenario.cluster.node.gpus;
  if (scenario.layout == Layout::packed) return place_packed(gpus, per_node);
  return place(gpus, per_node, Layout::spread, std::min(scenario.cluster.nodes, gpus));
}

Placement working_gpus(const Scenario& scenario, int gpus) {
  Placement placement = reserved_gpus(scenario, gpus);
  const int driven = driven_per_node(scenario);
  const bool first_node_only = is_one_process(scenario);
  std::erase_if(placement.ranks, [&](const GpuPlace& place) {
    return place.gpu >= driven || (first_node_only && place.node > 0);
  });
  if (first_node_only) placement.nodes = 1;
  return placement;
}

int working_gpu_count(const Scenario& scenario, int gpus) {
  const bool all_work = driven_per_node(scenario) >= scenario.cluster.node.gpus && !is_one_process(scenario);
  return all_work ? gpus : working_gpus(scenario, gpus).size();
}

std::string why_not(const Scenario& scenario, int gpus) {
  return why_not(strategy_of(scenario), reserved_gpus(scenario, gpus));
}

std::string why_not_together(const Scenario& scenario, int gpus) {
  if (strategy_of(scenario).one_gpu && gpus > 1) return scenario.strategy + " trains on one GPU";
  return why_not(scenario, gpus);
}

int most_usable_gpus(const Scenario& scenario, int most) {
  int usable = 1, refused = most + 1;
  while (refused - usable > 1) {
    const int middle = usable + (refused - usable) / 2;
    (why_not(scenario, middle).empty() ? usable : refused) = middle;
  }
  return usable;
}

int shares_of_data(const Scenario& scenario, int gpus) {
  const Placement working = working_gpus(scenario, gpus);
  return scenario.sampler == Sampler::none ? std::max(1, working.size() / processes(scenario, working))
                                           : working.size();
}

int readers_of_a_sample(const Scenario& scenario, int gpus) {
  if (scenario.sampler == Sampler::distributed) return 1;
  const Placement working = working_gpus(scenario, gpus);
  if (scenario.sampler == Sampler::none) return processes(scenario, working);
  return processes(scenario, working) > 1 ? working.nodes : 1;
}

std::string job_losses(const Scenario& scenario, int gpus) {
  std::string out;
  if (working_gpus(scenario, gpus).size() < gpus) out += "GPUs without a process are idle; ";
  if (readers_of_a_sample(scenario, gpus) > 1) out += "processes train on the same samples; ";
  return out;
}

std::vector<std::string> job_warnings(const Scenario& scenario) {
  std::vector<std::string> out;
  if (scenario.gpus.empty()) return out;
  const int most = scenario.gpus.back();
  if (working_gpus(scenario, most).size() < most) out.push_back(idle_warning(scenario, most));
  if (readers_of_a_sample(scenario, most) > 1) out.push_back(sampler_warning(scenario, most));
  if (std::string uneven = uneven_warning(scenario); !uneven.empty()) out.push_back(std::move(uneven));
  return out;
}

}  // namespace foretrain
