// Answer first, then the ranking: what cannot be told apart shares a place.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/plan/plan_reports.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

namespace {

std::string bytes_text(double bytes) { return to_string(Bytes{static_cast<std::int64_t>(bytes)}); }

std::string answer(const LayoutSearch& search) {
  const ModelLayout& first = search.layouts.front();
  const auto tied = std::ranges::count_if(search.layouts, &ModelLayout::is_tied);
  std::string out = fmt::format("{} ({}): {} a step, {} tokens/s a GPU, MFU {} %, {} of memory a GPU.\n",
                                first.point.layout, settings_of(first.job), to_string(seconds(first.step_s)),
                                decimal(first.point.tokens_per_s_per_gpu, 0), percent(first.point.mfu, 1),
                                bytes_text(first.memory_bytes));
  if (tied > 0)
    out += fmt::format("{} as long within {:.0f} %: choose by memory.\n",
                       tied == 1 ? "One other takes" : fmt::format("{} others take", tied), 100 * kTie);
  out += "Why: " + search.why_first + ".\n";
  for (const std::string& change : search.would_change) out += "What would change it: " + change + ".\n";
  if (search.would_change.empty())
    out += "Links half or twice as fast, or GPUs twice as fast, would not change it.\n";
  return out;
}

std::string row(std::size_t place, const ModelLayout& layout) {
  return fmt::format("{:>5} {:>10} {:>10} {:>7} {:>7} {:>10}{} {:<36} {}\n",
                     layout.is_tied ? "1=" : std::to_string(place), to_string(seconds(layout.step_s)),
                     decimal(layout.point.tokens_per_s_per_gpu, 0), percent(layout.point.mfu, 1),
                     percent(layout.point.bubble, 1), bytes_text(layout.memory_bytes),
                     layout.is_on_front ? '*' : ' ', layout.point.layout, settings_of(layout.job));
}

}  // namespace

std::string write_plan_table(const LayoutSearch& search, const PlanReportOptions& options) {
  std::string out;
  if (!search.layouts.empty()) out += answer(search) + "\n";
  out += fmt::format(
      "{} on {} GPUs of {}, {} sequences ({:.2f} M tokens) a step: {} layouts divide, {} lack memory, {} "
      "fit\n",
      search.model, search.gpus, search.cluster, search.global_batch,
      static_cast<double>(search.tokens) / 1e6, search.possible, search.without_memory,
      search.layouts.size());
  if (search.layouts.empty()) return out + "Nothing fits: " + search.why_none + ".\n";
  out += fmt::format("\n{:>5} {:>10} {:>10} {:>7} {:>7} {:>10}  {:<36} {}\n", "place", "step", "tokens/s/GPU",
                     "MFU %", "bubble", "memory", "layout", "with");
  std::size_t shown = 0;
  for (std::size_t i = 0; i < search.layouts.size(); ++i) {
    const bool is_top = shown < static_cast<std::size_t>(options.top);
    if (!is_top && !search.layouts[i].is_on_front) continue;
    out += row(i + 1, search.layouts[i]), ++shown;
  }
  out += "*: nothing is faster and needs less memory\n";
  const std::string launch = launch_line(search.layouts.front());
  if (!launch.empty()) out += "\nStarted as\n  " + launch + "\n";
  return out;
}

}  // namespace foretrain
