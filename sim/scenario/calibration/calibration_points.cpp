// Points of a calibration. A row is a list of four numbers: line, bytes, measured, fitted.
#include "sim/scenario/calibration/calibration_points.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "sim/scenario/calibration/calibration_text.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/scenario/toml/table_reader.hpp"

namespace foretrain {

namespace {

/// Returns an integer or float as a double.
std::optional<double> number_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.data)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value.data)) return *real;
  return std::nullopt;
}

/// Reads one point; nullopt unless it has four numbers in their ranges.
std::optional<CalibrationPoints::Row> read_point_row(const Value& value) {
  const auto* numbers = std::get_if<Array>(&value.data);
  if (numbers == nullptr || numbers->size() != 4) return std::nullopt;
  std::vector<double> row;
  for (const Value& number : *numbers) {
    const auto one = number_of(number);
    if (!one || !(*one >= 0) || *one > 1e18) return std::nullopt;
    row.push_back(*one);
  }
  // Lines and bytes may be 0, values may not.
  if (row[0] > 2e9 || !(row[2] > 0) || !(row[3] > 0)) return std::nullopt;
  return CalibrationPoints::Row{static_cast<int>(row[0]), row[1], row[2], row[3]};
}

/// Reads one table of points; `room` is the number of points that the file may still have.
CalibrationPoints read_group(const Table& table, std::size_t room, Diagnostics& diagnostics) {
  TableReader reader(table, "points", diagnostics);
  CalibrationPoints points;
  reader.require("what", "\"gemm\"");
  reader.require("rows", "[[1, 0, 10.2, 10.1]]");
  points.what = reader.string("what").value_or("");
  points.source = reader.string("source").value_or("");
  const std::vector<std::string> units(kSampleUnitNames.begin(), kSampleUnitNames.end());
  if (const auto unit = reader.one_of("unit", units))
    points.unit = static_cast<SampleUnit>(std::ranges::find(units, *unit) - units.begin());
  points.collective = static_cast<int>(reader.integer("collective", -1, 1'000'000).value_or(-1));
  if (const Array* rows = reader.array("rows", room)) {
    for (const Value& value : *rows) {
      const auto row = read_point_row(value);
      if (row)
        points.rows.push_back(*row);
      else
        reader.report(value.span, "a point is [line, bytes, measured, fitted], the last two more than zero",
                      "as in [12, 1048576, 61.5, 60.2]");
    }
  }
  reader.finish();
  return points;
}

}  // namespace

std::string write_calibration_points(const std::vector<CalibrationPoints>& points) {
  std::string out;
  for (const CalibrationPoints& group : points) {
    out += fmt::format("\n[[points]]\nwhat = {}\nsource = {}\nunit = \"{}\"\n", quoted(group.what),
                       quoted(group.source), kSampleUnitNames[static_cast<std::size_t>(group.unit)]);
    if (group.collective >= 0) out += fmt::format("collective = {}\n", group.collective);
    out += "rows = [  # line, bytes, measured, fitted\n";
    for (const CalibrationPoints::Row& row : group.rows)
      out += fmt::format("  [{}, {:.0f}, {:.6g}, {:.6g}],\n", row.line, row.bytes, row.measured, row.fitted);
    out += "]\n";
  }
  return out;
}

std::vector<CalibrationPoints> read_calibration_points(const SourceText& source, Diagnostics& diagnostics) {
  const Table table = parse_toml(source, diagnostics);
  TableReader document(table, "", diagnostics);
  std::vector<CalibrationPoints> groups;
  // The limit holds for all tables of points together.
  std::size_t room = kMostCalibrationPoints;
  const Array* all = document.array("points", kMostCalibrationPoints);
  if (all == nullptr) return groups;
  for (const Value& value : *all) {
    if (const auto* own = std::get_if<Table>(&value.data)) {
      groups.push_back(read_group(*own, room, diagnostics));
      room -= std::min(room, groups.back().rows.size());
    } else {
      document.report(value.span, "points must be tables", "as in [[points]] with what and rows");
    }
  }
  return groups;
}

}  // namespace foretrain
