// What a prediction says beyond the jobs that its constants and spreads come from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/prediction.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// The largest measured jobs of a strategy in docs/measured/scaling.csv.
struct MeasuredJobs {
  std::string_view strategy;
  int gpus = 0, nodes = 0;
};
const std::vector<MeasuredJobs>& measured_jobs();

/// In sentences; empty when such jobs have been measured.
std::vector<std::string> extrapolations(const Scenario& scenario, const std::vector<PredictionPoint>& points);

}  // namespace foretrain
