// The declared JSON objects of reports about sweeps.
#pragma once

#include "sim/report/fields/output_field.hpp"
#include "sim/report/sweep/sweep_reports.hpp"

namespace foretrain {

/// States of several databases as one report: schema foretrain.sweep_status/1.
struct SweepStates {
  const std::vector<SweepState>& files;
};

/// Return the fields of foretrain.sweep_status/1 and foretrain.sweep_rows/1.
template <>
const OutputObject<SweepStates>& output_object<SweepStates>();
template <>
const OutputObject<SweepAnswer>& output_object<SweepAnswer>();

}  // namespace foretrain
