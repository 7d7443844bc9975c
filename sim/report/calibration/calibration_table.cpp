// Writes the table of a calibration: one line for each constant, segment and bad residual. Excluded samples
// are counted by their reason.
//
// Readers are users who fitted a cluster and want to know which constants changed and which samples disagree
// with the fit.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/analysis/fit/suspect_samples.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/report/calibration/calibration_reports.hpp"
#include "sim/scenario/calibration/calibration_constants.hpp"
#include "sim/scenario/calibration/calibration_text.hpp"

namespace foretrain {

namespace {

/// Returns a value with up to three digits in a suitable unit; "-" for none.
std::string quantity(double value, const std::optional<Dimension>& dimension) {
  if (value <= 0) return "-";
  if (!dimension) return fmt::format("{:.3g}", value);
  switch (*dimension) {
    case Dimension::time:
      return value < 1e-9 ? write_quantity(value, *dimension) : to_string(seconds(value));
    case Dimension::byte_rate:
      return to_string(ByteRate{value});
    case Dimension::flop_rate:
      return to_string(FlopRate{value});
    case Dimension::flops:
      return to_string(Flops{value});
    default:
      return write_quantity(value, *dimension);
  }
}

/// Returns by how much the upper end of the 90 % interval exceeds the value, in percent or as a factor.
std::string interval(double spread) {
  const double share = 100 * std::expm1(kDeviationsOf90 * spread);
  return share < 1000 ? decimal(share, 1) + " %" : fmt::format("x {:.3g}", 1 + share / 100);
}

/// Returns the range of sizes that a constant or segment is valid for.
std::string sizes(double least, double most) {
  if (most <= 0) return "-";
  return fmt::format("{} to {}", write_quantity(least, Dimension::bytes),
                     write_quantity(most, Dimension::bytes));
}

/// Returns the table of constants. Columns: name; value; half width of the 90 % interval; sizes it is valid
/// for; number of samples; residual of the fit; default of the model; value divided by that default.
std::string constant_lines(const CalibrationFit& fit, const std::vector<ConstantRange>& known) {
  const std::vector<CalibratedConstant>& constants = fit.calibration.constants;
  if (constants.empty()) return "";
  std::string out = fmt::format("{:<26} {:>12} {:>9} {:>24} {:>8} {:>9} {:>12} {:>7}\n", "constant", "value",
                                "within", "sizes", "samples", "residual", "default", "factor");
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const CalibratedConstant& c = constants[i];
    const ConstantRange* range = find_constant(known, c.name);
    const std::optional<Dimension> dimension = range == nullptr ? std::nullopt : range->dimension;
    // A calibration from a file has no defaults beside it.
    const double before = i < fit.defaults.size() ? fit.defaults[i] : 0;
    out += fmt::format("{:<26} {:>12} {:>9} {:>24} {:>8} {:>7} % {:>12} {:>7}\n", c.name,
                       quantity(c.value, dimension), interval(c.spread), sizes(c.least, c.most), c.samples,
                       percent(c.residual, 1), quantity(before, dimension),
                       before > 0 ? fmt::format("{:.3g}", c.value / before) : "-");
  }
  return out + "\n";
}

/// Returns operation and job of a collective, with forced algorithm and protocol.
std::string job_of(const CalibratedCollective& c) {
  std::string out = fmt::format("{} on {}", c.op, counted(c.gpus, "GPU"));
  if (c.nodes > 1) out += fmt::format(" of {} nodes", c.nodes);
  if (c.processes_per_node > 0) out += fmt::format(", {} a node", counted(c.processes_per_node, "process"));
  if (!c.algorithm.empty()) out += ", " + c.algorithm;
  if (!c.protocol.empty()) out += ", " + c.protocol;
  return out;
}

/// Returns the table of collectives, one line for each segment: sizes, latency, bandwidth, 90 % interval,
/// samples, job.
std::string collective_lines(const std::vector<CalibratedCollective>& collectives) {
  if (collectives.empty()) return "";
  std::string out = fmt::format("{:>24} {:>10} {:>12} {:>9} {:>8}   collective\n", "sizes", "latency",
                                "bandwidth", "within", "samples");
  for (const CalibratedCollective& c : collectives) {
    for (const TimeSegment& s : c.segments) {
      const std::string bandwidth =
          s.seconds_per_byte > 0 ? to_string(ByteRate{1 / s.seconds_per_byte}) : "-";
      out += fmt::format("{:>24} {:>10} {:>12} {:>9} {:>8}   {}\n", sizes(s.least, s.most),
                         quantity(s.latency_s, Dimension::time), bandwidth, interval(s.spread), s.samples,
                         job_of(c));
    }
  }
  return out + "\n";
}

/// Returns how far a residual is off: |log(fitted / measured)|, or the difference when a logarithm is not
/// possible.
double distance(const CalibrationFit::Residual& r) {
  return r.measured > 0 && r.fitted > 0 ? std::abs(std::log(r.fitted / r.measured))
                                        : std::abs(r.fitted - r.measured);
}

/// Returns file and line of a sample.
std::string place(const std::string& source, int line) {
  return line > 0 ? fmt::format("{}:{}", source, line) : source;
}

/// Returns the indices of the worst residuals, worst first; of equal ones the first in the file. O(n log
/// most).
std::vector<std::size_t> worst_of(const std::vector<CalibrationFit::Residual>& residuals, std::size_t most) {
  // Negative distance, so that the worst sorts first, and index.
  std::vector<std::pair<double, std::size_t>> places;
  for (std::size_t i = 0; i < residuals.size(); ++i) places.emplace_back(-distance(residuals[i]), i);
  const std::size_t count = std::min(most, places.size());
  std::partial_sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count), places.end());
  std::vector<std::size_t> worst;
  for (std::size_t i = 0; i < count; ++i) worst.push_back(places[i].second);
  return worst;
}

/// Returns the table of the worst residuals: error, measured and fitted value with unit, size, and where it
/// comes from.
std::string residual_lines(const std::vector<CalibrationFit::Residual>& residuals, std::size_t most) {
  if (residuals.empty() || most == 0) return "";
  std::string out = fmt::format("{:>9} {:>11} {:>11} {:<6} {:>10}   worst residuals\n", "error", "measured",
                                "fitted", "", "size");
  for (const std::size_t place_of_worst : worst_of(residuals, most)) {
    const CalibrationFit::Residual& r = residuals[place_of_worst];
    const std::string error = r.measured > 0 ? signed_percent(r.fitted / r.measured - 1, 1) + " %" : "-";
    const std::string size = r.bytes > 0 ? write_quantity(r.bytes, Dimension::bytes) : "-";
    out += fmt::format("{:>9} {:>11.4g} {:>11.4g} {:<6} {:>10}   {}, {}\n", error, r.measured, r.fitted,
                       kSampleUnitNames[static_cast<std::size_t>(r.unit)], size, r.what,
                       place(r.source, r.line));
  }
  return out + "\n";
}

/// Returns why samples were excluded, with counts and first places, and why constants were not fitted.
std::string held_out_lines(const CalibrationFit& fit) {
  // Count and first place of each reason.
  std::map<std::string, std::pair<int, std::string>> reasons;
  for (const CalibrationFit::Exclusion& line : fit.left_out) {
    auto& [count, first] = reasons[line.why];
    if (count++ == 0) first = place(line.source, line.line);
  }
  std::string out = reasons.empty() ? "" : "Left out\n";
  for (const auto& [why, seen] : reasons)
    out +=
        fmt::format("{:>6} {}: {} (first: {})\n", seen.first, plural(seen.first, "line"), why, seen.second);
  if (!fit.refused.empty()) out += "Not fitted\n";
  for (const std::string& refusal : fit.refused) out += fmt::format("       {}\n", refusal);
  return out;
}

/// Returns series of measurements that contradict the others.
std::string suspect_sample_lines(const CalibrationFit& fit) {
  std::string out;
  for (const SuspectSeries& suspect : suspect_series(fit))
    out +=
        fmt::format("{}  {}: {}\n", out.empty() ? "Suspect measurements\n" : "", suspect.series, suspect.why);
  return out;
}

}  // namespace

// Sections end with an empty line; the last one is removed at the end.
std::string write_calibration_table(const CalibrationFit& fit, const CalibrationTableOptions& options) {
  std::string out = constant_lines(fit, options.known) + collective_lines(fit.calibration.collectives);
  out += residual_lines(fit.residuals, options.worst) + held_out_lines(fit) + suspect_sample_lines(fit);
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace foretrain
