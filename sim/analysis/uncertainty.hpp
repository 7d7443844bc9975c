// How sure: the step's interval from the spread of what the model is built on.
#pragma once

#include "sim/analysis/step_simulator.hpp"

namespace foretrain {

/// Relative standard deviations of the inputs. Priors until a calibration gives residuals (docs/models/uncertainty.md).
struct Spreads {
  double kernels = 0.20;        ///< data-sheet efficiencies against one-GPU measurements
  double host = 0.25;           ///< framework costs on another CPU
  double communication = 0.15;  ///< link and protocol efficiencies
  double run_to_run = 0.02;     ///< the same job twice
};

/// With a measured anchor the anchored side is known to the run-to-run spread.
Spreads spreads_of(const Scenario& scenario);

/// Each input is raised by its spread alone, the changes of the step are added in quadrature, and the result is widened to the
/// level by the normal quantile: low = step / (1 + w), high = step * (1 + w).
Interval step_interval(const StepSimulator& simulator, int gpus, const DeviceModel& device, double step_s, const Spreads& spreads);

}  // namespace foretrain
