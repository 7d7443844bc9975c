// The table of best strategies: one for each pair of model and cluster.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/search/compare.hpp"

namespace foretrain {

/// The best strategies of one model on one cluster.
struct StrategyChoice {
  std::string model, cluster;
  /// The first row of the comparison.
  std::string best;
  /// The first row that is no longer as fast; empty when there is none.
  std::string runner_up;
  /// Step of the best, in seconds.
  double step_s = 0;
  /// Speedup of the best over the plain loop on one GPU.
  double speedup = 0;
  /// Samples per second of the runner-up relative to the best.
  double runner_up_by = 0;
  /// True if the best fits into memory.
  bool fits = true;
  /// Count of further strategies that are as fast as the best.
  int others_as_fast = 0;
};

/// The best strategy for each pair of model and cluster.
struct StrategyMatrix {
  int gpus = 1;
  std::vector<std::string> models, clusters, strategies;
  /// Choices ordered by model, then by cluster.
  std::vector<StrategyChoice> choices;
};

/// Compares the strategies for every pair. `overrides` apply to every pair and must hold exactly one number
/// of GPUs. Throws InputError when a pair cannot be compared.
StrategyMatrix choose_strategies(const std::vector<std::string>& models,
                                 const std::vector<std::string>& clusters, const ScenarioOverrides& overrides,
                                 const std::vector<std::string>& strategies,
                                 const Progress& progress = nullptr, const EvidenceUse& evidence = {});

}  // namespace foretrain
