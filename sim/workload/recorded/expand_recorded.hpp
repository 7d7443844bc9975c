// Expansion of a recorded network into the operators, parameters and lifetimes that the rest of the program
// uses.
#pragma once

#include "sim/cluster/hardware.hpp"
#include "sim/workload/recorded/recorded_network.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

/// The GPU and precision with which the times of a trace were measured.
struct MeasuredOn {
  Gpu gpu;
  Precision precision = Precision::fp32;
};

/// Expands a recorded network. Requires sizes within kLargestExtent at the recorded batch, and indices within
/// their lists. With `measured_on`, the operators' measured times count. At the recorded batch, on that GPU
/// and in that precision, a kernel takes its measured time. Elsewhere its modelled time is scaled by the same
/// ratio.
ExpandedModel expand_recorded(const RecordedNetwork& network, const MeasuredOn* measured_on = nullptr);

/// Expands it with every tensor in its recorded type and with autocast's casts, as
/// ExpandedModel::as_recorded.
ExpandedModel expand_as_recorded(const RecordedNetwork& network, const MeasuredOn* measured_on = nullptr);

}  // namespace foretrain
