// The objects of reports about sweeps.
#pragma once

#include "sim/report/fields/output_field.hpp"
#include "sim/report/sweep/sweep_reports.hpp"

namespace foretrain {

/// Schema foretrain.sweep_status/1.
struct SweepStates {
  const std::vector<SweepState>& files;
};

template <>
const OutputObject<SweepStates>& output_object<SweepStates>();
template <>
const OutputObject<SweepAnswer>& output_object<SweepAnswer>();

}  // namespace foretrain
