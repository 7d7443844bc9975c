// Answer first, then the ranking: what cannot be told apart shares a place.
#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/search/layout_points.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/import/jobs/large_model_program.hpp"
#include "sim/report/plan/plan_reports.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

namespace {

std::string bytes_text(double bytes) { return to_string(Bytes{static_cast<std::int64_t>(bytes)}); }

/// Slower as predicted, and not surely so.
bool is_unsure(const ModelLayout& layout) {
  return layout.interval && !layout.is_tied && layout.over_first.high > 1 && layout.over_first.low <= 1;
}

std::string answer(const LayoutSearch& search) {
  const ModelLayout& first = search.layouts.front();
  const auto tied = std::ranges::count_if(search.layouts, &ModelLayout::is_tied);
  const std::string interval =
      first.interval ? fmt::format(" (90 %: {})", interval_text(first.interval)) : std::string();
  std::string out = fmt::format("{} ({}): {} a step{}, {} tokens/s a GPU, MFU {} %, {} of memory a GPU.\n",
                                first.point.layout, settings_of(first.job), to_string(seconds(first.step_s)),
                                interval, decimal(first.point.tokens_per_s_per_gpu, 0),
                                percent(first.point.mfu, 1), bytes_text(first.memory_bytes));
  if (tied > 0)
    out += fmt::format("{} as long within {:.0f} %: choose by memory.\n",
                       tied == 1 ? "One other takes" : fmt::format("{} others take", tied), 100 * kTie);
  const auto unsure = std::ranges::count_if(search.layouts, is_unsure);
  if (unsure > 0)
    out +=
        fmt::format("{} shown below may be as fast: 90 % of the step over the first's begins at 1 or less.\n",
                    unsure == 1 ? "One more" : fmt::format("{} more", unsure));
  out += "Why: " + search.why_first + ".\n";
  for (const std::string& change : search.would_change) out += "What would change it: " + change + ".\n";
  if (search.would_change.empty())
    out += "Links half or twice as fast, or GPUs twice as fast, would not change it.\n";
  return out;
}

std::string over_first(const ModelLayout& layout) {
  if (!layout.interval || layout.over_first.low == layout.over_first.high) return "-";
  return fmt::format("{:.2f} .. {:.2f}", layout.over_first.low, layout.over_first.high);
}

std::string row(std::size_t place, const ModelLayout& layout) {
  return fmt::format("{:>5} {:>10} {:>20} {:>14} {:>12} {:>6} {:>6} {:>9}{} {:<34} {}\n",
                     layout.is_tied ? "1=" : std::to_string(place), to_string(seconds(layout.step_s)),
                     interval_text(layout.interval), over_first(layout),
                     decimal(layout.point.tokens_per_s_per_gpu, 0), percent(layout.point.mfu, 1),
                     percent(layout.point.bubble, 1), bytes_text(layout.memory_bytes),
                     layout.is_on_front ? '*' : ' ', layout.point.layout, settings_of(layout.job));
}

}  // namespace

std::string launch_line(const ModelLayout& layout) {
  const LargeModelProgram own = large_model_program(layout.job);
  if (own.program.empty()) return {};
  return fmt::format("{} … {}", name_of(own.launcher), own.program);
}

std::string interval_text(const std::optional<Interval>& interval) {
  if (!interval) return "-";
  return fmt::format("{} .. {}", to_string(seconds(interval->low_s)), to_string(seconds(interval->high_s)));
}

std::string write_layouts_table(const LayoutSearch& search, const PlanReportOptions& options) {
  std::string out;
  if (!search.layouts.empty()) out += answer(search) + "\n";
  out += fmt::format(
      "{} on {} GPUs of {}, {} sequences ({:.2f} M tokens) a step: {} layouts divide, {} lack memory, {} "
      "fit\n",
      search.model, search.gpus, search.cluster, search.global_batch,
      static_cast<double>(search.tokens) / 1e6, search.possible, search.without_memory,
      search.layouts.size());
  if (search.layouts.empty()) return out + "Nothing fits: " + search.why_none + ".\n";
  out += fmt::format("\n{:>5} {:>10} {:>20} {:>14} {:>12} {:>6} {:>6} {:>9}  {:<34} {}\n", "place", "step",
                     "step, 90 %", "over 1st, 90 %", "tokens/s/GPU", "MFU %", "bubble", "memory", "layout",
                     "with");
  for (const std::size_t i : shown_rows(search, static_cast<std::size_t>(options.top)))
    out += row(i + 1, search.layouts[i]);
  out += "*: nothing is faster and needs less memory\n";
  const std::string launch = launch_line(search.layouts.front());
  if (!launch.empty()) out += "\nStarted as\n  " + launch + "\n";
  return out;
}

}  // namespace foretrain
