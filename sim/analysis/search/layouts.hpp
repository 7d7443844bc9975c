// All layouts of a large model on some GPUs that fit into memory, and how long their steps take.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/predict.hpp"
#include "sim/analysis/step/prediction_point.hpp"
#include "sim/analysis/step/step_simulator.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// What is varied; a degree that the scenario fixes is not.
struct LayoutRequest {
  int gpus = 8;
  std::int64_t global_batch = 0;     ///< sequences; 0: the scenario's, or one million tokens' worth
  std::vector<std::string> fixed{};  ///< keys of [parallel] that keep the scenario's value
  bool on_other_machines = true;     ///< also ask which would be first there
};

/// One layout of a large model with its predicted step, memory and probability that it fits.
struct ModelLayout {
  LargeModelRun job;
  double step_s = 0;
  double memory_bytes = 0;  ///< of the fullest stage
  double fits = 1;          ///< the chance that it runs in the GPU's memory (memory_verdict.hpp)
  LargeModelPoint point;
  Breakdown breakdown{};
  bool is_tied = false;                ///< no telling it from the first: within kTie of the fastest
  bool is_on_front = false;            ///< nothing is faster and needs less memory
  std::optional<Interval> interval{};  ///< of the step, where asked for (layout_points.hpp)
  Range over_first{1, 1};              ///< likewise, 90 % of the step over the first one's
};

/// Layouts whose steps are within this of each other are ranked by the chance that they fit.
inline constexpr double kTie = 0.05;
/// Combinations that are looked at; beyond, the request is refused with their number.
inline constexpr std::size_t kMostLayouts = 200'000;

/// All layouts of a large model on a number of GPUs: how many divide, how many fit, and the ranked ones.
struct LayoutSearch {
  std::string model, cluster;
  int gpus = 0;
  std::int64_t global_batch = 0, tokens = 0;
  std::size_t possible = 0;  ///< combinations that divide
  std::size_t simulated = 0;
  std::size_t without_memory = 0;  ///< those that fit with less than kHardlyFits
  double capacity_bytes = 0;       ///< of a GPU
  double least_bytes = 0;          ///< that any layout needs
  /// Those that fit with kProbablyFits or more, then the others; each fastest first, but what is within kTie
  /// of the fastest that is left comes by the chance that it fits.
  std::vector<ModelLayout> layouts;
  std::string why_first;                  ///< what the second-best kind of layout loses, in a sentence
  std::vector<std::string> would_change;  ///< what machine would have another winner
  std::string why_none;                   ///< nothing fits: what is nearest
  /// The first, where it probably fits; nullptr where nothing does.
  const ModelLayout* best() const;
};

/// Sequences of a step, where nobody says how many: the job's, or one million tokens' worth.
std::int64_t usual_batch(const LargeModelRun& job, int gpus);

/// Requires a scenario whose network has a shape. Throws InputError where nothing divides.
LayoutSearch search_layouts(const Scenario& scenario, const LayoutRequest& request,
                            const Progress& progress = nullptr);

/// Names what one layout needs more time for than another.
using CostsMore = std::function<std::string(const ModelLayout& first, const ModelLayout& other)>;

/// What the fastest layout of other degrees loses to the first; where there is none, which degrees of `fixed`
/// were given, and what comes next. A sentence without full stop. Requires search.best().
std::string why_first(const LayoutSearch& search, const std::vector<std::string>& fixed,
                      const CostsMore& costs_more);  // layout_words.cpp

/// "recompute full, ZeRO over 8, interleaved x 5, micro-batch 2": what a layout has besides its degrees.
std::string settings_of(const LargeModelRun& job);  // layout_words.cpp

}  // namespace foretrain
