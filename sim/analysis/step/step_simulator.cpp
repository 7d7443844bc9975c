// The simulator holds the machine and the placement of ranks; the step model that answers for the scenario
// does the rest.
//
// A step is simulated for one number of GPUs at a time, and several times for one answer: with other
// constants for intervals, without one of its costs for causes. Plans of collectives and kernel times are
// reused between these runs, because most of the time of a prediction would go into computing them again.
#include "sim/analysis/step/step_simulator.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/cluster/node_kinds.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/uncut_layout.hpp"
#include "sim/strategy/process/losses.hpp"
#include "sim/workload/device/device_constants.hpp"

namespace foretrain {

/// The first kind of node stands for a mixed cluster; device_of() derives the others.
DeviceModel default_device_model(const Scenario& scenario) {
  return default_device_model(as_kind(scenario.cluster, 0), scenario.workload.framework.cuda);
}

DeviceModel default_device_model(const ClusterSpec& cluster, const FrameworkVersion& cuda) {
  DeviceModel device;
  device.kernel = kernel_calibration_of(cluster, cuda);
  apply(cluster.calibration, host_call_constants(), device.host);
  const Losses losses = losses_of(cluster);
  device.rank_spread = losses.rank_spread, device.busy_node = losses.busy_node,
  device.busy_host = losses.busy_host;
  device.collective_share = losses.collective_share;
  // The scenario's what-if speeds divide the times of kernels and of messages.
  device.kernel.time_scale /= cluster.kernel_speed;
  device.communication_time_scale /= cluster.link_speed;
  return device;
}

StepSimulator::Machine::Machine(const ClusterSpec& spec, int nodes)
    : cluster(Cluster::build(spec, nodes)), collectives(std::make_shared<ClusterCollectives>(cluster)) {}

namespace {

/// Returns the nodes up to the last one with a rank of the job. A number below the fewest that can run the
/// step is simulated on the fewest, so the graph must hold those.
int nodes_up_to_last(const Scenario& scenario, int gpus) {
  const Placement placement = reserved_gpus(scenario, std::max(gpus, fewest_gpus_of(scenario)));
  return std::max(placement.nodes, placement.ranks.back().node + 1);
}

}  // namespace

StepSimulator::StepSimulator(const Scenario& scenario, int most_gpus, int most_nodes)
    : scenario_(scenario),
      model_(step_model_of(scenario)),
      machine_(std::make_shared<const Machine>(
          scenario.cluster, std::max(nodes_up_to_last(scenario, most_gpus), most_nodes))) {}

StepSimulator::StepSimulator(const Scenario& scenario, const StepSimulator& other)
    : scenario_(scenario), model_(step_model_of(scenario)), machine_(other.machine_) {
  const int nodes = nodes_up_to_last(scenario, 1);
  if (cluster().nodes() < nodes) machine_ = std::make_shared<const Machine>(scenario.cluster, nodes);
}

/// A scenario of a strategy with its simulator, which holds a reference to the scenario.
struct StepSimulator::OfStrategy {
  OfStrategy(Scenario own, const StepSimulator& other)
      : scenario(std::move(own)), simulator(scenario, other) {
    simulator.nodes_of_ = other.nodes_of_;
  }
  Scenario scenario;
  StepSimulator simulator;
};

/// Numbers of GPUs with the same number of micro-batches share one scenario and its simulator.
const StepSimulator* StepSimulator::as_strategy(int gpus) const {
  const auto [known, is_new] = of_strategy_.try_emplace(layout_on(scenario_, gpus).micro_batches());
  if (is_new) {
    if (std::optional<Scenario> own = foretrain::as_strategy(scenario_, gpus))
      known->second = std::make_shared<OfStrategy>(std::move(*own), *this);
  }
  return known->second == nullptr ? nullptr : &known->second->simulator;
}

int StepSimulator::cluster_gpus() const { return static_cast<int>(gpus_of_job(scenario_)); }

/// Ranks differ on mixed clusters, with slow GPUs, and with batches by kind of node.
bool StepSimulator::has_alike_ranks() const {
  return !is_mixed(scenario_.cluster) && !has_slow_gpus(scenario_) && scenario_.batch_of_kind.empty() &&
         !scenario_.balances;
}

std::int64_t StepSimulator::batch_per_gpu(int gpus) const { return model_.batch_per_gpu(*this, gpus); }

std::int64_t StepSimulator::global_batch(int gpus) const {
  return nodes_of_.count(gpus) > 0 ? samples_of_step(scenario_, placement(gpus))
                                   : samples_of_step(scenario_, gpus);
}

int StepSimulator::working(int gpus) const {
  return nodes_of_.count(gpus) > 0 ? gpus : working_gpu_count(scenario_, gpus);
}

/// A number of GPUs that spread() named ignores the scenario's own layout.
Placement StepSimulator::placement(int gpus) const {
  if (const auto asked = nodes_of_.find(gpus); asked != nodes_of_.end())
    return place(gpus, scenario_.cluster.node.gpus, Layout::spread, asked->second);
  return working_gpus(scenario_, gpus);
}

SimulatedStep StepSimulator::simulate(int gpus, std::int64_t batch, const DeviceModel& device,
                                      Reading reading) const {
  return model_.simulate(*this, gpus, batch, device, reading);
}

double StepSimulator::simulate_evaluation(int gpus, std::int64_t batch, const DeviceModel& device) const {
  return model_.evaluate(*this, gpus, batch, device);
}

StepRecording StepSimulator::record(int gpus, const DeviceModel& device, RecordingSize size) const {
  return model_.record(*this, gpus, device, size);
}

void refuse_endless_step(double step_s) {
  if (step_s <= StepSimulator::kLongestStep) return;
  throw InputError(fmt::format("one training step would take about {:.3g} s", step_s),
                   "the longest step that is simulated is one day; check batch, decode and overhead");
}

}  // namespace foretrain
