// A collective's curve as nccl-tests prints its results.
#pragma once

#include "sim/report/collective/collective_catalog.hpp"

namespace foretrain {

/// The table of nccl-tests: comments begin with '#'; out of place and in place are the same here, and nothing
/// was checked (N/A). Said to be a prediction in the first line. explain: one more comment per size.
std::string write_nccl_tests(const CollectiveCurve& curve, const ReportOptions& options);

}  // namespace foretrain
