// Runs one comparison for each pair and keeps its first row and the next one that is slower.
#include "sim/analysis/search/strategy_matrix.hpp"

#include <algorithm>
#include <cassert>

namespace foretrain {

namespace {

/// Returns the first row, the number of equally fast ones, and the next row if it fits as the first does.
StrategyChoice best_strategy_of(const Comparison& comparison) {
  StrategyChoice choice;
  const ComparedGpus& row = comparison.numbers.front();
  const ComparedStrategy& best = *row.first();
  choice.best = best.strategy, choice.step_s = best.point.step_s, choice.speedup = best.point.speedup,
  choice.fits = best.point.fits();
  const auto next = std::ranges::find_if(row.strategies, [&best](const ComparedStrategy& other) {
    return &other != &best && other.standing != Standing::as_fast;
  });
  choice.others_as_fast = std::max(0, static_cast<int>(next - row.strategies.begin()) - 1);
  if (next != row.strategies.end() && next->why_not.empty() && next->point.fits() == choice.fits) {
    choice.runner_up = next->strategy;
    choice.runner_up_by = next->point.samples_per_s / best.point.samples_per_s;
  }
  return choice;
}

}  // namespace

StrategyMatrix choose_strategies(const std::vector<std::string>& models,
                                 const std::vector<std::string>& clusters, const ScenarioOverrides& overrides,
                                 const std::vector<std::string>& strategies, const Progress& progress,
                                 const EvidenceUse& evidence) {
  assert(overrides.gpus.size() == 1);
  StrategyMatrix out{overrides.gpus.front(), models, clusters, strategies, {}};
  for (const std::string& model : models) {
    for (const std::string& cluster : clusters) {
      ScenarioOverrides pair = overrides;
      pair.model = model, pair.cluster = cluster;
      const Comparison comparison = compare(read_compared({}, pair, strategies), nullptr, evidence);
      if (out.strategies.empty()) out.strategies = comparison.strategies;
      StrategyChoice choice = best_strategy_of(comparison);
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
