// Writes the ranking of layouts. Layouts whose steps cannot be distinguished share a place.
//
// Columns: step time with its 90 % interval; that interval relative to the first layout; tokens per second
// and GPU; MFU, the model FLOPs utilization; bubble, the share of the step in which the busiest stage waits;
// memory of the fullest stage; the probability that it fits.
#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/answer/plan_answer.hpp"
#include "sim/analysis/search/layout_points.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/spoken.hpp"
#include "sim/report/plan/plan_reports.hpp"
#include "sim/report/prediction/answer_reports.hpp"

namespace foretrain {

namespace {

std::string bytes_text(double bytes) { return to_string(Bytes{static_cast<std::int64_t>(bytes)}); }

/// Returns true when the layout is predicted to be slower than the first, but the intervals overlap.
bool is_unsure(const ModelLayout& layout) {
  return layout.interval && !layout.is_tied && layout.over_first.high > 1 && layout.over_first.low <= 1;
}

/// Returns why the first layout is the fastest, and under which changes another one would be.
std::string reasons(const LayoutSearch& search) {
  std::string out = labelled("Why this one", capitalized(search.why_first) + ".");
  const auto unsure = std::ranges::count_if(search.layouts, is_unsure);
  if (unsure > 0)
    out += labelled("As fast", fmt::format("{} below may be as fast: the intervals overlap.",
                                           counted(unsure, "slower layout")));
  for (const std::string& change : search.would_change) out += labelled("Else", capitalized(change) + ".");
  if (search.would_change.empty())
    out += labelled("Else", "Links half or twice as fast, or GPUs twice as fast, would not change it.");
  return out;
}

/// Returns the 90 % interval of the step divided by the first layout's step.
std::string over_first(const ModelLayout& layout) {
  if (!layout.interval || layout.over_first.low == layout.over_first.high) return "-";
  return fmt::format("{:.2f} .. {:.2f}", layout.over_first.low, layout.over_first.high);
}

/// Returns the line of a layout. Columns: place ("1=" for a tie with the first), step and its interval,
/// relative interval, tokens per second and GPU, model FLOPs utilization, pipeline bubble, memory,
/// probability that it fits, degrees, settings.
std::string row(std::size_t place, const ModelLayout& layout) {
  return fmt::format("{:>5} {:>10} {:>20} {:>14} {:>12} {:>6} {:>6} {:>9}{} {:>5} {:<34} {}\n",
                     layout.is_tied ? "1=" : std::to_string(place), to_string(seconds(layout.step_s)),
                     interval_text(layout.interval), over_first(layout),
                     decimal(layout.point.tokens_per_s_per_gpu, 0), percent(layout.point.mfu, 1),
                     percent(layout.point.bubble, 1), bytes_text(layout.memory_bytes),
                     layout.is_on_front ? '*' : ' ', percent(std::min(layout.fits, 0.99), 0),
                     layout.point.layout, settings_of(layout.job));
}

}  // namespace

// Both ends have their own unit, since they may differ by a factor of ten.
std::string interval_text(const std::optional<Interval>& interval) {
  if (!interval) return "-";
  return fmt::format("{} .. {}", to_string(seconds(interval->low_s)), to_string(seconds(interval->high_s)));
}

// The first line counts all layouts, so that nobody takes the table for all of them.
std::string write_layouts_table(const LayoutSearch& search, const PlanReportOptions& options) {
  std::string out = fmt::format("{} divide: {} do not fit, {} fit or may fit.\n",
                                counted(static_cast<std::int64_t>(search.possible), "layout"),
                                search.without_memory, search.layouts.size());
  // Nothing else can be said when no layout fits.
  if (search.layouts.empty()) return out;
  out += fmt::format("\n{:>5} {:>10} {:>20} {:>14} {:>12} {:>6} {:>6} {:>9}  {:>5} {:<34} {}\n", "place",
                     "step", "step, 90 %", "over 1st, 90 %", "tokens/s/GPU", "MFU %", "bubble", "memory",
                     "fit %", "layout", "with");
  for (const std::size_t i : shown_rows(search, static_cast<std::size_t>(options.top)))
    out += row(i + 1, search.layouts[i]);
  out += "*: nothing is faster and needs less memory\n\n";
  if (search.best() == nullptr) return out;
  out += reasons(search);
  const std::string launch = launch_line(*search.best());
  return launch.empty() ? out : out + "\nStarted as\n  " + launch + "\n";
}

}  // namespace foretrain
