// The calibration file: provenance, constants with their spreads, collectives as pieces of time over size. A
// constant looks like this:
// [constants."loss.rank_spread"]
// value = 0.006
// spread = 0.1
// Names, dimensions and limits come from the table of constants that can be calibrated.
#include <cmath>

#include <fmt/format.h>

#include "sim/base/names.hpp"
#include "sim/scenario/calibration/calibration_constants.hpp"
#include "sim/scenario/calibration/calibration_tables.hpp"
#include "sim/scenario/calibration/calibration_text.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Returns a value as the file would have it, with its unit.
std::string shown(double value, const ConstantRange& range) {
  return range.dimension ? fmt::format("\"{}\"", write_quantity(value, *range.dimension))
                         : fmt::format("{:.6g}", value);
}

/// Reads the value in the constant's dimension. A value outside of the physical limits is reported with these
/// limits.
void read_value(TableReader& reader, const ConstantRange& range, CalibratedConstant& constant) {
  // The example of the message has the unit of the constant.
  reader.require("value", range.dimension ? fmt::format("\"{}\"", example_of(*range.dimension)) : "0.8");
  // Numbers without a dimension have no limit of their own here; those of the constant follow.
  const double largest = 1e300;
  const auto value = range.dimension ? read_quantity(reader, "value", *range.dimension)
                                     : reader.number("value", -largest, largest);
  if (!value) return;
  constant.value = *value;
  // A largest value of 0 means that there is no upper limit.
  const bool is_off = *value < range.least || (range.most > 0 && *value > range.most);
  const std::string bounds =
      range.most > 0 ? fmt::format("from {} to {}", shown(range.least, range), shown(range.most, range))
                     : fmt::format("at least {}", shown(range.least, range));
  if (!is_off && *value > 0) return;
  reader.report(reader.span_of("value"),
                fmt::format("{} must be {}", reader.full_name("value"), is_off ? bounds : "more than zero"),
                std::string(range.meaning));
}

/// Reads the sizes that a constant was fitted on: range = ["8 B", "4 GiB"].
void read_sizes(TableReader& reader, CalibratedConstant& constant) {
  const auto sizes = reader.strings("range", 2);
  if (!sizes) return;
  std::vector<double> bytes;
  for (const std::string& size : *sizes) {
    const ParsedQuantity parsed = parse_quantity(size, Dimension::bytes);
    if (!parsed)
      reader.report(reader.span_of("range"), fmt::format("{}: {}", reader.full_name("range"), parsed.error),
                    parsed.hint);
    bytes.push_back(parsed.value);
    if (!parsed) return;
  }
  // Both ends above zero, the smaller first.
  if (bytes.size() == 2 && bytes[0] > 0 && bytes[0] <= bytes[1])
    constant.least = bytes[0], constant.most = bytes[1];
  else
    reader.report(reader.span_of("range"),
                  fmt::format("{} must be two sizes, the smaller first", reader.full_name("range")),
                  "as in range = [\"8 B\", \"4 GiB\"]");
}

/// Reads the table of one constant.
CalibratedConstant read_constant(const std::string& name, const Table& table, const ConstantRange& range,
                                 Diagnostics& diagnostics) {
  TableReader reader(table, fmt::format("constants.\"{}\"", name), diagnostics);
  CalibratedConstant constant;
  constant.name = name;
  read_value(reader, range, constant);
  // A spread is a standard deviation of the logarithm of the value.
  reader.require("spread", "0.05");
  constant.spread = reader.number("spread", 0, kLargestSpread).value_or(0);
  read_sizes(reader, constant);
  // Samples and residual inform readers of the file; both may be missing.
  constant.samples = static_cast<int>(reader.integer("samples", 0, kMostOfSamples).value_or(0));
  constant.residual = reader.number("residual", 0, kLargestSpread).value_or(0);
  reader.finish();
  return constant;
}

/// Reads the free texts of [provenance] in their order.
std::vector<std::pair<std::string, std::string>> read_calibration_provenance(TableReader& document) {
  const Table* table = document.table("provenance");
  if (table == nullptr) return {};
  if (table->entries.size() > kMostProvenance)
    document.report(table->span, fmt::format("provenance has {} keys, at most {} are allowed",
                                             table->entries.size(), kMostProvenance));
  std::vector<std::pair<std::string, std::string>> out;
  TableReader reader(*table, "provenance", document.diagnostics());
  for (const Entry& entry : table->entries) {
    if (const auto text = reader.string(entry.key)) out.emplace_back(entry.key, *text);
  }
  return out;
}

}  // namespace

/// Unlike TableReader's getters this one has no range, because limits depend on the constant.
std::optional<double> read_quantity(TableReader& reader, std::string_view key, Dimension dimension) {
  const Value* value = reader.value(key);
  if (value == nullptr) return std::nullopt;
  const auto* text = std::get_if<std::string>(&value->data);
  if (text == nullptr) {
    reader.report(value->span, fmt::format("{} must be a {} with its unit, as in \"{}\"",
                                           reader.full_name(key), name_of(dimension), example_of(dimension)));
    return std::nullopt;
  }
  const ParsedQuantity parsed = parse_quantity(*text, dimension);
  if (parsed) return parsed.value;
  reader.report(value->span, fmt::format("{}: {}", reader.full_name(key), parsed.error), parsed.hint);
  return std::nullopt;
}

/// Reads all constants; unknown names are reported with the nearest known one.
std::vector<CalibratedConstant> read_constants(TableReader& document,
                                               const std::vector<ConstantRange>& known) {
  const Table* table = document.table("constants");
  if (table == nullptr) return {};
  std::vector<std::string> names;
  for (const ConstantRange& range : known) names.emplace_back(range.name);
  std::vector<CalibratedConstant> out;
  for (const Entry& entry : table->entries) {
    const ConstantRange* range = find_constant(known, entry.key);
    const auto* own = std::get_if<Table>(&entry.value.data);
    // Values that could not be parsed are reported already; they have no kind.
    if (range == nullptr)
      document.report(entry.key_span, fmt::format("unknown constant \"{}\"", entry.key.substr(0, 60)),
                      did_you_mean(entry.key, names));
    else if (own != nullptr)
      out.push_back(read_constant(entry.key, *own, *range, document.diagnostics()));
    else if (!std::holds_alternative<std::monostate>(entry.value.data))
      document.report(
          entry.value.span,
          fmt::format("constants.\"{}\" must be a table, not {}", entry.key, kind_of(entry.value)),
          fmt::format("as in [constants.\"{}\"] with value and spread", entry.key));
  }
  return out;
}

/// Every mistake is reported before the calibration is returned; callers look at `diagnostics`.
Calibration read_calibration(const SourceText& source, Diagnostics& diagnostics,
                             const std::vector<ConstantRange>& known) {
  const Table table = parse_toml(source, diagnostics);
  TableReader document(table, "", diagnostics);
  Calibration calibration;
  calibration.name = name_of_file(source.name);
  calibration.description = document.string("description").value_or("");
  calibration.provenance = read_calibration_provenance(document);
  calibration.constants = read_constants(document, known);
  calibration.collectives = read_collectives(document);
  // read_calibration_points() reads the points.
  document.value("points");
  document.finish();
  return calibration;
}

/// The known constants are those that the simulator can replace.
Calibration read_calibration(const SourceText& source, Diagnostics& diagnostics) {
  return read_calibration(source, diagnostics, calibratable_constants());
}

}  // namespace foretrain
