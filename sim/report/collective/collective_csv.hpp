// A collective's curve as CSV.
#pragma once

#include "sim/report/collective/collective_catalog.hpp"

namespace foretrain {

/// One header line, one line per size; microseconds, bytes and GB/s as nccl-tests has them. explain: one more
/// column, why.
std::string write_collective_csv(const CollectiveCurve& curve, const ReportOptions& options);

}  // namespace foretrain
