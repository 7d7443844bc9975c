// From a scenario to its prediction: the scaling curve, the breakdown and the crossover.
#pragma once

#include <functional>

#include "sim/analysis/prediction.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Called now and then with the share of the work done, 0..1.
using Progress = std::function<void(double done)>;

/// Throws InputError when the scenario cannot be simulated.
Prediction predict(const Scenario& scenario, const Progress& progress = nullptr);

}  // namespace foretrain
