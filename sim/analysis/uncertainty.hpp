// How sure: the step's interval from the spread of what the model is built on.
#pragma once

#include "sim/analysis/step_simulator.hpp"

namespace foretrain {

/// Relative standard deviations of the inputs. Priors until a calibration gives residuals (docs/models/uncertainty.md).
struct Spreads {
  double kernels = 0.20;        ///< data-sheet efficiencies against one-GPU measurements
  double host = 0.25;           ///< framework and input costs on another CPU
  double communication = 0.15;  ///< link and protocol efficiencies
  double run_to_run = 0.02;     ///< the same job twice
};

/// With a measured anchor the anchored side is known to the run-to-run spread.
Spreads spreads_of(const Scenario& scenario);

/// First-order propagation. SimulatedStep::critical holds the derivatives of the step by the inputs, so the relative
/// variance is the sum of (share x spread)^2 and the run-to-run spread squared; w = that deviation times the normal quantile of the
/// level: low = step / (1 + w), high = step * (1 + w).
Interval step_interval(const SimulatedStep& step, const Spreads& spreads);

}  // namespace foretrain
