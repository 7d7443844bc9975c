// Weak and strong scaling of one scenario in one report.
#pragma once

#include "sim/report/catalog.hpp"

namespace foretrain {

/// The tables one below the other with a line that compares them; one CSV; foretrain.predictions/1. Throws
/// InputError for other formats.
std::string write_both_scalings(const Prediction& weak, const Prediction& strong, std::string_view format,
                                const ReportOptions& options);

}  // namespace foretrain
