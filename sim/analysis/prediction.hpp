// The answer: predicted times per number of GPUs, where they go, and where adding GPUs stops paying.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/prediction_point.hpp"
#include "sim/analysis/recommendation.hpp"
#include "sim/base/decisions.hpp"

namespace foretrain {

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
  std::optional<Sensitivity> sensitivity{};        ///< when asked for
  std::optional<Recommendation> recommendation{};  ///< when asked for
  Decisions decisions;
  std::vector<std::string> warnings;
  std::string note;
};

}  // namespace foretrain
