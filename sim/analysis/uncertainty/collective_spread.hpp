// The uncertainty of the time of one collective.
#pragma once

#include "sim/analysis/spreads/spread_table.hpp"
#include "sim/base/units.hpp"
#include "sim/collective/communicator.hpp"

namespace foretrain {

/// Returns the family of an operation.
OpFamily family_of(CollectiveOp op);
/// Returns the part that takes most of the time: moving bytes, or latency.
LongestPart longest_part(const CollectiveTiming& timing);
/// Returns the group of measured rows that the call belongs to.
CollectiveEvidence evidence_of(const Communicator& communicator, const CollectivePlan& plan);

/// Returns the case of a call for the table of spreads.
SpreadCase collective_case(const Communicator& communicator, const CollectivePlan& plan);

/// Returns the reach of a collective's 90 % interval. It is limited to that of measured collectives
/// (kMeasuredCollectives) where the cluster's calibration has the curve of this operation, number of GPUs and
/// nodes.
Reach reach_of(const Communicator& communicator, const CollectivePlan& plan);

/// The ends of a 90 % interval around a time.
struct TimeRange {
  Time low{}, high{};
};
/// Returns the interval of a time with this reach.
TimeRange time_range(Time time, const Reach& reach);

}  // namespace foretrain
