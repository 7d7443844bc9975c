// Values of axes. The number of a range's values is computed before any value is made, so that a range of
// 10^12 values is reported and not built.
#include "sim/scenario/sweep/axis_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/base/random.hpp"
#include "sim/scenario/sweep/sweep.hpp"

namespace foretrain {

namespace {

/// A number with the unit that follows it.
struct NumberWithUnit {
  double number = 0;
  std::string unit;
  bool is_whole = false;
};

/// Parses a number with its unit; the blank between them belongs to the unit.
std::optional<NumberWithUnit> parse_number(const std::string& text) {
  NumberWithUnit out;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out.number);
  if (problem != std::errc{} || !std::isfinite(out.number)) return std::nullopt;
  out.unit.assign(end, text.data() + text.size());
  return out;
}

/// Returns the number of a value of any plain type.
std::optional<NumberWithUnit> number_behind(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.data))
    return NumberWithUnit{static_cast<double>(*integer), "", true};
  if (const auto* number = std::get_if<double>(&value.data))
    return std::isfinite(*number) ? std::optional(NumberWithUnit{*number, "", false}) : std::nullopt;
  const auto* text = std::get_if<std::string>(&value.data);
  return text == nullptr ? std::nullopt : parse_number(*text);
}

/// Reads one end of a range.
std::optional<NumberWithUnit> read_end(TableReader& table, std::string_view key) {
  table.require(key, "1");
  const Value* value = table.value(key);
  // A missing end was reported by require().
  if (value == nullptr) return std::nullopt;
  auto number = number_behind(*value);
  if (!number)
    table.report(
        value->span, fmt::format("{} must be a number, with or without a unit", table.full_name(key)),
        "as in { from = 1, to = 64, steps = 7 } or { from = \"1 MiB\", to = \"64 MiB\", steps = 7 }");
  return number;
}

/// Rounds to twelve digits, so that 0.1 + 2 x 0.1 is 0.3.
double rounded(double number) {
  double out = number;
  const std::string text = fmt::format("{:.12g}", number);
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

/// Returns a number of the range as a value of its type.
Value plain_value(const AxisRange& range, double number) {
  if (!range.unit.empty()) return {fmt::format("{:.12g}{}", number, range.unit)};
  if (range.is_whole) return {static_cast<std::int64_t>(std::llround(number))};
  return {rounded(number)};
}

/// Returns a count in words, with three digits if it is large.
std::string counted_values(double count) {
  return count < 1e15 ? fmt::format("{:.0f}", count) : fmt::format("{:.3g}", count);
}

/// Reads one range: its ends, and exactly one of step, steps, factor and random.
class RangeReader {
 public:
  RangeReader(const Entry& entry, TableReader& document)
      : entry_(entry),
        table_(std::get<Table>(entry.value.data), "axes." + entry.key, document.diagnostics()) {}

  // Returns the values; empty after a mistake.
  std::vector<Value> read(std::int64_t seed, std::uint64_t stream) {
    auto range = read_range(table_);
    const auto step = table_.number("step", -1e18, 1e18), factor = table_.number("factor", -1e18, 1e18);
    const auto steps = table_.integer("steps", 1, kMost), random = table_.integer("random", 1, kMost);
    // The four ways exclude each other.
    const int ways =
        int{step.has_value()} + int{factor.has_value()} + int{steps.has_value()} + int{random.has_value()};
    table_.finish();
    if (!range) return {};
    if (ways != 1) return report_ways(ways), std::vector<Value>{};
    if (random) return random_values(*range, *random, seed, stream);
    if (steps) return in_steps(*range, *steps);
    return step ? by_step(*range, *step) : by_factor(*range, *factor);
  }

 private:
  /// Largest number that is read; a larger one than kMostAxisValues is a mistake with its count.
  static constexpr std::int64_t kMost = std::int64_t{1} << 62;

  void report_ways(int ways) {
    table_.report(entry_.value.span,
                  fmt::format("axes: \"{}\" says {} how its values lie", shortened(entry_.key, 60),
                              ways == 0 ? "not" : "in several ways"),
                  "one of step = 2, steps = 7, factor = 2 (each value so many times the one before) and "
                  "random = 20");
  }

  // Reports more values than an axis may have.
  bool is_too_many(double count) {
    if (count <= static_cast<double>(kMostAxisValues)) return false;
    table_.report(entry_.value.span,
                  fmt::format("axes: \"{}\" has {} values, at most {} are taken", shortened(entry_.key, 60),
                              counted_values(count), kMostAxisValues),
                  "longer steps");
    return true;
  }

  // Even steps, or even ratios on a logarithmic scale, with both ends.
  std::vector<Value> in_steps(const AxisRange& range, std::int64_t steps) {
    if (is_too_many(static_cast<double>(steps))) return {};
    std::vector<Value> values;
    for (std::int64_t i = 0; i < steps; ++i)
      add(values, value_at(range, steps == 1 ? 0 : static_cast<double>(i) / static_cast<double>(steps - 1)));
    return values;
  }

  // Random values; the i-th depends on seed, stream and i only.
  std::vector<Value> random_values(const AxisRange& range, std::int64_t count, std::int64_t seed,
                                   std::uint64_t stream) {
    if (is_too_many(static_cast<double>(count))) return {};
    const CounterRandom draws(static_cast<std::uint64_t>(seed));
    std::vector<Value> values;
    for (std::int64_t i = 0; i < count; ++i)
      add(values, value_at(range, draws.uniform(stream, static_cast<std::uint64_t>(i))));
    return values;
  }

  // Values `step` apart; 1e-9 keeps the last one in spite of rounding.
  std::vector<Value> by_step(const AxisRange& range, double step) {
    // A step away from the end would never reach it.
    if (step == 0 || (range.to - range.from) / step < 0) return report_endless("step");
    const double count = std::floor((range.to - range.from) / step + 1e-9) + 1;
    if (is_too_many(count)) return {};
    AxisRange exact = range;
    exact.is_whole = range.is_whole && step == std::floor(step);
    std::vector<Value> values;
    for (double i = 0; i < count; ++i) add(values, plain_value(exact, range.from + i * step));
    return values;
  }

  // Each value is `factor` times the one before.
  std::vector<Value> by_factor(const AxisRange& range, double factor) {
    // A factor above 1 grows, below 1 shrinks; ends must have that order.
    const bool grows = factor > 1 && range.to >= range.from, shrinks = factor < 1 && range.to <= range.from;
    if (range.from <= 0 || range.to <= 0 || factor <= 0 || !(grows || shrinks))
      return report_endless("factor");
    const double count = std::floor(std::log(range.to / range.from) / std::log(factor) + 1e-9) + 1;
    if (is_too_many(count)) return {};
    std::vector<Value> values;
    for (double i = 0; i < count; ++i) add(values, plain_value(range, range.from * std::pow(factor, i)));
    return values;
  }

  std::vector<Value> report_endless(std::string_view key) {
    table_.report(
        table_.span_of(key),
        fmt::format("axes: \"{}\" never gets from its first to its last value", shortened(entry_.key, 60)),
        key == "step" ? "a step in their direction, as in { from = 1, to = 9, step = 2 }"
                      : "both above zero, as in { from = 1, to = 64, factor = 2 }");
    return {};
  }

  /// Adds a value unless it equals the last one: integers close together may round to the same.
  static void add(std::vector<Value>& values, Value value) {
    if (values.empty() || text_of(values.back()) != text_of(value)) values.push_back(std::move(value));
  }

  const Entry& entry_;
  TableReader table_;
};

/// Returns whether a value is neither a list nor a table nor unreadable.
bool is_plain(const Value& value) {
  return !value.is_table() && !std::holds_alternative<Array>(value.data) &&
         !std::holds_alternative<std::monostate>(value.data);
}

void report_no_list(const Entry& entry, TableReader& document) {
  document.report(entry.value.span,
                  fmt::format("axes: \"{}\" must be a list or a range of values", shortened(entry.key, 60)),
                  "as in [32, 64] or { from = 1, to = 64, factor = 2 }");
}

}  // namespace

Value value_at(const AxisRange& range, double place) {
  const double number = range.is_log ? range.from * std::pow(range.to / range.from, place)
                                     : range.from + place * (range.to - range.from);
  return plain_value(range, number);
}

std::optional<AxisRange> read_range(TableReader& table) {
  const auto from = read_end(table, "from"), to = read_end(table, "to");
  const auto scale = table.one_of("scale", {"linear", "log"});
  if (!from || !to) return std::nullopt;
  // Two units would need a conversion that the file does not state.
  if (from->unit != to->unit) {
    table.report(table.span_of("to"), "both ends of a range have one unit",
                 "as in { from = \"1 MiB\", to = \"64 MiB\", steps = 7 }");
    return std::nullopt;
  }
  AxisRange range{from->number, to->number, scale == "log", from->is_whole && to->is_whole, from->unit};
  // Even ratios need a logarithm of both ends.
  if (!range.is_log || (range.from > 0 && range.to > 0)) return range;
  table.report(table.span_of("from"), "a range in even ratios needs both ends above zero",
               "scale = \"linear\", or ends above zero");
  return std::nullopt;
}

std::vector<Value> read_axis_values(const Entry& entry, TableReader& document, std::int64_t seed,
                                    std::uint64_t stream) {
  if (entry.value.is_table()) return RangeReader(entry, document).read(seed, stream);
  const auto* list = std::get_if<Array>(&entry.value.data);
  const bool is_list = list != nullptr && !list->empty() && std::ranges::all_of(*list, is_plain);
  // A list is taken as it is; its values are checked when cases are read.
  if (is_list && list->size() <= kMostAxisValues) return *list;
  report_no_list(entry, document);
  return {};
}

}  // namespace foretrain
