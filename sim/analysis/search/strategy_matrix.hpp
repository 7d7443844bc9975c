// Which strategy for which model on which cluster: the best of each pair.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/search/compare.hpp"

namespace foretrain {

/// One model on one cluster.
struct StrategyChoice {
  std::string model, cluster;
  std::string best;         ///< the first of the comparison; empty when no strategy runs there
  std::string runner_up;    ///< the first that is no longer as fast; empty when there is none
  double step_s = 0;        ///< of the best
  double speedup = 0;       ///< of the best over the plain loop on one GPU
  double runner_up_by = 0;  ///< samples per second of the runner-up over those of the best
  bool fits = true;         ///< the best fits into memory
  int others_as_fast = 0;   ///< besides the best
};

/// The best strategy for each pair of model and cluster.
struct StrategyMatrix {
  int gpus = 1;
  std::vector<std::string> models, clusters, strategies;
  std::vector<StrategyChoice> choices;  ///< model after model, within it cluster after cluster
};

/// `overrides`: what holds for every pair; its gpus has one number. Throws InputError.
StrategyMatrix choose_strategies(const std::vector<std::string>& models,
                                 const std::vector<std::string>& clusters, const ScenarioOverrides& overrides,
                                 const std::vector<std::string>& strategies,
                                 const Progress& progress = nullptr, const EvidenceUse& evidence = {});

}  // namespace foretrain
