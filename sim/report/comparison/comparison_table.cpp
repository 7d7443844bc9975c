// Writes comparisons as tables. Each strategy has a line of figures and a line of reasons: the parts of the
// step for the fastest strategy, and for the others what takes more or less time than there.
//
// Columns: step, epoch (on wide terminals), samples per second, speed in % of the fastest strategy with its
// 90 % interval, speedup over the baseline of the heading, communication that nothing overlaps, and memory of
// a GPU.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "sim/analysis/step/known_figures.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/comparison/comparison_catalog.hpp"
#include "sim/report/evidence/evidence_report.hpp"
#include "sim/report/prediction/answer_reports.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

namespace {

// Largest number of parts of a step in one line; further parts are small.
constexpr std::size_t kMostReasons = 3;
// Width in characters from which the table has a column for the epoch.
constexpr std::size_t kRoomForEpoch = 100;

/// Returns the width of the longest name, and at least `least`.
std::size_t width_of(const std::vector<std::string>& names, std::size_t least) {
  for (const std::string& name : names) least = std::max(least, name.size());
  return least;
}

/// Returns a signed time in ms, or in us when it is below 0.1 ms.
std::string signed_time(double seconds) {
  if (std::abs(seconds) < 1e-4) return signed_decimal(seconds * 1e6, 1) + " us";
  return signed_decimal(seconds * 1e3, std::abs(seconds) < 1e-2 ? 2 : 1) + " ms";
}

/// Returns the lines with the training, the batch and the baseline of speedups. The batch is that of the
/// first number of GPUs on which anything runs; with one kind of scaling it is the same for all numbers.
std::string heading(const Comparison& c) {
  std::string batch;
  for (const ComparedGpus& row : c.numbers) {
    if (row.best() == nullptr || !batch.empty()) continue;
    const PredictionPoint& p = row.best()->point;
    batch = c.strong_scaling ? fmt::format("global batch {}", c.global_batch)
                             : fmt::format("batch {} per GPU", p.batch_per_gpu);
  }
  return fmt::format("{}: {} on {}, {}, {}\nSpeedup: over {}, {} a step.\n", c.scenario, c.training,
                     c.cluster, c.precision, batch, c.baseline, to_string(seconds(c.one_gpu_step_s)));
}

/// Returns "97.2 %  91..104": speed in % of the fastest strategy's, with its 90 % interval.
std::string of_fastest(const ComparedStrategy& row) {
  if (!known_ratio(row)) return "-         ";
  if (row.ratio_range.low == row.ratio_range.high) return percent(row.ratio, 1) + " %         ";
  return fmt::format("{} % {:>3}..{:<3}", percent(row.ratio, 1), percent(row.ratio_range.low, 0),
                     percent(row.ratio_range.high, 0));
}

// Width of the names, and whether there is room for every figure.
struct Columns {
  std::size_t name = 8;
  bool has_epoch = true;
};

/// Returns the line of figures: step, epoch, samples per second, speed relative to the fastest, speedup over
/// the baseline, exposed communication, memory of a GPU. An exclamation mark means that it does not fit.
std::string figures(const ComparedStrategy& row, const Columns& columns) {
  const PredictionPoint& p = row.point;
  const double exposed = p.breakdown[static_cast<std::size_t>(Account::exposed_communication)];
  const KnownFigures known = known_figures(p);
  const std::string epoch = known.epoch_s ? spoken_time(*known.epoch_s) : "-";
  return fmt::format("  {:<{}} {:>9}{} {:>11} {:>15} {:>8} {:>9} {:>9}{}\n", row.strategy, columns.name,
                     to_string(seconds(p.step_s)), columns.has_epoch ? fmt::format(" {:>11}", epoch) : "",
                     decimal(p.samples_per_s, 1), of_fastest(row), or_dash(known.speedup, 2),
                     to_string(seconds(exposed)), to_string(p.memory.total()), p.fits() ? "" : " !");
}

/// Returns the largest parts of the fastest step, such as "of its step 81 % forward and backward, 12 % …".
/// Parts below 1 % are left out.
std::string made_of(const ComparedStrategy& best) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostReasons, best.parts.size()); ++i) {
    const double share = best.parts[i].seconds / best.point.step_s;
    if (i > 0 && share < 0.01) break;
    text += fmt::format("{}{} % {}", text.empty() ? "" : ", ", percent(share, 0), best.parts[i].name);
  }
  return "of its step " + text;
}

/// Returns the line of reasons. A strategy within 0.2 % of the fastest is called as fast: it does the same
/// work.
std::string reason(const ComparedStrategy& row, const ComparedStrategy& best) {
  if (&row == &best) return row.job_losses + made_of(row);
  // Positive: the strategy is slower than the best one.
  const double more = row.point.step_s - best.point.step_s;
  if (std::abs(more) < 0.002 * best.point.step_s) return row.job_losses + "as fast as " + best.strategy;
  return fmt::format("{}{} a step: {}", row.job_losses, signed_time(more),
                     differences_in_words(row.against_best));
}

/// Returns the heading of a group of strategies.
std::string_view heading_of(Standing standing) {
  static constexpr std::array<std::string_view, 6> kHeadings{"Within 2 % of the fastest: no reason to switch",
                                                             "Slower by less than these predictions can tell",
                                                             "Slower",
                                                             "More than a change of the strategy",
                                                             "Do not fit into the GPU's memory",
                                                             "Cannot run here"};
  return kHeadings[static_cast<std::size_t>(standing)];
}

/// Returns the block of one number of GPUs: verdict, table, cause, next step. Strategies are grouped by their
/// standing.
std::string block(const ComparedGpus& numbers, const Columns& columns) {
  const std::size_t width = columns.name;
  std::string out = fmt::format("\n{}\n{:<{}} {:>9}{} {:>11} {:>15} {:>8} {:>9} {:>9}\n",
                                numbers.answer.verdict, counted(numbers.gpus, "GPU"), width + 2, "step",
                                columns.has_epoch ? fmt::format(" {:>11}", "epoch") : "", "samples/s",
                                "of the fastest", "speedup", "exposed", "memory");
  const ComparedStrategy* best = numbers.best();
  std::optional<Standing> last;
  for (const ComparedStrategy& row : numbers.strategies) {
    if (row.standing != last && !heading_of(row.standing).empty())
      out += fmt::format(" {}\n", heading_of(row.standing));
    last = row.standing;
    if (!row.why_not.empty()) {
      out += fmt::format("  {:<{}} {}\n", row.strategy, width, row.why_not);
      continue;
    }
    out += figures(row, columns);
    if (row.standing == Standing::needs_more)
      out += fmt::format("  {:<{}}   needs {}\n", "", width, row.needs);
    out += fmt::format("  {:<{}}   {}\n", "", width, reason(row, *best));
  }
  return out + labelled("Cause", numbers.answer.cause) + labelled("Next step", numbers.answer.action);
}

/// Returns the decisions of the model for --explain.
std::string decisions(const Comparison& c) {
  std::string out = "\nDecisions\n";
  for (const Decision& d : c.decisions.list())
    out += fmt::format("  {}: {} ({})\n", d.subject, d.choice, d.why);
  return out;
}

/// Returns a cell of the matrix, such as "ddp 3.71x (+2), zero1 93 %": best strategy, speedup, number of
/// others that are as fast, and the next strategy with its relative speed.
std::string cell(const StrategyChoice& choice) {
  std::string text =
      choice.best + (choice.fits ? fmt::format(" {}x", decimal(choice.speedup, 2)) : std::string(" - !"));
  if (choice.others_as_fast > 0) text += fmt::format(" (+{})", choice.others_as_fast);
  if (!choice.runner_up.empty())
    text += fmt::format(", {} {} %", choice.runner_up, percent(choice.runner_up_by, 0));
  return text;
}

}  // namespace

// The list is ordered by size, so the first entry is the largest difference.
std::string differences_in_words(const std::vector<StepPart>& differences) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostReasons, differences.size()); ++i) {
    // A part below a tenth of the largest difference explains nothing.
    if (std::abs(differences[i].seconds) < 0.1 * std::abs(differences.front().seconds)) break;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", signed_time(differences[i].seconds),
                        differences[i].name);
  }
  return text.empty() ? "no difference" : text;
}

// --quiet prints one verdict for each number of GPUs.
std::string write_comparison_table(const Comparison& c, const ReportOptions& options) {
  std::string out;
  if (options.quiet) {
    for (const ComparedGpus& numbers : c.numbers) out += numbers.answer.verdict + "\n";
    return out;
  }
  const Columns columns{width_of(c.strategies, 8), options.columns == 0 || options.columns >= kRoomForEpoch};
  out = heading(c);
  for (const ComparedGpus& numbers : c.numbers) out += block(numbers, columns);
  out += "\n";
  Answer basis = c.numbers.empty() ? Answer{} : c.numbers.front().answer;
  // The heading states the question already.
  basis.question.clear();
  out += answer_basis(basis);
  if (c.samples == 0) out += "Epochs need data.samples, as in --set data.samples=50000.\n";
  for (const std::string& warning : c.warnings) out += "warning: " + warning + "\n";
  if (c.evidence) out += evidence_line_of(*c.evidence);
  if (!c.note.empty()) out += "\n" + c.note + "\n";
  if (options.explain) out += decisions(c);
  return out;
}

// Rows are models and columns are clusters; each column is as wide as its widest cell.
std::string write_matrix_table(const StrategyMatrix& m) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < m.clusters.size(); ++c) {
    std::size_t width = m.clusters[c].size();
    for (std::size_t r = 0; r < m.models.size(); ++r)
      width = std::max(width, cell(m.choices[r * m.clusters.size() + c]).size());
    widths.push_back(width);
  }
  const std::size_t first = width_of(m.models, 5);
  std::string out = fmt::format(
      "Strategy on {} and its speedup over one GPU; (+N): so many others are within 2 % of the fastest; then "
      "the "
      "next one's\nspeed in % of the first's\n\n{:<{}}",
      counted(m.gpus, "GPU"), "", first);
  for (std::size_t c = 0; c < m.clusters.size(); ++c)
    out += fmt::format("  {:<{}}", m.clusters[c], widths[c]);
  for (std::size_t r = 0; r < m.models.size(); ++r) {
    while (out.back() == ' ') out.pop_back();
    out += fmt::format("\n{:<{}}", m.models[r], first);
    for (std::size_t c = 0; c < m.clusters.size(); ++c)
      out += fmt::format("  {:<{}}", cell(m.choices[r * m.clusters.size() + c]), widths[c]);
  }
  while (out.back() == ' ') out.pop_back();
  return out + "\n";
}

}  // namespace foretrain
