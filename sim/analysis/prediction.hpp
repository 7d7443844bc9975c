// The answer: predicted times per number of GPUs, where they go, and where adding GPUs stops paying.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/decisions.hpp"
#include "sim/base/units.hpp"
#include "sim/strategy/strategy.hpp"
#include "sim/workload/device/memory.hpp"

namespace foretrain {

/// Seconds of one step per account, by Account's order. Sums to the step.
using Breakdown = std::array<double, kAccountCount>;

/// Where the true time lies with probability `level`.
struct Interval {
  double low_s = 0, high_s = 0, level = 0.9;
};

/// The same of a number without a unit.
struct Range {
  double low = 0, high = 0;
};

/// Seconds of the whole run that are no training steps.
struct AroundSteps {
  double startup_s = 0, loader_restart_s = 0, validation_s = 0, checkpoint_s = 0;
  double periodic_s = 0;  ///< work of a given duration under other names than validation and checkpoint
  double total_s() const { return startup_s + loader_restart_s + validation_s + checkpoint_s + periodic_s; }
};

/// What one uncertain input alone does to the time of the run, the others as predicted: its 5 % and 95 % quantiles.
struct TornadoBar {
  std::string input, origin;
  double low_s = 0, high_s = 0;
  double share = 0;  ///< of the variance that the inputs make together
};

/// The interval of the run's time once something has been measured.
struct NarrowedBy {
  std::string measurement;
  double low_s = 0, high_s = 0;
};

/// Which inputs matter on so many GPUs, largest first, and which measurement would narrow the answer most, best first.
struct Sensitivity {
  int gpus = 1;
  double total_s = 0;
  Interval interval;  ///< of total_s
  std::vector<TornadoBar> bars;
  std::vector<NarrowedBy> narrowed;
};

/// One number of GPUs.
struct PredictionPoint {
  int gpus = 1, nodes = 1;
  std::int64_t batch_per_gpu = 0, global_batch = 0, steps_per_epoch = 1;
  double step_s = 0, epoch_s = 0, total_s = 0;
  double samples_per_s = 0;
  double speedup = 1;     ///< samples_per_s over that of one GPU
  double efficiency = 1;  ///< speedup / gpus
  double gpu_hours = 0;
  AroundSteps around;  ///< part of total_s
  Interval interval;   ///< of step_s
  Interval epoch_interval, total_interval;
  Range speedup_range;        ///< 90 %, as all intervals
  double chance_of_gain = 1;  ///< probability that these GPUs are faster than one
  MemoryUse memory;
  Bytes memory_capacity{};
  std::int64_t largest_batch = 0;  ///< per GPU and micro-step that fits; 0 = not even one sample does
  Breakdown breakdown{};
  std::vector<Bytes> buckets;
  bool fits() const { return memory.least() <= memory_capacity; }
  /// Fits, but not with the scratch memory of the fastest convolutions.
  bool fits_tightly() const { return fits() && memory.total() > memory_capacity; }
};

/// Found by searching every number of GPUs in one node and the next, then whole nodes up to the cluster's size, then GPU by GPU
/// around each change (docs/models/crossover.md).
struct Crossover {
  int fastest_gpus = 1;
  std::optional<int> slower_than_one_gpu_from;  ///< smallest N > 1 with a lower throughput than one GPU
  std::optional<int> no_gain_from;              ///< smallest N beyond the fastest that is searched; none when the whole cluster is fastest
  std::optional<int> efficiency_below_90, efficiency_below_80, efficiency_below_50;
  std::string cause;
};

/// How far the answers of a crossover may be off: 90 % of the draws of all inputs, over the numbers of GPUs that were simulated.
struct CrossoverSpread {
  int fastest_low = 1, fastest_high = 1;
  double chance_slower_than_one = 0;                     ///< that some number of GPUs is slower than one
  std::optional<int> slower_from_low, slower_from_high;  ///< where; none: never
};

struct Prediction {
  std::string scenario, model, cluster, strategy, precision;
  bool strong_scaling = false;
  int cluster_gpus = 0;
  double epochs = 1;
  std::int64_t samples = 0;  ///< of the data set; 0 = unknown, then an epoch is one step
  std::vector<PredictionPoint> points;
  Crossover crossover;
  CrossoverSpread crossover_spread;
  std::optional<Sensitivity> sensitivity{};  ///< when asked for
  Decisions decisions;
  std::vector<std::string> warnings;
  std::string note;
};

}  // namespace foretrain
