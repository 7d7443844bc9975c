// The standard deviation of step times between ranks, derived from how the steps of a job vary in time.
#pragma once

#include <optional>
#include <vector>

#include "sim/cluster/calibration.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// Returns the standard deviation of the largest of `ranks` independent standard normals: 1, 0.826, 0.748,
/// 0.701, … Requires ranks >= 1.
double spread_of_slowest(int ranks);

/// Returns loss.rank_spread from logs of single steps (kind training, step, at least 20 steps). Each rank is
/// assumed to vary from step to step as it differs from the others, so a job's step varies like the slowest
/// of its ranks. The value is the median over the logs; nothing without any.
std::optional<CalibratedConstant> rank_spread_of(const std::vector<Sample>& samples);

}  // namespace foretrain
