// From a scenario to its prediction: the scaling curve, the breakdown and the crossover.
#pragma once

#include <functional>

#include "sim/analysis/evidence/residual_field.hpp"
#include "sim/analysis/prediction.hpp"
#include "sim/analysis/step/step_simulator.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Called now and then with the share of the work done, 0..1.
using Progress = std::function<void(double done)>;

/// The simulated steps of the scenario's largest listed number of GPUs, with its anchor applied.
StepRecording recording_of(const Scenario& scenario, RecordingSize size);

/// Those of single ranks. Throws InputError where the scenario's model of a step has none
/// (StepModel::why_no_ranks).
std::vector<RecordedRank> record_steps(const Scenario& scenario, RecordingSize size);

/// What is predicted besides the curve and its crossover.
struct PredictOptions {
  bool sensitivity = false;  ///< of the largest listed number of GPUs
  /// Ask the inverse questions for so many GPUs; 0: where more GPUs stop paying.
  std::optional<int> break_even{};
  /// The crossover is about every number of GPUs, not only those that a person would request.
  bool every_gpu = false;
  bool limits = false;     ///< the largest batch, the longest samples and the smallest cards that fit
  EvidenceUse evidence{};  ///< corrects the steps
};

/// Throws InputError when the scenario cannot be simulated.
Prediction predict(const Scenario& scenario, const Progress& progress = nullptr,
                   const PredictOptions& options = {});

}  // namespace foretrain
