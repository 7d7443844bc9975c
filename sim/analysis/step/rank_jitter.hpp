// How much step times differ between ranks, from how much the steps of a job differ one after the other.
#pragma once

#include <optional>
#include <vector>

#include "sim/cluster/calibration.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// Standard deviation of the largest of `ranks` independent standard normals: 1, 0.826, 0.748, 0.701, …; 1 <=
/// ranks.
double spread_of_slowest(int ranks);

/// loss.rank_spread from logs of single steps (kind training, step, at least 20 of them): every rank is taken
/// to vary from step to step as it differs from the others, so that a job's step varies as the slowest of its
/// ranks does. The median over the logs; nothing without any.
std::optional<CalibratedConstant> rank_spread_of(const std::vector<Sample>& samples);

}  // namespace foretrain
