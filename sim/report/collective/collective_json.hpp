// A collective's curve as JSON with stable keys.
#pragma once

#include "sim/report/collective/collective_catalog.hpp"

namespace foretrain {

/// Schema foretrain.collective/1: keys are added, never renamed. Seconds, bytes, bytes per second. explain:
/// points also have "why".
std::string write_collective_json(const CollectiveCurve& curve, const ReportOptions& options);

}  // namespace foretrain
