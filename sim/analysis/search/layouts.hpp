// The search over all layouts of a large model on some GPUs: which ones fit into memory, and how long their
// steps take.
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

/// The parameters of a search; a degree that the scenario fixes is not varied.
struct LayoutRequest {
  int gpus = 8;
  /// Sequences of a step; 0 stands for the scenario's, or for one million tokens.
  std::int64_t global_batch = 0;
  /// Keys of [parallel] that keep the scenario's value.
  std::vector<std::string> fixed{};
  /// True to ask which layout would be first on other machines.
  bool on_other_machines = true;
};

/// A layout of a large model with its predicted step, memory and probability that it fits.
struct ModelLayout {
  LargeModelRun job;
  double step_s = 0;
  /// Bytes of the fullest stage.
  double memory_bytes = 0;
  /// Probability that it runs in the GPU's memory (memory_verdict.hpp).
  double fits = 1;
  LargeModelPoint point;
  Breakdown breakdown{};
  /// True if its step is within kTie of the fastest, which makes them indistinguishable.
  bool is_tied = false;
  /// True on the Pareto front: no layout is both faster and smaller.
  bool is_on_front = false;
  /// Interval of the step, where asked for (layout_points.hpp).
  std::optional<Interval> interval{};
  /// Interval at 90 % of the step over the first one's, likewise.
  Range over_first{1, 1};
};

/// Layouts whose steps differ by less than this share are ranked by the probability that they fit.
inline constexpr double kTie = 0.05;
/// Most combinations that are tried; a request with more is refused.
inline constexpr std::size_t kMostLayouts = 200'000;

/// The result of a search: how many combinations divide, how many fit, and the ranked layouts.
struct LayoutSearch {
  std::string model, cluster;
  int gpus = 0;
  std::int64_t global_batch = 0, tokens = 0;
  /// Combinations that divide the GPUs, the layers and the batch.
  std::size_t possible = 0;
  std::size_t simulated = 0;
  /// Combinations whose probability to fit is below kHardlyFits.
  std::size_t without_memory = 0;
  /// Memory of one GPU.
  double capacity_bytes = 0;
  /// Smallest memory that any combination needs.
  double least_bytes = 0;
  /// Ranked layouts: those that fit with kProbablyFits or more, then the others. Each group is ordered by
  /// time, but layouts within kTie of the fastest remaining one are ordered by the probability that they fit.
  std::vector<ModelLayout> layouts;
  /// A sentence on what the second-best kind of layout loses.
  std::string why_first;
  /// Machines that would have another winner.
  std::vector<std::string> would_change;
  /// The nearest layout, where nothing fits.
  std::string why_none;
  /// Returns the first layout if it probably fits; nullptr where none does.
  const ModelLayout* best() const;
};

/// Returns the sequences of a step where none are stated: the job's, or one million tokens, at least one for
/// each GPU.
std::int64_t usual_batch(const LargeModelRun& job, int gpus);

/// Searches all layouts. Requires a scenario whose network has a transformer's shape. Throws InputError where
/// no combination divides, or where there are more than kMostLayouts.
LayoutSearch search_layouts(const Scenario& scenario, const LayoutRequest& request,
                            const Progress& progress = nullptr);

/// Returns the work for which `other` needs more time than `first`.
using CostsMore = std::function<std::string(const ModelLayout& first, const ModelLayout& other)>;

/// Returns the loss of the fastest layout of other degrees against the first. Where there is none, it names
/// the fixed degrees and the next layout. A sentence without its full stop. Requires search.best().
std::string why_first(const LayoutSearch& search, const std::vector<std::string>& fixed,
                      const CostsMore& costs_more);  // layout_words.cpp

/// Returns a layout's settings besides its degrees: "micro-batch 2, interleaved, recompute full".
std::string settings_of(const LargeModelRun& job);  // layout_words.cpp

}  // namespace foretrain
