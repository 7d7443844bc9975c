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

struct ModelLayout {
  LargeModelJob job;
  double step_s = 0;
  double memory_bytes = 0;  ///< of the fullest stage
  LargeModelPoint point;
  Breakdown breakdown{};
  bool is_tied = false;                ///< no telling it from the one above it: within kTie
  bool is_on_front = false;            ///< nothing is faster and needs less memory
  std::optional<Interval> interval{};  ///< of the step, where asked for (layout_points.hpp)
  Range over_first{1, 1};              ///< likewise, 90 % of the step over the first one's
};

/// Two layouts whose steps differ by less are not ranked.
inline constexpr double kTie = 0.02;
/// Combinations that are looked at; beyond, the request is refused with their number.
inline constexpr std::size_t kMostLayouts = 200'000;

struct LayoutSearch {
  std::string model, cluster;
  int gpus = 0;
  std::int64_t global_batch = 0, tokens = 0;
  std::size_t possible = 0;  ///< combinations that divide
  std::size_t simulated = 0;
  std::size_t without_memory = 0;
  std::vector<ModelLayout> layouts;       ///< that fit, fastest first
  std::string why_first;                  ///< what the second-best kind of layout loses, in a sentence
  std::vector<std::string> would_change;  ///< what machine would have another winner
  std::string why_none;                   ///< nothing fits: what is nearest
};

/// Sequences of a step, where nobody says how many: the job's, or one million tokens' worth.
std::int64_t usual_batch(const LargeModelJob& job, int gpus);

/// Requires a scenario whose network has a shape. Throws InputError where nothing divides.
LayoutSearch search_layouts(const Scenario& scenario, const LayoutRequest& request,
                            const Progress& progress = nullptr);

/// What the fastest layout of other degrees loses to the first; where there is none, which degrees of `fixed`
/// were given, and what comes next. A sentence without full stop.
std::string why_first(const std::vector<ModelLayout>& layouts,
                      const std::vector<std::string>& fixed);  // layout_words.cpp

/// "recompute full, ZeRO over 8, interleaved x 5, micro-batch 2": what a layout has besides its degrees.
std::string settings_of(const LargeModelJob& job);  // layout_words.cpp

}  // namespace foretrain
