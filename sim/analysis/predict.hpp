// Entry points from a scenario to its prediction: the scaling curve, the breakdown and the crossover.
#pragma once

#include <functional>

#include "sim/analysis/evidence/residual_field.hpp"
#include "sim/analysis/prediction.hpp"
#include "sim/analysis/step/step_simulator.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Callback that receives the finished share of the work, from 0 to 1, now and then; may be empty.
using Progress = std::function<void(double done)>;

/// Returns the simulated steps of the scenario's largest listed number of GPUs, with the scenario's
/// calibration applied.
StepRecording recording_of(const Scenario& scenario, RecordingSize size);

/// Returns the recorded steps of single ranks. Throws InputError where the scenario's model of a step records
/// none (StepModel::why_no_ranks).
std::vector<RecordedRank> record_steps(const Scenario& scenario, RecordingSize size);

/// Optional parts of a prediction, besides the curve and its crossover.
struct PredictOptions {
  /// Adds the sensitivity of the largest listed number of GPUs.
  bool sensitivity = false;
  /// Asks the break-even questions for this number of GPUs; 0 stands for the number where more GPUs stop
  /// paying.
  std::optional<int> break_even{};
  /// Searches the crossover over every number of GPUs, not only those that a person would request.
  bool every_gpu = false;
  /// Adds the largest batch, the longest samples and the smallest GPUs that fit.
  bool limits = false;
  /// Measured runs that correct the steps.
  EvidenceUse evidence{};
};

/// Predicts the scenario for all its listed numbers of GPUs. Throws InputError when the scenario cannot be
/// simulated or `options.break_even` cannot be asked of it.
Prediction predict(const Scenario& scenario, const Progress& progress = nullptr,
                   const PredictOptions& options = {});

}  // namespace foretrain
