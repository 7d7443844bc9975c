// The crossover of one scenario: how far and with how many simulations it is searched, and what stands in its
// way.
#pragma once

#include <string>

#include "sim/analysis/step/point_predictor.hpp"

namespace foretrain {

/// The largest number of GPUs that is searched: what cluster, global batch and strategy allow, or a larger
/// listed one.
int most_searched(const Scenario& scenario);

/// Which numbers of GPUs may be answers.
struct WhichNumbers {
  bool every_gpu = false;       ///< also those between whole nodes
  bool only_what_fits = false;  ///< into memory; costs the simulation of every number
};

/// Answers, causes, and in `decisions` how it was searched.
Crossover crossover_of_job(PointPredictor& points, int most_gpus, const WhichNumbers& which,
                           Decisions& decisions);

/// The answers alone.
Crossover search_crossover(PointPredictor& points, int most_gpus, const WhichNumbers& which = {});

// Why N GPUs are less than N times as fast as one: what a step loses, by cause.

/// Against a step that trains the same samples with all `gpus` at the pace of one alone. What shrinks
/// meanwhile is taken off the others in proportion, so that the parts sum to the loss.
CrossoverCause cause_of_loss(PointPredictor& points, int gpus);
/// The same by the rows of step_models().
CrossoverCause cause_of_replicated_loss(PointPredictor& points, int gpus);
CrossoverCause cause_of_cut_loss(PointPredictor& points, int gpus);

/// One sentence: what the step waits for beyond one GPU's step, at N GPUs.
std::string explain_loss(const Throughput& one, const Throughput& many, int gpus);

}  // namespace foretrain
