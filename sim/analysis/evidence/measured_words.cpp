// The measured runs of the very training in one line.
#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/evidence/applied.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"

namespace foretrain {

namespace {

/// Most numbers of GPUs that the line names.
constexpr std::size_t kShownNumbers = 3;

/// Returns "96 to 101 ms", or "98 ms" where both ends are equal.
std::string range_of(double low_s, double high_s) {
  const std::string low = to_string(seconds(low_s)), high = to_string(seconds(high_s));
  if (low == high) return high;
  const auto unit = [](const std::string& text) {
    return text.substr(std::min(text.find(' '), text.size()));
  };
  return (unit(low) == unit(high) ? low.substr(0, low.find(' ')) : low) + " to " + high;
}

}  // namespace

std::string measured_words(const std::vector<MeasuredRuns>& measured) {
  if (measured.empty()) return {};
  const MeasuredRuns& first = measured.front();
  const bool is_one = measured.size() == 1;
  const auto are_alike = [&](const MeasuredRuns& m) { return m.source == first.source; };
  const bool is_one_source = std::ranges::all_of(measured, are_alike);
  std::string out;
  for (std::size_t i = 0; i < std::min(measured.size(), kShownNumbers); ++i) {
    const MeasuredRuns& m = measured[i];
    const bool names_source = i == 0 || !is_one_source;
    out += fmt::format("{}{} on {} ({}{})", i > 0 ? ", " : "", range_of(m.low_s, m.high_s),
                       counted(m.gpus, "GPU"), counted(m.runs, "run"),
                       names_source ? ", " + printable(m.source) : "");
  }
  if (measured.size() > kShownNumbers)
    out += fmt::format(" and {} more numbers of GPUs", measured.size() - kShownNumbers);
  return fmt::format("on {}: {}; the prediction is calibrated to {}.", printable(first.where), out,
                     is_one ? "it" : "them");
}

std::string measured_line_of(const std::vector<MeasuredRuns>& measured) {
  return measured.empty() ? "" : "Measured " + measured_words(measured) + "\n";
}

}  // namespace foretrain
