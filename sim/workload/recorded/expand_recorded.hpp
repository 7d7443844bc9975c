// A recorded network as the operators, parameters and lifetimes that the rest of the program works on.
#pragma once

#include "sim/cluster/hardware.hpp"
#include "sim/workload/recorded/recorded_network.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

/// Where the times of a trace were measured.
struct MeasuredOn {
  Gpu gpu;
  Precision precision = Precision::fp32;
};

/// Requires sizes within kLargestExtent at the recorded batch, and indices within their lists. With
/// `measured_on` the operators' times count: at the recorded batch, on that GPU and in that precision, a
/// kernel takes what was measured; elsewhere as much more or less as the model says of its work.
ExpandedModel expand_recorded(const RecordedNetwork& network, const MeasuredOn* measured_on = nullptr);

/// The same with every tensor in the type that was recorded, and with autocast's casts: what
/// ExpandedModel::as_recorded is.
ExpandedModel expand_as_recorded(const RecordedNetwork& network, const MeasuredOn* measured_on = nullptr);

}  // namespace foretrain
