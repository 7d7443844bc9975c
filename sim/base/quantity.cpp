// Reading and printing of quantities. A unit is a prefix and a base; the tables below list them all.
#include "sim/base/quantity.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// A prefix, or a unit of time, with its factor.
struct Prefix {
  std::string_view text;
  double factor;
};

constexpr std::array<Prefix, 10> kPrefixes{{{"Ki", 0x1p10},
                                            {"Mi", 0x1p20},
                                            {"Gi", 0x1p30},
                                            {"Ti", 0x1p40},
                                            {"k", 1e3},
                                            {"K", 1e3},
                                            {"M", 1e6},
                                            {"G", 1e9},
                                            {"T", 1e12},
                                            {"P", 1e15}}};

/// Units of time with their length in s.
constexpr std::array<Prefix, 10> kTimeUnits{{{"ps", 1e-12},
                                             {"ns", 1e-9},
                                             {"us", 1e-6},
                                             {"µs", 1e-6},
                                             {"ms", 1e-3},
                                             {"s", 1},
                                             {"min", 60},
                                             {"h", 3600},
                                             {"d", 86400},
                                             {"days", 86400}}};

/// A base unit with its factor to the unit of the program, and its dimension.
struct Base {
  std::string_view text;
  double factor;
  Dimension dimension;
};

constexpr std::array<Base, 13> kBases{{{"B", 1, Dimension::bytes},
                                       {"b", 0.125, Dimension::bytes},
                                       {"Bps", 1, Dimension::byte_rate},
                                       {"B/s", 1, Dimension::byte_rate},
                                       {"bps", 0.125, Dimension::byte_rate},
                                       {"b/s", 0.125, Dimension::byte_rate},
                                       {"bit/s", 0.125, Dimension::byte_rate},
                                       {"FLOP", 1, Dimension::flops},
                                       {"FLOPs", 1, Dimension::flop_rate},
                                       {"FLOPS", 1, Dimension::flop_rate},
                                       {"FLOP/s", 1, Dimension::flop_rate},
                                       {"FLOPps", 1, Dimension::flop_rate},
                                       {"W", 1, Dimension::power}}};

/// A complete unit: the factor to the base unit of its dimension.
struct Unit {
  double factor;
  Dimension dimension;
};

/// Returns the base unit with this spelling, multiplied by the prefix.
std::optional<Unit> find_base(std::string_view text, double prefix) {
  for (const Base& base : kBases) {
    if (base.text == text) return Unit{base.factor * prefix, base.dimension};
  }
  return std::nullopt;
}

/// Returns the unit with this spelling. Units of time come first, then bases without a prefix, so that "Pps"
/// or "min" are not taken for a prefix and a rest.
std::optional<Unit> find_unit(std::string_view text) {
  for (const Prefix& unit : kTimeUnits) {
    if (unit.text == text) return Unit{unit.factor, Dimension::time};
  }
  if (auto bare = find_base(text, 1)) return bare;
  for (const Prefix& prefix : kPrefixes) {
    if (!text.starts_with(prefix.text)) continue;
    if (auto unit = find_base(text.substr(prefix.text.size()), prefix.factor)) return unit;
  }
  return std::nullopt;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Returns the error with an example of the dimension as the hint.
ParsedQuantity failure(std::string error, Dimension wanted) {
  return {0, std::move(error), fmt::format("write it as in \"{}\"", example_of(wanted))};
}

/// Returns whether the value is in the range. Zero may stand for "none". The tolerance covers rounding of the
/// unit's factor.
bool is_within(double value, const QuantityRange& range) {
  constexpr double kRounding = 1e-12;
  return value == 0 || (value >= range.least * (1 - kRounding) && value <= range.most * (1 + kRounding));
}

std::string with_article(Dimension dimension) {
  return fmt::format("{} {}", dimension == Dimension::flops ? "an" : "a", name_of(dimension));
}

/// Returns the beginning of the user's text, short enough for a message.
std::string shown(std::string_view text) { return std::string(text.substr(0, 40)); }

/// Returns the error for a value outside the range, with the limits in the user's unit.
ParsedQuantity out_of_range(std::string_view text, std::string_view unit_text, const Unit& unit,
                            const QuantityRange& range) {
  return {0, fmt::format("\"{}\" is out of range", shown(text)),
          fmt::format("{} is 0, or from {:.6g} {} to {:.6g} {}", with_article(unit.dimension),
                      range.least / unit.factor, unit_text, range.most / unit.factor, unit_text)};
}

/// Returns three significant digits without trailing zeros.
std::string digits(double value) {
  if (value > 0 && value < 0.9995) return fmt::format("{:.3g}", value);
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  std::string text = fmt::format("{:.{}f}", value, value >= 9.995 ? 1 : 2);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

/// Returns the value with the decimal prefix that leaves 1 to 999 before it.
std::string with_prefix(double value, std::string_view base) {
  static constexpr std::array<std::string_view, 6> kNames{"", "k", "M", "G", "T", "P"};
  std::size_t step = 0;
  while (value >= 999.5 && step + 1 < kNames.size()) value /= 1000, ++step;
  return fmt::format("{} {}{}", digits(value), kNames[step], base);
}

}  // namespace

std::string_view name_of(Dimension dimension) {
  static constexpr std::array<std::string_view, 6> kNames{"time",      "size",         "amount of work",
                                                          "bandwidth", "compute rate", "power"};
  return kNames[static_cast<std::size_t>(dimension)];
}

std::string_view example_of(Dimension dimension) {
  static constexpr std::array<std::string_view, 6> kExamples{"2.5 us",  "25 MiB",     "4.1 GFLOP",
                                                             "25 GBps", "312 TFLOPs", "300 W"};
  return kExamples[static_cast<std::size_t>(dimension)];
}

const QuantityRange& range_of(Dimension dimension) {
  static constexpr std::array<QuantityRange, 6> kRanges{
      {{1e-12, kLongestRun},  // the clock's tick; the longest run
       {1, 1e18},             // 64 bits hold nine times as much
       {1, 1e18},             //
       {1, 1e18},             // a byte every second; a megabyte every tick
       {1, 1e18},             //
       {1e-3, 1e9}}};         // a power station
  return kRanges[static_cast<std::size_t>(dimension)];
}

ParsedQuantity parse_quantity(std::string_view text, Dimension wanted) {
  return parse_quantity(text, wanted, range_of(wanted));
}

ParsedQuantity parse_quantity(std::string_view text, Dimension wanted, const QuantityRange& range) {
  const std::string_view body = trim(text);
  double value = 0;
  const auto [end, problem] = std::from_chars(body.data(), body.data() + body.size(), value);
  // from_chars reports overflow and underflow alike; both end as "out of range".
  const bool overflows = problem == std::errc::result_out_of_range;
  if (problem != std::errc{} && !overflows)
    return failure(fmt::format("\"{}\" does not start with a number", shown(text)), wanted);
  if (!std::isfinite(value))
    return failure(fmt::format("\"{}\" is not a finite number", shown(text)), wanted);
  if (value < 0 || body.front() == '-')
    return failure(fmt::format("\"{}\" is negative", shown(text)), wanted);
  const std::string_view unit_text = trim(body.substr(static_cast<std::size_t>(end - body.data())));
  if (unit_text.empty()) return failure(fmt::format("\"{}\" has no unit", shown(text)), wanted);
  const auto unit = find_unit(unit_text);
  if (!unit) return failure(fmt::format("unknown unit \"{}\"", shown(unit_text)), wanted);
  if (unit->dimension != wanted)
    return failure(fmt::format("\"{}\" is {}, {} is needed", shown(text), with_article(unit->dimension),
                               with_article(wanted)),
                   wanted);
  const double result = value * unit->factor;
  if (overflows || !is_within(result, range)) return out_of_range(text, unit_text, *unit, range);
  return {result, "", ""};
}

std::string to_string(Time time) {
  const double s = to_seconds(time);
  if (s == 0) return "0 s";
  if (s < 0.9995e-9) return digits(s * 1e12) + " ps";
  if (s < 0.9995e-6) return digits(s * 1e9) + " ns";
  if (s < 0.9995e-3) return digits(s * 1e6) + " us";
  if (s < 0.9995) return digits(s * 1e3) + " ms";
  if (s < 600) return digits(s) + " s";
  return s < 36000 ? digits(s / 60) + " min" : digits(s / 3600) + " h";
}

std::string to_string(Bytes bytes) { return with_prefix(static_cast<double>(bytes.count), "B"); }
std::string to_string(Flops work) { return with_prefix(work.count, "FLOP"); }
std::string to_string(ByteRate rate) { return with_prefix(rate.per_second, "Bps"); }
std::string to_string(FlopRate rate) { return with_prefix(rate.per_second, "FLOPs"); }

}  // namespace foretrain
