// Several numbers of GPUs: the best layout of each, what it costs, and from where on more do not pay.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/answer/answer.hpp"
#include "sim/analysis/search/layouts.hpp"
#include "sim/analysis/search/paying.hpp"

namespace foretrain {

/// The best layouts for one number of GPUs, and what a run on them takes.
struct PlannedCount {
  int gpus = 1, nodes = 1;
  LayoutSearch search;      ///< without layouts where nothing divides or fits: its why_none
  double tokens_per_s = 0;  ///< of the first layout, all GPUs
  double run_s = 0;         ///< for PlannedCounts::tokens
  double gpu_hours = 0;     ///< of that
  double efficiency = 0;    ///< tokens/s a GPU over that of the fewest GPUs that fit
  bool pays = false;        ///< each doubling since the last that pays buys kPays or more
  const ModelLayout* best() const { return search.best(); }
};

/// The plans for several numbers of GPUs, and up to which of them more GPUs pay.
struct PlannedCounts {
  double tokens = 0;                  ///< of the run
  bool is_run = false;                ///< the scenario's, else 10^12
  std::vector<PlannedCount> counts;   ///< by growing number of GPUs
  std::optional<std::size_t> fewest;  ///< place of the first that fits; none: nothing does
  std::optional<std::size_t> best;    ///< of the last that pays
  bool assumes_batch = false;         ///< nobody stated the global batch
  Answer answer{};                    ///< set by answer_of() (plan_answer.hpp)
};

/// All with one global batch: the request's, the scenario's, or the usual one of the largest number. Throws
/// InputError where nothing divides any of them. Requires numbers that the cluster has, ascending.
PlannedCounts plan_counts(const Scenario& scenario, const std::vector<int>& numbers,
                          const LayoutRequest& request, const Progress& progress = nullptr);

}  // namespace foretrain
