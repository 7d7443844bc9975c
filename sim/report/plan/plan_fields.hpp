// The declared JSON objects of plans.
#pragma once

#include "sim/analysis/search/planned_counts.hpp"
#include "sim/report/fields/shared_fields.hpp"

namespace foretrain {

/// Return the fields of foretrain.plan/1 and foretrain.plans/1.
template <>
const OutputObject<LayoutSearch>& output_object<LayoutSearch>();
template <>
const OutputObject<PlannedCounts>& output_object<PlannedCounts>();

}  // namespace foretrain
