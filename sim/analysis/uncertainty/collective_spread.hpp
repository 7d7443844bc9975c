// How sure the time of one collective is.
#pragma once

#include "sim/analysis/spreads/spread_table.hpp"
#include "sim/base/units.hpp"
#include "sim/collective/communicator.hpp"

namespace foretrain {

OpFamily family_of(CollectiveOp op);
LongestPart longest_part(const CollectiveTiming& timing);
CollectiveEvidence evidence_of(const Communicator& communicator, const CollectivePlan& plan);

/// What is known of a call, for the table of spreads.
SpreadCase collective_case(const Communicator& communicator, const CollectivePlan& plan);

/// The reach of a collective's 90 % interval. Where the cluster's calibration has the curve of this job, it
/// depends on how far the size is from a measured one.
Reach reach_of(const Communicator& communicator, const CollectivePlan& plan);

/// 90 % interval around a time.
struct TimeRange {
  Time low{}, high{};
};
TimeRange time_range(Time time, const Reach& reach);

}  // namespace foretrain
