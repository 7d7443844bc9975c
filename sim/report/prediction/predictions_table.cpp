// Writes several predictions or comparisons below each other, with a closing table. Every figure in that
// table stands above as well.
#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/step/known_figures.hpp"
#include "sim/base/ascii.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/comparison/comparison_catalog.hpp"
#include "sim/report/prediction/answer_reports.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

namespace {

/// Returns the largest number that is in all of the ascending lists; 0 when there is none.
int largest_common(const std::vector<std::vector<int>>& lists) {
  const std::vector<int>& first = lists.front();
  const auto in_all = [&](int gpus) {
    return std::all_of(lists.begin(), lists.end(), [&](const auto& list) {
      return std::find(list.begin(), list.end(), gpus) != list.end();
    });
  };
  const auto found = std::find_if(first.rbegin(), first.rend(), in_all);
  return found == first.rend() ? 0 : *found;
}

/// Returns the width of the longest name.
template <typename Report>
std::size_t name_width(const std::vector<Report>& reports) {
  std::size_t width = 8;
  for (const Report& report : reports) width = std::max(width, report.scenario.size());
  return width;
}

/// Returns the point on `gpus`, or the largest one when the scenarios have no number in common.
const PredictionPoint& point_on(const Prediction& prediction, int gpus) {
  const auto is_it = [gpus](const PredictionPoint& p) { return p.gpus == gpus; };
  const auto found = std::find_if(prediction.points.begin(), prediction.points.end(), is_it);
  return found == prediction.points.end() ? prediction.points.back() : *found;
}

/// Returns the closing table of predictions. Columns: scenario, GPUs, step, epoch, rate, speedup, efficiency,
/// fastest number of GPUs, and the cause of losses.
std::string summary(const std::vector<Prediction>& predictions) {
  std::vector<std::vector<int>> listed;
  for (const Prediction& p : predictions) {
    listed.emplace_back();
    for (const PredictionPoint& point : p.points) listed.back().push_back(point.gpus);
  }
  const int common = largest_common(listed);
  const std::size_t width = name_width(predictions);
  std::string out =
      fmt::format("{:<{}} {:>6} {:>9} {:>11} {:>11} {:>8} {:>10} {:>8}   {}\n", "scenario", width, "GPUs",
                  "step", "epoch", "samples/s", "speedup", "efficiency", "fastest", "why");
  for (const Prediction& p : predictions) {
    const PredictionPoint& point = point_on(p, common);
    const KnownFigures known = known_figures(point);
    out +=
        fmt::format("{:<{}} {:>6} {:>9} {:>11} {:>11} {:>8} {:>10} {:>8}   {}\n", p.scenario, width,
                    point.gpus, to_string(seconds(point.step_s)),
                    known.epoch_s ? spoken_time(*known.epoch_s) : "-", decimal(point.samples_per_s, 1),
                    or_dash(known.speedup, 2), known.efficiency ? percent(*known.efficiency, 1) + " %" : "-",
                    p.cannot_run ? "none" : std::to_string(p.crossover.fastest_gpus),
                    p.cannot_run ? p.answer.verdict : p.crossover.cause);
  }
  return out;
}

/// Returns the comparison on `gpus`, or on its largest number.
const ComparedGpus& numbers_on(const Comparison& comparison, int gpus) {
  const auto is_it = [gpus](const ComparedGpus& numbers) { return numbers.gpus == gpus; };
  const auto found = std::find_if(comparison.numbers.begin(), comparison.numbers.end(), is_it);
  return found == comparison.numbers.end() ? comparison.numbers.back() : *found;
}

/// Returns the second strategy with its speed in % of the first; empty when the second cannot run.
std::string runner_up(const ComparedGpus& numbers) {
  if (numbers.strategies.size() < 2 || !numbers.strategies[1].why_not.empty()) return "";
  const double share = numbers.strategies[1].point.samples_per_s / numbers.first()->point.samples_per_s;
  return fmt::format("{} {} %", numbers.strategies[1].strategy, percent(share, 0));
}

/// Returns the line of one comparison.
std::string line(const Comparison& c, const ComparedGpus& numbers, std::size_t width) {
  const std::string begin = fmt::format("{:<{}} {:>6}  ", c.scenario, width, numbers.gpus);
  const ComparedStrategy* best = numbers.first();
  if (best == nullptr) return begin + "none runs here\n";
  const PredictionPoint& p = best->point;
  return without_trailing_spaces(fmt::format("{}{:<22} {:>9} {:>11} {:>8}   {}", begin, best->strategy,
                                             to_string(seconds(p.step_s)), decimal(p.samples_per_s, 1),
                                             or_dash(known_figures(p).speedup, 2), runner_up(numbers))) +
         "\n";
}

/// Returns the closing table of comparisons. Columns: scenario, GPUs, best strategy, step, rate, speedup,
/// runner-up.
std::string summary(const std::vector<Comparison>& comparisons) {
  std::vector<std::vector<int>> listed;
  for (const Comparison& c : comparisons) {
    listed.emplace_back();
    for (const ComparedGpus& numbers : c.numbers) listed.back().push_back(numbers.gpus);
  }
  const int common = largest_common(listed);
  const std::size_t width = name_width(comparisons);
  std::string out = fmt::format("{:<{}} {:>6}  {:<22} {:>9} {:>11} {:>8}   {}\n", "scenario", width, "GPUs",
                                "best", "step", "samples/s", "speedup", "runner-up");
  for (const Comparison& c : comparisons) out += line(c, numbers_on(c, common), width);
  return out;
}

}  // namespace

std::string write_predictions_table(const std::vector<Prediction>& predictions,
                                    const ReportOptions& options) {
  std::string out;
  for (const Prediction& prediction : predictions) out += write_named_answer(prediction, options) + "\n";
  return out + summary(predictions);
}

std::string write_comparisons_table(const std::vector<Comparison>& comparisons,
                                    const ReportOptions& options) {
  std::string out;
  for (const Comparison& comparison : comparisons) out += write_comparison_table(comparison, options) + "\n";
  return out + summary(comparisons);
}

}  // namespace foretrain
