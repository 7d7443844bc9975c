// Every kind of rank is simulated by itself, with the collectives of the whole job; in a synchronous step the
// others wait for the slowest where they meet it.
#include <algorithm>

#include "sim/analysis/step/step_simulator.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/scenario/job.hpp"
#include "sim/strategy/servers/server_options.hpp"

namespace foretrain {

namespace {

constexpr std::size_t kCommunication = static_cast<std::size_t>(Account::exposed_communication);

/// What an anchor or a draw does to the first kind it does to the others.
template <class Value>
Value carried_over(Value own, Value usual, Value now) {
  return now == usual ? own : now;
}

double factor(double now, double usual) { return usual > 0 ? now / usual : 1; }

/// Workers that wait for nobody each go at their own pace.
double mean_step(const std::vector<SimulatedStep>& steps, const std::vector<Representative>& ranks) {
  double all = 0, per_second = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    all += ranks[i].ranks, per_second += ranks[i].ranks / steps[i].step_s;
  return all / per_second;
}

/// Rank 0's step ends when that of the slowest does.
void wait_for(SimulatedStep& own, const SimulatedStep& slowest, std::string_view whom) {
  const double wait = slowest.step_s - own.step_s;
  own.step_s = slowest.step_s;
  own.critical = slowest.critical;
  own.waits_for_slower_s = wait, own.waits_for = whom;
  own.breakdown[kCommunication] += wait;
  if (own.parts.empty() || wait <= 0) return;
  own.parts.push_back({std::string(own.waits_for), wait});
  std::ranges::stable_sort(own.parts, std::greater{}, &StepPart::seconds);
}

/// What sets the slowest ranks apart from rank 0.
std::string_view slower_than(const Representative& own, const Representative& slowest) {
  if (slowest.kind != own.kind) return kWaitForNodes;
  return slowest.clock < own.clock ? kWaitForGpus : kWaitForBatches;
}

void stretch(SimulatedStep& step, double to_s) {
  const double by = to_s / step.step_s;
  step.step_s = to_s;
  for (Breakdown* each : {&step.breakdown, &step.critical}) {
    for (double& account : *each) account *= by;
  }
  for (double& wait : step.waits) wait *= by;
  for (StepPart& part : step.parts) part.seconds *= by;
}

}  // namespace

DeviceModel StepSimulator::device_of(const Representative& rank, const DeviceModel& device) const {
  DeviceModel own = device;
  if (rank.kind > 0) {
    const DeviceModel usual = default_device_model(scenario_);
    own = default_device_model(as_kind(scenario_.cluster, rank.kind), scenario_.workload.framework.cuda);
    own.kernel.time_scale *= factor(device.kernel.time_scale, usual.kernel.time_scale);
    own.host.time_scale *= factor(device.host.time_scale, usual.host.time_scale);
    own.input_time_scale = device.input_time_scale;
    own.communication_time_scale = device.communication_time_scale;
    own.account_time_scale = device.account_time_scale;
    for (double DeviceModel::*loss : {&DeviceModel::rank_spread, &DeviceModel::busy_node,
                                      &DeviceModel::busy_host, &DeviceModel::collective_share})
      own.*loss = carried_over(own.*loss, usual.*loss, device.*loss);
  }
  own.kernel.time_scale /= rank.clock;
  return own;
}

std::vector<Representative> StepSimulator::representatives(int gpus, std::int64_t batch) const {
  static const std::vector<KindBatches> kAllAlike;
  const std::vector<KindBatches>& own = batches(gpus);
  return representatives_of(scenario_, placement(gpus), batch,
                            batch == batch_per_gpu(gpus) ? own : kAllAlike);
}

/// A job of alike ranks on such a cluster has one representative and nobody to wait for.
SimulatedStep StepSimulator::simulate_unlike(Run run, const std::vector<Representative>& ranks,
                                             const DeviceModel& device, Reading reading) const {
  std::vector<SimulatedStep> steps;
  for (const Representative& rank : ranks) {
    run.rank = rank, run.batch_per_gpu = rank.batch;
    steps.push_back(simulate_alike(run, device_of(rank, device), reading));
  }
  if (steps.size() == 1) return std::move(steps.front());
  return joined(std::move(steps), ranks);
}

SimulatedStep StepSimulator::joined(std::vector<SimulatedStep> steps,
                                    const std::vector<Representative>& ranks) const {
  std::vector<UnlikeRanks> unlike;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    unlike.push_back({ranks[i], steps[i].step_s, steps[i].memory});
  const double mean = mean_step(steps, ranks);
  const auto last = std::ranges::max_element(steps, {}, &SimulatedStep::step_s);
  const std::string_view whom =
      slower_than(ranks.front(), ranks[static_cast<std::size_t>(last - steps.begin())]);
  const SimulatedStep slowest = *last;
  SimulatedStep own = std::move(steps.front());
  if (scenario_.knobs.get<ParameterServerOptions>().asynchronous)
    stretch(own, mean);
  else
    wait_for(own, slowest, whom);
  own.unlike = std::move(unlike);
  return own;
}

/// By the steps that ranks of each kind have in the job if they wait for nobody slower. Ranks of a kind are
/// as fast as the slowest of them.
std::vector<KindBatches> StepSimulator::balanced(int gpus) const {
  const DeviceModel device = default_device_model(scenario_);
  const std::int64_t steps = scenario_.knobs.accumulation;
  const std::vector<Representative> ranks = representatives_of(scenario_, placement(gpus), 1, {});
  std::vector<BalancedKind> kinds(static_cast<std::size_t>(kind_count(scenario_.cluster)));
  for (int kind = 0; kind < kind_count(scenario_.cluster); ++kind)
    kinds[static_cast<std::size_t>(kind)] = balanced_kind(kind, gpus, ranks, device);
  return balance(kinds, std::max((*scenario_.global_batch + steps - 1) / steps, std::int64_t{working(gpus)}));
}

BalancedKind StepSimulator::balanced_kind(int kind, int gpus, const std::vector<Representative>& ranks,
                                          const DeviceModel& device) const {
  BalancedKind out;
  const Placement job = placement(gpus);
  out.ranks = static_cast<int>(std::ranges::count_if(
      job.ranks, [&](const GpuPlace& rank) { return kind_of_node(scenario_.cluster, rank.node) == kind; }));
  if (out.ranks == 0) return out;
  Representative alone{first_kind_like(scenario_.cluster, kind)};
  for (const Representative& rank : ranks) {
    if (rank.kind == alone.kind) alone.clock = std::min(alone.clock, rank.clock);
  }
  const DeviceModel own = device_of(alone, device);
  const auto of_kind = std::ranges::find_if(
      job.ranks, [&](const GpuPlace& rank) { return kind_of_node(scenario_.cluster, rank.node) == kind; });
  Run run = run_of(gpus, 1);
  run.rank = alone, run.rank.first = static_cast<int>(of_kind - job.ranks.begin());
  out.seconds = [this, run, own](std::int64_t batch) mutable {
    run.batch_per_gpu = batch;
    return simulate_alike(run, own, Reading::time).step_s;
  };
  const StrategyMemory memory = simulate_alike(run, own, Reading::accounts).memory;
  const Gpu& gpu = node_of_kind(scenario_.cluster, kind).gpu;
  out.most = largest_batch(scenario_.workload, {memory, job.size(), gpu.architecture}, gpu.capacity());
  return out;
}

const std::vector<KindBatches>& StepSimulator::batches(int gpus) const {
  static const std::vector<KindBatches> kNothing;
  if (scenario_.batch_of_kind.empty() && !scenario_.balances) return kNothing;
  const auto known = batches_.find(gpus);
  if (known != batches_.end()) return known->second;
  std::vector<KindBatches> found;
  for (const std::int64_t batch : scenario_.batch_of_kind) found.push_back({batch, 0});
  if (scenario_.balances) found = balanced(gpus);
  return batches_.emplace(gpus, std::move(found)).first->second;
}

}  // namespace foretrain
