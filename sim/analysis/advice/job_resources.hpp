// What a job of so many GPUs asks of its nodes and pays: cores, memory, partition, time limit, billing,
// energy.
#pragma once

#include "sim/analysis/prediction.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Each node's share that goes with its GPUs.
struct NodeShare {
  int gpus = 1, cores = 1;
  Bytes memory{};
};
NodeShare node_share(const Scenario& scenario, int gpus, int nodes);

/// The partition that gives so many GPUs for so long: the first that does, else the one that allows the
/// longest; nullptr: none gives them. Those for tests are left out.
const Partition* partition_for(const Site& site, int gpus, int nodes, double duration_s);
/// Whether the site has none, or one that gives so many GPUs.
bool is_given(const Site& site, int gpus, int nodes);

/// What to write into --time: a tenth more, rounded up to 5 minutes, from two hours on to 15, from twelve on
/// to an hour. At least 15 minutes.
double time_limit_s(double duration_s);

/// GPU-hours of what a job keeps from others.
double paid_gpu_hours(const Scenario& scenario, const Partition* partition, int gpus, int nodes,
                      double duration_s);
/// In the unit of Site::billing; 0 where it is unknown.
double billing_cost(const Scenario& scenario, const Partition* partition, int gpus, int nodes,
                    double duration_s);

/// Of the GPUs alone: a fifth of the board's power when idle, all of it while kernels run, in proportion
/// between. 0 for unknown power.
double gpu_energy_kwh(const PredictionPoint& point, const Gpu& gpu);

/// Of a working node without its GPUs: `host.power`, else half of its GPUs' boards.
double node_power_w(const NodeSpec& node);

/// Of the GPUs and of the job's share of its nodes, by GPUs; of whole nodes where the partition gives nothing
/// less. 0 for unknown power of GPUs.
double node_energy_kwh(const Scenario& scenario, const Partition* partition, const PredictionPoint& point);

}  // namespace foretrain
