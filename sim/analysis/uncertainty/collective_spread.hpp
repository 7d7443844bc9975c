// How sure the time of one collective is.
#pragma once

#include "sim/analysis/uncertainty/evidence.hpp"
#include "sim/base/units.hpp"
#include "sim/collective/communicator.hpp"

namespace foretrain {

OpFamily family_of(CollectiveOp op);
LongestPart longest_part(const CollectiveTiming& timing);
CollectiveEvidence evidence_of(const Communicator& communicator, const CollectivePlan& plan);

/// Standard deviation of the logarithm of its time; of a job whose curve the cluster's calibration has, that
/// of its sizes between measured ones.
double spread_of(const Communicator& communicator, const CollectivePlan& plan);

/// 90 % interval around a time.
struct TimeRange {
  Time low{}, high{};
};
TimeRange time_range(Time time, double spread);

}  // namespace foretrain
