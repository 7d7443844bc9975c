// The crossover of one scenario: how far and with how many simulations it is searched, and what stands in its
// way.
#pragma once

#include <string>

#include "sim/analysis/causes/step_causes.hpp"
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

// Why N GPUs are less than N times as fast as one.

/// What a step loses against one that trains the same samples with all `gpus` at the pace of one alone: what
/// each cause adds when causes are removed in this order, from many GPUs and from one. What shrinks meanwhile
/// is taken off the others in proportion, so that the parts sum to the loss.
CrossoverCause cause_of_loss(PointPredictor& points, int gpus, const std::vector<CausePart>& order);

/// One clause: which cause, removed, saves most of the step, and how much.
std::string cause_sentence(const StepCauses& causes);

}  // namespace foretrain
