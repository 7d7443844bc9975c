// Writes plans on several numbers of GPUs: a line for the best layout of each, and from where on more GPUs do
// not pay.
//
// A number of GPUs pays when a doubling since the last number that pays makes training at least 1.4 times as
// fast. Efficiency is tokens per second and GPU over those of the fewest GPUs that fit.
#include <fmt/format.h>

#include "sim/analysis/answer/plan_answer.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/plan/plan_reports.hpp"
#include "sim/report/prediction/answer_reports.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

namespace {

/// Returns a number with four digits, never as a power of ten.
std::string hours_text(double hours) {
  return hours < 1000 ? fmt::format("{:.4g}", hours) : decimal(hours, 0);
}

/// Returns the line of one number of GPUs. Columns: GPUs, nodes, step with 90 % interval, tokens per second,
/// efficiency, length and GPU-hours of the run, memory of the fullest GPU, whether the number pays, layout.
std::string counts_row(const PlannedCounts& plan, std::size_t place) {
  const PlannedCount& count = plan.counts[place];
  const ModelLayout* best = count.best();
  // A number of GPUs on which nothing fits has its reason in place of figures.
  if (best == nullptr)
    return fmt::format("{:>6} {:>5}  {}\n", count.gpus, count.nodes, count.search.why_none);
  return fmt::format("{:>6} {:>5} {:>10} {:>20} {:>10} {:>8} % {:>12} {:>10} {:>9}{} {}, {}\n", count.gpus,
                     count.nodes, to_string(seconds(best->step_s)), interval_text(best->interval),
                     decimal(count.tokens_per_s, 0), percent(count.efficiency, 1), spoken_time(count.run_s),
                     hours_text(count.gpu_hours),
                     to_string(Bytes{static_cast<std::int64_t>(best->memory_bytes)}),
                     plan.best == place ? " <-"
                     : count.pays       ? "   "
                                        : " - ",
                     best->point.layout, settings_of(best->job));
}

/// Returns the table of all numbers, and how the best layout is started.
std::string counts_table(const PlannedCounts& plan) {
  const std::string run = plan.is_run ? "the run" : fmt::format("{:.0f}T tokens", plan.tokens / 1e12);
  std::string out = fmt::format(
      "The best layout of each number\n{:>6} {:>5} {:>10} {:>20} {:>10} {:>10} {:>12} {:>10} {:>9}    {}\n",
      "GPUs", "nodes", "step", "step, 90 %", "tokens/s", "efficiency", run, "GPU-hours", "memory", "layout");
  for (std::size_t i = 0; i < plan.counts.size(); ++i) out += counts_row(plan, i);
  out += fmt::format(
      "<-: the last number that pays; -: does not, a doubling is less than {:.1f} times as fast\n",
      2 * kPays);
  if (!plan.best) return out;
  const std::string launch = launch_line(*plan.counts[*plan.best].best());
  if (!launch.empty())
    out += fmt::format("\nOn {} started as\n  {}\n", counted(plan.counts[*plan.best].gpus, "GPU"), launch);
  return out;
}

}  // namespace

std::string write_plan_table(const PlannedCounts& plan, const PlanReportOptions& options) {
  Answer answer = plan.answer;
  // The line to paste stands below the table.
  if (answer.action.starts_with(kStartItAs)) answer.action.clear();
  std::string out = answer_head(answer) + "\n";
  out +=
      plan.counts.size() == 1 ? write_layouts_table(plan.counts.front().search, options) : counts_table(plan);
  return out + "\n" + answer_basis(plan.answer);
}

}  // namespace foretrain
