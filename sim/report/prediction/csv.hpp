// The scaling curve as CSV.
#pragma once

#include "sim/report/catalog.hpp"

namespace foretrain {

/// One header line, one line per number of GPUs; seconds and bytes.
std::string write_csv(const Prediction& prediction, const ReportOptions& options);
/// The lines of all under one header.
std::string write_predictions_csv(const std::vector<Prediction>& predictions, const ReportOptions& options);
/// Several CSV texts with the same header as one.
std::string joined_csv(const std::vector<std::string>& texts);

/// A CSV field: quoted when it holds a comma, a quote or a line break (RFC 4180).
std::string csv_field(std::string_view text);

}  // namespace foretrain
