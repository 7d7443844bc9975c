// The measured step of a finished job, as a row of evidence.
#pragma once

#include <optional>
#include <string>

#include "sim/analysis/explanation/explanation.hpp"
#include "sim/scenario/csv/observation.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Largest share of the run that may go to other things than steps. Their time is known by half, and at this
/// share its error is no more than the difference between two runs.
inline constexpr double kMostBesideSteps = 0.2;

/// A finished job as a row of evidence, or the reason why it cannot be one.
struct JobObservation {
  std::optional<Observation> row;
  /// A clause; set where there is no row.
  std::string why_not;
};

/// Returns the step of one GPU, or of the whole job where it had more; its run is the job's id. The row says
/// what trained where and how long a step took. It does not say who ran it, when, on which nodes or under
/// what name. `run` is the prediction of `scenario` as simulated; source and version are left to the caller.
JobObservation observation_of(const FinishedJob& job, const PredictedRun& run, const Scenario& scenario);

}  // namespace foretrain
