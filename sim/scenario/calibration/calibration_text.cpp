// Writer of calibrations. Keys are in the order of the reader, one table after the other; values that are
// zero or empty are omitted.
#include "sim/scenario/calibration/calibration_text.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/scenario/calibration/calibration_constants.hpp"

namespace foretrain {

namespace {

/// A unit and its factor; tables go from the largest to the smallest.
struct Scale {
  double factor;
  std::string_view unit;
};

/// Units of time, size and rate.
constexpr std::array<Scale, 5> kTimes{{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {1e-12, "ps"}}};
constexpr std::array<Scale, 5> kSizes{
    {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}}};
constexpr std::array<Scale, 6> kPrefixes{
    {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}};

/// Significant digits of values, and of spreads and residuals.
std::string six_digits(double value) { return fmt::format("{:.6g}", value); }
std::string four_digits(double value) { return fmt::format("{:.4g}", value); }

/// Returns a value in the largest unit in which it is at least one; otherwise in the smallest unit.
template <class Scales>
std::string in_unit(double value, const Scales& scales, std::string_view base) {
  // 0.9999995 prints as 1.00000, so a value that rounds up to a unit is written in it.
  const auto fits = std::find_if(scales.begin(), scales.end(),
                                 [&](const Scale& s) { return value >= 0.9999995 * s.factor; });
  const Scale& scale =
      value == 0 ? *std::find_if(scales.begin(), scales.end(), [](const Scale& s) { return s.factor == 1; })
      : fits == scales.end() ? scales.back()
                             : *fits;
  return fmt::format("{} {}{}", six_digits(value / scale.factor), scale.unit, base);
}

/// Returns a size exactly: sizes are the ends of segments, which must still meet when they are read back.
std::string write_size(double bytes) {
  for (const Scale& scale : kSizes) {
    if (bytes >= scale.factor && std::fmod(bytes, scale.factor) == 0)
      return fmt::format("{:.0f} {}", bytes / scale.factor, scale.unit);
  }
  return bytes == std::floor(bytes) ? fmt::format("{:.0f} B", bytes) : six_digits(bytes) + " B";
}

/// Returns whether TOML takes a key without quotes.
bool is_bare(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

/// Returns the number that a text begins with; the locale does not matter.
double number_in(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Returns the value that the text of a quantity has, by the reader's own conversion.
double rounded_quantity(double value, Dimension dimension) {
  const ParsedQuantity parsed = parse_quantity(write_quantity(value, dimension), dimension);
  return parsed ? parsed.value : value;
}

/// Returns the value that a spread or residual has after it was written.
double rounded_share(double value) { return number_in(four_digits(value)); }

/// Returns the dimension of a constant; none for plain numbers and unknown names.
std::optional<Dimension> dimension_of(std::string_view name, const std::vector<ConstantRange>& known) {
  const ConstantRange* range = find_constant(known, name);
  return range == nullptr ? std::nullopt : range->dimension;
}

/// Return the parts of the text: provenance, one constant, one collective.
std::string provenance_text(const Calibration& calibration) {
  if (calibration.provenance.empty()) return "";
  std::string out = "\n# What was measured, and with what.\n[provenance]\n";
  for (const auto& [key, text] : calibration.provenance)
    out += fmt::format("{} = {}\n", is_bare(key) ? key : quoted(key), quoted(text));
  return out;
}

std::string constant_text(const CalibratedConstant& c, const std::optional<Dimension>& dimension) {
  std::string out = fmt::format("\n[constants.{}]\n", quoted(c.name));
  out += dimension ? fmt::format("value = \"{}\"\n", write_quantity(c.value, *dimension))
                   : fmt::format("value = {}\n", six_digits(c.value));
  out += fmt::format("spread = {}\n", four_digits(c.spread));
  // Zero or empty values are the reader's defaults.
  if (c.most > 0) out += fmt::format("range = [\"{}\", \"{}\"]\n", write_size(c.least), write_size(c.most));
  if (c.samples > 0) out += fmt::format("samples = {}\n", c.samples);
  if (c.residual > 0) out += fmt::format("residual = {}\n", four_digits(c.residual));
  return out;
}

/// Returns the text of a segment, with a bandwidth instead of seconds per byte, because people compare it
/// with data sheets.
std::string segment_text(const TimeSegment& s) {
  std::string out = fmt::format("  {{ from = \"{}\", to = \"{}\", latency = \"{}\"", write_size(s.least),
                                write_size(s.most), write_quantity(s.latency_s, Dimension::time));
  if (s.seconds_per_byte > 0)
    out += fmt::format(", bandwidth = \"{}\"", write_quantity(1 / s.seconds_per_byte, Dimension::byte_rate));
  if (s.spread > 0) out += fmt::format(", spread = {}", four_digits(s.spread));
  if (s.samples > 0) out += fmt::format(", samples = {}", s.samples);
  return out + " },\n";
}

std::string collective_text(const CalibratedCollective& c) {
  std::string out =
      fmt::format("\n[[collectives]]\nop = {}\ngpus = {}\nnodes = {}\n", quoted(c.op), c.gpus, c.nodes);
  if (c.processes_per_node > 0) out += fmt::format("processes_per_node = {}\n", c.processes_per_node);
  if (!c.algorithm.empty()) out += fmt::format("algorithm = {}\n", quoted(c.algorithm));
  if (!c.protocol.empty()) out += fmt::format("protocol = {}\n", quoted(c.protocol));
  out += "segments = [\n";
  for (const TimeSegment& s : c.segments) out += segment_text(s);
  return out + "]\n";
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  // A line end would end the string, so it becomes a blank.
  for (const char c : printable_lines(text)) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\t')
      out += "\\t";
    else
      out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

std::string write_quantity(double value, Dimension dimension) {
  switch (dimension) {
    case Dimension::time:
      return in_unit(value, kTimes, "");
    case Dimension::bytes:
      return write_size(value);
    case Dimension::flops:
      return in_unit(value, kPrefixes, "FLOP");
    case Dimension::byte_rate:
      return in_unit(value, kPrefixes, "Bps");
    case Dimension::flop_rate:
      return in_unit(value, kPrefixes, "FLOPs");
    case Dimension::power:
      return in_unit(value, kPrefixes, "W");
  }
  return "";
}

std::string write_calibration(const Calibration& calibration, const std::vector<ConstantRange>& known) {
  std::string out =
      "# Constants and collectives of one cluster as measured; written by `foretrain calibrate fit`.\n";
  if (!calibration.description.empty())
    out += fmt::format("description = {}\n", quoted(calibration.description));
  out += provenance_text(calibration);
  if (!calibration.constants.empty())
    out +=
        "\n# value x exp(+-1.645 spread) is a 90 % interval; range: sizes it was fitted on; residual: root "
        "mean square of log(fitted / "
        "measured)\n"
        "# over that many samples.\n";
  for (const CalibratedConstant& c : calibration.constants)
    out += constant_text(c, dimension_of(c.name, known));
  if (!calibration.collectives.empty())
    out +=
        "\n# Time of a message between two sizes is latency + bytes / bandwidth; gpus are those of all nodes "
        "together.\n";
  for (const CalibratedCollective& c : calibration.collectives) out += collective_text(c);
  return out;
}

std::string write_calibration(const Calibration& calibration) {
  return write_calibration(calibration, calibratable_constants());
}

Calibration as_written(Calibration calibration, const std::vector<ConstantRange>& known) {
  // The text has values in units, so rounding follows the same path.
  for (CalibratedConstant& c : calibration.constants) {
    const auto dimension = dimension_of(c.name, known);
    c.value = dimension ? rounded_quantity(c.value, *dimension) : number_in(six_digits(c.value));
    c.spread = rounded_share(c.spread), c.residual = rounded_share(c.residual);
    c.least = rounded_quantity(c.least, Dimension::bytes),
    c.most = rounded_quantity(c.most, Dimension::bytes);
  }
  for (CalibratedCollective& c : calibration.collectives) {
    for (TimeSegment& s : c.segments) {
      s.least = rounded_quantity(s.least, Dimension::bytes),
      s.most = rounded_quantity(s.most, Dimension::bytes);
      s.latency_s = rounded_quantity(s.latency_s, Dimension::time);
      if (s.seconds_per_byte > 0)
        s.seconds_per_byte = 1 / rounded_quantity(1 / s.seconds_per_byte, Dimension::byte_rate);
      s.spread = rounded_share(s.spread);
    }
  }
  return calibration;
}

Calibration as_written(Calibration calibration) {
  return as_written(std::move(calibration), calibratable_constants());
}

}  // namespace foretrain
