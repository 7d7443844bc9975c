// The resources of a job and their price: cores, memory, partition, time limit, billing and energy.
#pragma once

#include "sim/analysis/prediction.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// The share of one node that a job takes with its GPUs.
struct NodeShare {
  int gpus = 1, cores = 1;
  Bytes memory{};
};
/// Returns the share for `gpus` GPUs on `nodes` nodes.
NodeShare node_share(const Scenario& scenario, int gpus, int nodes);

/// Returns the first partition that gives these GPUs for `duration_s`, else the one that allows the longest
/// job; nullptr if none gives them. Partitions for tests are left out. The pointer is the site's.
const Partition* partition_for(const Site& site, int gpus, int nodes, double duration_s);
/// Returns true if the site has no partitions, or one that gives these GPUs.
bool is_given(const Site& site, int gpus, int nodes);

/// Returns the value for --time in seconds: a tenth more than the duration, rounded up to 5 minutes, from two
/// hours on to 15 minutes, from twelve hours on to an hour. At least 15 minutes.
double time_limit_s(double duration_s);

/// Returns the GPU-hours that a job keeps from others; of whole nodes where the partition gives nothing less.
double paid_gpu_hours(const Scenario& scenario, const Partition* partition, int gpus, int nodes,
                      double duration_s);
/// Returns the cost in the unit of Site::billing; 0 where the rates are unknown.
double billing_cost(const Scenario& scenario, const Partition* partition, int gpus, int nodes,
                    double duration_s);

/// Returns the energy of the GPUs alone: a fifth of the board's power when idle, all of it while kernels run,
/// in proportion between. 0 where the power is unknown.
double gpu_energy_kwh(const PredictionPoint& point, const Gpu& gpu);

/// Returns the power of a working node without its GPUs: `host.power`, else half of its GPUs' boards.
double node_power_w(const NodeSpec& node);

/// Returns the energy of the GPUs and of the job's share of its nodes, by GPUs; of whole nodes where the
/// partition gives nothing less. 0 where the power of GPUs is unknown.
double node_energy_kwh(const Scenario& scenario, const Partition* partition, const PredictionPoint& point);

}  // namespace foretrain
