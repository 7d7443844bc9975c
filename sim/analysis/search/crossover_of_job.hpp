// The crossover of one scenario: how far and with how many simulations it is searched, and what stands in its
// way.
#pragma once

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

}  // namespace foretrain
