// The objects of plans.
#pragma once

#include "sim/analysis/search/planned_counts.hpp"
#include "sim/report/fields/shared_fields.hpp"

namespace foretrain {

template <>
const OutputObject<LayoutSearch>& output_object<LayoutSearch>();
template <>
const OutputObject<PlannedCounts>& output_object<PlannedCounts>();

}  // namespace foretrain
