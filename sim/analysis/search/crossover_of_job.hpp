// The crossover of one scenario: its range and budget of simulations, and the obstacles to more GPUs.
#pragma once

#include <string>

#include "sim/analysis/causes/step_causes.hpp"
#include "sim/analysis/step/point_predictor.hpp"

namespace foretrain {

/// Returns the largest number of GPUs that is searched: the limit of cluster, global batch and strategy, or a
/// larger listed number.
int most_searched(const Scenario& scenario);

/// The numbers of GPUs that may be answers.
struct WhichNumbers {
  /// Includes numbers between whole nodes.
  bool every_gpu = false;
  /// Excludes numbers that do not fit into memory; every number is then simulated.
  bool only_what_fits = false;
};

/// Returns answers and causes, and adds the account of the search to `decisions`.
Crossover crossover_of_job(PointPredictor& points, int most_gpus, const WhichNumbers& which,
                           Decisions& decisions);

/// Returns the answers without causes.
Crossover search_crossover(PointPredictor& points, int most_gpus, const WhichNumbers& which = {});

// The reasons why N GPUs are less than N times as fast as one.

/// Returns the loss of a step against one that trains the same samples with all `gpus` at the pace of one
/// GPU. Each part is the time that a cause adds when causes are removed in this order, on many GPUs minus on
/// one. Negative parts are dropped and the others scaled, so that they sum to the loss.
CrossoverCause cause_of_loss(PointPredictor& points, int gpus, const std::vector<CausePart>& order);

/// Returns one clause: the cause whose removal saves most of the step, and how much.
std::string cause_sentence(const StepCauses& causes);

}  // namespace foretrain
