// The scaling curve as CSV.
#pragma once

#include "sim/report/catalog.hpp"

namespace foretrain {

/// One header line, one line per number of GPUs; seconds and bytes.
std::string write_csv(const Prediction& prediction, const ReportOptions& options);

/// A CSV field: quoted when it holds a comma, a quote or a line break (RFC 4180).
std::string csv_field(std::string_view text);

}  // namespace foretrain
