// A comparison for each pair, of which only the first two rows are kept.
#include "sim/analysis/search/strategy_matrix.hpp"

#include <cassert>

namespace foretrain {

namespace {

StrategyChoice best_strategy_of(const Comparison& comparison) {
  StrategyChoice choice;
  const ComparedGpus& row = comparison.numbers.front();
  const ComparedStrategy& best = *row.best();
  choice.best = best.strategy, choice.step_s = best.point.step_s, choice.speedup = best.point.speedup,
  choice.fits = best.point.fits();
  if (row.strategies.size() > 1 && row.strategies[1].why_not.empty()) {
    choice.runner_up = row.strategies[1].strategy;
    choice.runner_up_by = row.strategies[1].point.samples_per_s / best.point.samples_per_s;
  }
  return choice;
}

}  // namespace

StrategyMatrix choose_strategies(const std::vector<std::string>& models,
                                 const std::vector<std::string>& clusters, const ScenarioOverrides& overrides,
                                 const std::vector<std::string>& strategies, const Progress& progress) {
  assert(overrides.gpus.size() == 1);
  StrategyMatrix out{overrides.gpus.front(), models, clusters, strategies, {}};
  for (const std::string& model : models) {
    for (const std::string& cluster : clusters) {
      ScenarioOverrides pair = overrides;
      pair.model = model, pair.cluster = cluster;
      StrategyChoice choice = best_strategy_of(compare(read_compared({}, pair, strategies)));
      choice.model = model, choice.cluster = cluster;
      out.choices.push_back(std::move(choice));
      if (progress)
        progress(static_cast<double>(out.choices.size()) /
                 static_cast<double>(models.size() * clusters.size()));
    }
  }
  return out;
}

}  // namespace foretrain
