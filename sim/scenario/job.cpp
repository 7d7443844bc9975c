// Processes, GPUs and samples. A launch decides how many processes run on each reserved node, and the
// strategy how many GPUs a process drives; other GPUs are idle. A sampler divides the epoch among processes.
#include "sim/scenario/job.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/random.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/strategy/catalog.hpp"
#include "sim/workload/program/program_replays.hpp"

namespace foretrain {

namespace {

/// Stream of random numbers that draws slow GPUs.
constexpr std::uint64_t kSlowGpuStream = 7;

const StrategyEntry& strategy_of(const Scenario& scenario) { return *find_strategy(scenario.strategy); }

bool is_one_process(const Scenario& scenario) { return scenario.launch.with == Launcher::python; }

/// GPUs of each node that have a process, when the node has enough.
int driven_per_node(const Scenario& scenario) {
  const int all = most_gpus_per_node(scenario.cluster);
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

/// Returns whether the launcher starts as many processes as the strategy needs.
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

/// Returns how to start the processes so that every GPU works.
std::string right_launch(const Scenario& scenario, int gpus) {
  const int per_node = std::min(first_node(scenario).gpus, gpus);
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

/// Returns whether one loader makes the batch and deals it out, so that the GPUs' parts need not be equal.
bool deals_one_batch_out(const Scenario& scenario) {
  return scenario.balances || strategy_of(scenario).processes == Processes::one ||
         scenario.strategy == "multi_worker_mirrored";  // TensorFlow's batch_sizes_for_worker
}

/// Returns the samples of ranks that have equal batches or share a global batch.
std::int64_t samples_of_ranks(const Scenario& scenario, std::int64_t ranks) {
  const std::int64_t steps = scenario.knobs.accumulation;
  if (!scenario.global_batch) return scenario.workload.batch_per_gpu * steps * ranks;
  const std::int64_t loaders = deals_one_batch_out(scenario) ? 1 : ranks, shares = loaders * steps;
  const std::int64_t batch = (*scenario.global_batch + shares - 1) / shares;
  return std::max(batch * loaders, ranks) * steps;
}

/// Returns a warning about numbers of GPUs that cannot share the global batch without a remainder, with the
/// samples that their steps train; empty when there are none.
std::string uneven_warning(const Scenario& scenario) {
  if (!scenario.global_batch || scenario.parallel) return {};
  constexpr std::size_t kMostNamed = 4;
  std::vector<std::string> trained;
  std::size_t uneven = 0;
  for (const int gpus : scenario.gpus) {
    const std::int64_t samples = samples_of_step(scenario, gpus);
    if (samples == *scenario.global_batch) continue;
    if (++uneven <= kMostNamed) trained.push_back(fmt::format("{} on {}", samples, counted(gpus, "GPU")));
  }
  if (uneven == 0) return {};
  if (uneven > kMostNamed)
    trained.push_back(
        fmt::format("others on {}", counted(static_cast<std::int64_t>(uneven - kMostNamed), "more number")));
  const int steps = scenario.knobs.accumulation;
  return fmt::format(
      "the global batch of {} does not divide by the GPUs{}: every rank gets whole samples, rounded up, and "
      "a "
      "step trains {}; all figures count these",
      *scenario.global_batch, steps > 1 ? fmt::format(" times strategy.accumulation = {}", steps) : "",
      fmt::join(trained, ", "));
}

/// Returns a warning about ranks of one machine that do not see each other; empty when there are none.
std::string isolation_warning(const Scenario& scenario, int gpus) {
  const nccl::Isolation isolation = scenario.launch.isolation;
  const Placement working = working_gpus(scenario, gpus);
  if (isolation == nccl::Isolation::none || working.size() <= working.nodes) return {};
  return fmt::format(
      "launch.isolation = {}: NCCL takes every rank for a node of its own, so that GPUs of a machine have no "
      "NVLink, P2P or shared memory and share its network interface; one host name or NCCL_HOSTID, and a "
      "shared "
      "/dev/shm, join them",
      kIsolationNames[static_cast<std::size_t>(isolation)]);
}

}  // namespace

std::int64_t gpus_of_job(const Scenario& scenario) {
  if (scenario.launch.nodes_of.empty() && scenario.launch.left_out.empty())
    return gpu_count(scenario.cluster);
  std::int64_t gpus = 0;
  for (const NodeCapacity& node : nodes_of_job(scenario)) gpus += node.gpus;
  return gpus;
}

std::vector<NodeCapacity> nodes_of_job(const Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  const std::vector<int>& asked = scenario.launch.nodes_of;
  std::vector<NodeCapacity> rooms;
  for (int kind = 0, first = 0; kind < kind_count(cluster); first += nodes_of_kind(cluster, kind++)) {
    int wanted = asked.empty() ? kMostNodes : asked[static_cast<std::size_t>(kind)];
    for (int i = 0; i < nodes_of_kind(cluster, kind) && wanted > 0; ++i) {
      if (std::ranges::binary_search(scenario.launch.left_out, first + i)) continue;
      rooms.push_back({first + i, node_of_kind(cluster, kind).gpus});
      --wanted;
    }
  }
  return rooms;
}

const NodeSpec& first_node(const Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  if (!is_mixed(cluster)) return cluster.node;
  return node_of_kind(cluster, kind_of_node(cluster, nodes_of_job(scenario).front().node));
}

bool has_slow_gpus(const Scenario& scenario) {
  return !scenario.launch.slow_gpus.empty() || scenario.launch.slow_draw.share > 0;
}

double clock_of(const Scenario& scenario, const GpuPlace& place) {
  const SlowDraw& draw = scenario.launch.slow_draw;
  double clock = 1;
  for (const SlowGpu& slow : scenario.launch.slow_gpus) {
    if (slow.node == place.node && slow.gpu == place.gpu) clock = std::min(clock, slow.clock);
  }
  if (draw.share <= 0) return clock;
  const auto number =
      static_cast<std::uint64_t>(place.node) * kMostGpusPerNode + static_cast<std::uint64_t>(place.gpu);
  const bool is_drawn =
      CounterRandom(static_cast<std::uint64_t>(draw.seed)).uniform(kSlowGpuStream, number) < draw.share;
  return is_drawn ? std::min(clock, draw.clock) : clock;
}

Placement reserved_gpus(const Scenario& scenario, int gpus) {
  if (is_mixed(scenario.cluster) || !scenario.launch.nodes_of.empty() || !scenario.launch.left_out.empty())
    return place_on(nodes_of_job(scenario), gpus, scenario.layout);
  const int per_node = scenario.cluster.node.gpus;
  if (scenario.layout == Layout::packed) return place_packed(gpus, per_node);
  return place(gpus, per_node, Layout::spread, std::min(scenario.cluster.nodes, gpus));
}

Placement working_gpus(const Scenario& scenario, int gpus) {
  Placement placement = reserved_gpus(scenario, gpus);
  const int driven = driven_per_node(scenario);
  const bool first_node_only = is_one_process(scenario);
  const int own_node = placement.ranks.front().node;
  std::erase_if(placement.ranks, [&](const GpuPlace& place) {
    return place.gpu >= driven || (first_node_only && place.node != own_node);
  });
  if (first_node_only) placement.nodes = 1;
  return placement;
}

int working_gpu_count(const Scenario& scenario, int gpus) {
  const bool all_work =
      driven_per_node(scenario) >= most_gpus_per_node(scenario.cluster) && !is_one_process(scenario);
  return all_work ? gpus : working_gpus(scenario, gpus).size();
}

std::vector<StartFault> start_faults(const Scenario& scenario) {
  const Processes wanted = strategy_of(scenario).processes;
  const ProcessStart& start = scenario.launch;
  std::vector<StartFault> faults;
  if (start.with && !suits(*start.with, wanted))
    faults.push_back({"with", fmt::format("{} starts a process for each GPU", name_of(*start.with)),
                      fmt::format("{} is {}: launch.with = \"{}\"", scenario.strategy,
                                  wanted_processes(wanted), wanted == Processes::one ? "python" : "srun")});
  const int started = start.processes_per_node, gpus = most_gpus_per_node(scenario.cluster);
  if (started > 1 && wanted != Processes::per_gpu)
    faults.push_back({"processes_per_node",
                      fmt::format("{} processes on a node would each drive all its GPUs", started),
                      fmt::format("{} is {}", scenario.strategy, wanted_processes(wanted))});
  else if (started > gpus && gpus > 0)
    faults.push_back({"processes_per_node",
                      fmt::format("{} processes for {} of a node", started, counted(gpus, "GPU")),
                      "NCCL refuses two processes on one GPU"});
  if (start.with == Launcher::python && started > 1)
    faults.push_back({"processes_per_node", fmt::format("python starts one process, not {}", started),
                      "as with torchrun or srun"});
  return faults;
}

std::string why_not(const Scenario& scenario, int gpus) {
  if (const std::vector<StartFault> faults = start_faults(scenario); !faults.empty())
    return fmt::format("{}; {}", faults.front().message, faults.front().hint);
  return why_not(strategy_of(scenario), reserved_gpus(scenario, gpus));
}

namespace {

/// Returns why a recorded program cannot be replayed on `gpus` GPUs; empty where it can, or there is none.
std::string why_not_replayed(const Scenario& scenario, int gpus) {
  if (!scenario.program) return {};
  return scenario.program->facts_on(working_gpu_count(scenario, gpus)).why_not;
}

}  // namespace

std::string why_not_together(const Scenario& scenario, int gpus) {
  if (std::string why = why_not_replayed(scenario, gpus); !why.empty()) return why;
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

const LargeModelRun& layout_of(const Scenario& scenario) { return scenario.parallel.value(); }

LargeModelRun layout_on(const Scenario& scenario, int gpus) {
  return job_on(layout_of(scenario), std::max(gpus, fewest_gpus_of(scenario)));
}

void set_layout(Scenario& scenario, const LargeModelRun& layout) { scenario.parallel = layout; }

int fewest_gpus_of(const Scenario& scenario) {
  if (scenario.program) return static_cast<int>(scenario.program->first().world);
  return scenario.parallel ? fewest_gpus_of(*scenario.parallel) : 1;
}

namespace {

/// Returns the samples that all ranks of a program train in a step. On fewer ranks than it runs on, these are
/// the samples of the fewest ranks, whose step takes as much longer.
std::int64_t samples_of_program(const ProgramReplays& replays, int ranks) {
  const ReplayFacts& facts = replays.facts_on(ranks);
  return facts.why_not.empty() ? facts.samples : replays.facts_on(replays.first().world).samples;
}

}  // namespace

std::int64_t samples_of_step(const Scenario& scenario, const Placement& working) {
  if (scenario.program) return samples_of_program(*scenario.program, working.size());
  if (scenario.parallel) return layout_on(scenario, working.size()).global_batch;
  if (scenario.batch_of_kind.empty()) return samples_of_ranks(scenario, working.size());
  std::int64_t samples = 0;
  for (const GpuPlace& place : working.ranks)
    samples += scenario.batch_of_kind[static_cast<std::size_t>(kind_of_node(scenario.cluster, place.node))];
  return samples * scenario.knobs.accumulation;
}

bool may_be_answer(const Scenario& scenario, int gpus) {
  if (!scenario.global_batch || scenario.parallel) return true;
  if (scenario.lists_gpus && std::ranges::find(scenario.gpus, gpus) != scenario.gpus.end()) return true;
  return samples_of_step(scenario, gpus) == *scenario.global_batch;
}

std::int64_t samples_of_step(const Scenario& scenario, int gpus) {
  if (scenario.program) return samples_of_program(*scenario.program, working_gpu_count(scenario, gpus));
  if (scenario.parallel) return layout_on(scenario, gpus).global_batch;
  if (scenario.batch_of_kind.empty()) return samples_of_ranks(scenario, working_gpu_count(scenario, gpus));
  return samples_of_step(scenario, working_gpus(scenario, gpus));
}

std::string_view precision_of(const Scenario& scenario) {
  return scenario.program ? std::string_view("as recorded") : name_of(scenario.workload.precision);
}

EpochSteps epoch_steps(const DataSet& data, std::int64_t step) {
  return {data.samples / step, data.drop_last ? 0 : data.samples % step};
}

EpochSteps epoch_steps(const Scenario& scenario, int gpus) {
  const std::int64_t samples = samples_of_step(scenario, gpus);
  const int readers = scenario.sampler == Sampler::none ? readers_of_a_sample(scenario, gpus) : 1;
  return epoch_steps(scenario.workload.data, std::max<std::int64_t>(1, (samples + readers - 1) / readers));
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

namespace {

/// Returns a warning that the mean of unequal batches is not the mean of all samples.
std::string weighting_warning(const Scenario& scenario) {
  if (scenario.batch_of_kind.empty() && !scenario.balances) return {};
  return "ranks with unlike batches: an average over ranks gives every sample of a small batch more weight; "
         "each rank's loss must be multiplied by its batch times the number of ranks over the global batch "
         "for the gradient to be that of the global batch, and the sampler must deal out as many samples";
}

/// Returns a warning about slow GPUs that the job does not use, and draws without a slow GPU.
std::string slow_gpu_warning(const Scenario& scenario, int gpus) {
  if (!has_slow_gpus(scenario)) return {};
  const Placement working = working_gpus(scenario, gpus);
  const auto slow = std::ranges::count_if(
      working.ranks, [&](const GpuPlace& place) { return clock_of(scenario, place) < 1; });
  if (slow == 0) return fmt::format("none of {} is one of the slow ones", counted(gpus, "GPU"));
  return {};
}

}  // namespace

std::vector<std::string> job_warnings(const Scenario& scenario) {
  std::vector<std::string> out;
  if (scenario.gpus.empty()) return out;
  const int most = scenario.gpus.back();
  for (std::string text : {weighting_warning(scenario), slow_gpu_warning(scenario, most)})
    if (!text.empty()) out.push_back(std::move(text));
  if (working_gpus(scenario, most).size() < most) out.push_back(idle_warning(scenario, most));
  if (readers_of_a_sample(scenario, most) > 1) out.push_back(sampler_warning(scenario, most));
  if (std::string uneven = uneven_warning(scenario); !uneven.empty()) out.push_back(std::move(uneven));
  if (std::string apart = isolation_warning(scenario, most); !apart.empty()) out.push_back(std::move(apart));
  return out;
}

}  // namespace foretrain
