// Plans for several numbers of GPUs: the best layout of each, its cost, and from where on more GPUs do not
// pay.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/answer/answer.hpp"
#include "sim/analysis/search/layouts.hpp"
#include "sim/analysis/search/paying.hpp"

namespace foretrain {

/// The best layouts for one number of GPUs, and the run on them.
struct PlannedCount {
  int gpus = 1, nodes = 1;
  /// The search; without layouts where nothing divides or fits, with the reason in why_none.
  LayoutSearch search;
  /// Rate of the first layout on all GPUs.
  double tokens_per_s = 0;
  /// Seconds for PlannedCounts::tokens.
  double run_s = 0;
  /// GPU-hours of that run.
  double gpu_hours = 0;
  /// Tokens/s of one GPU relative to that of the fewest GPUs that fit.
  double efficiency = 0;
  /// True if each doubling since the last number that pays reaches kPays.
  bool pays = false;
  const ModelLayout* best() const { return search.best(); }
};

/// The plans for several numbers of GPUs, and the number up to which more GPUs pay.
struct PlannedCounts {
  /// Tokens of the run.
  double tokens = 0;
  /// True if the tokens are the scenario's run; otherwise they are 10^12.
  bool is_run = false;
  /// Plans by ascending number of GPUs.
  std::vector<PlannedCount> counts;
  /// Index of the first number that fits; none where nothing does.
  std::optional<std::size_t> fewest;
  /// Index of the last number that pays.
  std::optional<std::size_t> best;
  /// True if no global batch is stated.
  bool assumes_batch = false;
  /// The verdict; set by answer_of() (plan_answer.hpp).
  Answer answer{};
};

/// Plans every number with one global batch: the request's, the scenario's, or the usual one of the largest
/// number. A single number that nothing divides throws InputError. Requires numbers that the cluster has,
/// ascending.
PlannedCounts plan_counts(const Scenario& scenario, const std::vector<int>& numbers,
                          const LayoutRequest& request, const Progress& progress = nullptr);

}  // namespace foretrain
