// The scaling curve as CSV.
#pragma once

#include <fmt/format.h>

#include "sim/report/catalog.hpp"
#include "sim/report/fields/csv_table.hpp"

namespace foretrain {

/// One header line, one line per number of GPUs; seconds and bytes.
std::string write_csv(const Prediction& prediction, const ReportOptions& options);
/// The lines of all under one header.
std::string write_predictions_csv(const std::vector<Prediction>& predictions, const ReportOptions& options);
/// What a line of a point has in every table: from the number of GPUs to where the step goes.
const std::vector<CsvColumn>& point_columns();
/// Several CSV texts with the same header as one.
std::string joined_csv(const std::vector<std::string>& texts);

/// A figure as a CSV field, so that it reads back to the last bit; empty where it is not known.
template <class T>
std::string csv_figure(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}
/// Its two ends as two fields.
std::string csv_figures(const std::optional<Interval>& interval);
std::string csv_figures(const std::optional<Range>& range);

/// A CSV field: quoted when it holds a comma, a quote or a line break (RFC 4180).
std::string csv_field(std::string_view text);

}  // namespace foretrain
