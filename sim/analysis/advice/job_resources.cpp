// The resources of a job. A GPU comes with its share of the node's cores and memory, as computing centres
// allot them.
#include "sim/analysis/advice/job_resources.hpp"

#include <algorithm>
#include <cmath>

#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Time limit over the expected duration.
constexpr double kTimeMargin = 1.1;
/// Jobs get 9 of 10 parts of a node's memory, because centres keep some for the system and refuse a job that
/// requests all of it (assumed).
constexpr std::int64_t kMemoryParts = 10, kGivenParts = 9;
/// Idle power over the board's power, assumed (docs/models/choices.md).
constexpr double kIdlePower = 0.2;
/// Power of CPUs, memory, fans and network adapters over that of the GPUs' boards. DGX-1 is rated at 3.5 kW
/// with 2.4 kW of GPUs (0.46), DGX A100 at 6.5 kW with 3.2 kW (1.0); no training loads all of it.
constexpr double kHostOfGpuPower = 0.5;
constexpr double kJoulesPerKwh = 3.6e6;

/// Returns true if the partition's limits on GPUs and nodes allow the job.
bool gives(const Partition& partition, int gpus, int nodes) {
  if (partition.for_tests || gpus < partition.least_gpus || nodes < partition.least_nodes) return false;
  return (partition.most_gpus == 0 || gpus <= partition.most_gpus) &&
         (partition.most_nodes == 0 || nodes <= partition.most_nodes);
}

/// Returns true if the partition's time limit allows the duration; zero stands for no limit.
bool is_long_enough(const Partition& partition, double duration_s) {
  return partition.longest == Time::zero() || duration_s <= to_seconds(partition.longest);
}

/// Returns the share that is billed: whole nodes where the partition gives nothing less.
NodeShare paid_share(const Scenario& scenario, const Partition* partition, int gpus, int nodes) {
  const NodeSpec& node = first_node(scenario);
  if (partition != nullptr && partition->whole_nodes) return {node.gpus, node.host.cores, node.host.memory};
  return node_share(scenario, gpus, nodes);
}

}  // namespace

/// A stated number of cores for each GPU comes first; otherwise cores are divided evenly.
NodeShare node_share(const Scenario& scenario, int gpus, int nodes) {
  const NodeSpec& node = first_node(scenario);
  const int here = (gpus + nodes - 1) / std::max(1, nodes), all = std::max(1, node.gpus);
  const int usual = std::max(1, node.host.cores / all);
  const double asked = scenario.workload.data.cores_per_gpu, cores = asked > 0 ? asked : usual;
  return {here,
          std::min(node.host.cores, static_cast<int>(std::ceil(cores * here))),
          {node.host.memory.count / kMemoryParts * kGivenParts / all * here}};
}

const Partition* partition_for(const Site& site, int gpus, int nodes, double duration_s) {
  const Partition* longest = nullptr;
  for (const Partition& partition : site.partitions) {
    if (!gives(partition, gpus, nodes)) continue;
    if (is_long_enough(partition, duration_s)) return &partition;
    if (longest == nullptr || partition.longest > longest->longest) longest = &partition;
  }
  return longest;
}

bool is_given(const Site& site, int gpus, int nodes) {
  return site.partitions.empty() || partition_for(site, gpus, nodes, 0) != nullptr;
}

double time_limit_s(double duration_s) {
  const double with_margin = kTimeMargin * duration_s;
  const double grain = with_margin < 2 * 3600 ? 300 : with_margin < 12 * 3600 ? 900 : 3600;
  return std::max(900.0, std::ceil(with_margin / grain) * grain);
}

double paid_gpu_hours(const Scenario& scenario, const Partition* partition, int gpus, int nodes,
                      double duration_s) {
  return paid_share(scenario, partition, gpus, nodes).gpus * nodes * duration_s / 3600;
}

double billing_cost(const Scenario& scenario, const Partition* partition, int gpus, int nodes,
                    double duration_s) {
  const Billing& rates = scenario.cluster.site.billing;
  const NodeShare share = paid_share(scenario, partition, gpus, nodes);
  const double gib = static_cast<double>(share.memory.count) / 0x1p30;
  const double per_node_hour =
      share.gpus * rates.per_gpu_hour + share.cores * rates.per_core_hour + gib * rates.per_gib_hour;
  return per_node_hour * nodes * duration_s / 3600;
}

double node_power_w(const NodeSpec& node) {
  return node.host.power_w > 0 ? node.host.power_w : kHostOfGpuPower * node.gpus * node.gpu.tdp_w;
}

/// Adds idle GPUs of billed nodes and the host's power to the energy of the working GPUs.
double node_energy_kwh(const Scenario& scenario, const Partition* partition, const PredictionPoint& p) {
  const NodeSpec& node = first_node(scenario);
  const double gpus_kwh = gpu_energy_kwh(p, node.gpu);
  if (gpus_kwh == 0) return 0;
  const int paid = paid_share(scenario, partition, p.gpus, p.nodes).gpus * p.nodes;
  const double idle_kwh = (paid - p.gpus) * kIdlePower * node.gpu.tdp_w * p.total_s / kJoulesPerKwh;
  const double host_w = node_power_w(node) * paid / std::max(1, node.gpus);
  return gpus_kwh + idle_kwh + host_w * p.total_s / kJoulesPerKwh;
}

/// GPUs are busy in compute, optimizer and copies; outside of training steps they count as idle.
double gpu_energy_kwh(const PredictionPoint& p, const Gpu& gpu) {
  const auto part = [&](Account account) {
    return p.breakdown[static_cast<std::size_t>(account)] / p.step_s;
  };
  const double busy =
      std::clamp(part(Account::compute) + part(Account::optimizer) + part(Account::other), 0.0, 1.0);
  const double steps_s = std::max(0.0, p.total_s - p.overhead.total_s());
  const double at_full_power_s =
      steps_s * (kIdlePower + (1 - kIdlePower) * busy) + (p.total_s - steps_s) * kIdlePower;
  return gpu.tdp_w * at_full_power_s * p.gpus / kJoulesPerKwh;
}

}  // namespace foretrain
