// The scaling curve as CSV.
#pragma once

#include <fmt/format.h>

#include "sim/report/catalog.hpp"
#include "sim/report/fields/csv_table.hpp"

namespace foretrain {

/// Returns a header line and one line for each number of GPUs. Units are seconds and bytes.
std::string write_csv(const Prediction& prediction, const ReportOptions& options);
/// Returns the lines of all predictions under one header.
std::string write_predictions_csv(const std::vector<Prediction>& predictions, const ReportOptions& options);
/// Returns the columns of a point that every table has, from the number of GPUs to the breakdown of the step.
const std::vector<CsvColumn>& point_columns();
/// Joins CSV texts with the same header into one.
std::string joined_csv(const std::vector<std::string>& texts);

/// Returns a value as a CSV field with enough digits to read back the same double; empty when it is unknown.
template <class T>
std::string csv_figure(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}
/// Return the two ends of a range as two fields.
std::string csv_figures(const std::optional<Interval>& interval);
std::string csv_figures(const std::optional<Range>& range);

/// Returns a CSV field, quoted when it has a comma, a quote or a line break (RFC 4180).
std::string csv_field(std::string_view text);

}  // namespace foretrain
