// Writes the answer in at most 24 lines: the verdict, the rows of the table that it may speak of, and one
// line for each thing that the user can act on.
//
// Readers are users at a terminal. --details shows all tables (table.cpp) instead.
#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/answer/what_fits.hpp"
#include "sim/analysis/evidence/applied.hpp"
#include "sim/analysis/step/known_figures.hpp"
#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/base/ascii.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/spoken.hpp"
#include "sim/report/evidence/evidence_report.hpp"
#include "sim/report/prediction/answer_reports.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

namespace {

// Largest number of warnings; --details shows all.
constexpr std::size_t kWarnings = 3;

/// Returns the speedup over one GPU, with its interval. When one GPU cannot run the training, it is over the
/// first row that can.
std::string speedup_of(const Answer& answer, const PredictionPoint& p) {
  const KnownFigures known = known_figures(p);
  if (!known.speedup) return "-";
  // The first row that fits takes the place of one GPU.
  if (!answer.one_gpu_fits) {
    const auto first = std::ranges::find_if(answer.rows, &PredictionPoint::fits);
    return spoken_factor(p.samples_per_s / first->samples_per_s);
  }
  if (p.gpus == 1 || !known.speedup_range) return spoken_factor(*known.speedup);
  return fmt::format("{} ({} to {})", spoken_factor(*known.speedup), spoken_factor(known.speedup_range->low),
                     spoken_factor(known.speedup_range->high));
}

/// Returns needed and available memory of a GPU, such as "5.1 of 34 GB"; "!" marks a training that may not
/// fit.
std::string memory_of(const PredictionPoint& p) {
  const double gigabytes = static_cast<double>(p.memory.total().count) / 1e9,
               there = static_cast<double>(p.memory_capacity.count) / 1e9;
  const double fits = chance_of_fitting(p);
  const std::string needed = gigabytes < 10 ? decimal(gigabytes, 1) : decimal(gigabytes, 0);
  return fmt::format("{} of {} GB{}", needed, decimal(there, 0), fits < kSurelyFits ? " !" : "");
}

/// Returns GPU-hours with two digits.
std::string hours_of(const KnownFigures& known) {
  if (!known.gpu_hours) return "-";
  return *known.gpu_hours < 10 ? fmt::format("{:.2g}", *known.gpu_hours) : decimal(*known.gpu_hours, 0);
}

/// Returns the table. Columns: GPUs, nodes, step, length of the run or epoch (or samples per second),
/// speedup, GPU-hours, memory. When more loader workers would help, a last column has the step with them.
std::string table_of(const Answer& answer) {
  const bool has_length = answer.quantity != "step";
  const std::string_view length = answer.quantity == "epoch" ? "epoch" : "total";
  std::string out = has_length
                        ? fmt::format("  {:>5} {:>6} {:>10} {:>12}  {:<20} {:>10}  {}", "GPUs", "nodes",
                                      "step", length, "speedup", "GPU-hours", "memory per GPU")
                        : fmt::format("  {:>5} {:>6} {:>10} {:>12}  {:<20} {}", "GPUs", "nodes", "step",
                                      "samples/s", "speedup", "memory per GPU");
  if (answer.remedy) out += fmt::format("  step with {} workers", answer.remedy->workers);
  out += "\n";
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const PredictionPoint& p = answer.rows[i];
    const KnownFigures known = known_figures(p);
    const std::string step = spoken_duration(p.step_s);
    if (has_length)
      out += fmt::format("  {:>5} {:>6} {:>10} {:>12}  {:<20} {:>10}  {:<14}", p.gpus, p.nodes, step,
                         known.total_s ? spoken_duration(*known.total_s) : "-", speedup_of(answer, p),
                         hours_of(known), memory_of(p));
    else
      out += fmt::format("  {:>5} {:>6} {:>10} {:>12}  {:<20} {:<14}", p.gpus, p.nodes, step,
                         decimal(p.samples_per_s, p.samples_per_s < 100 ? 1 : 0), speedup_of(answer, p),
                         memory_of(p));
    if (answer.remedy) out += fmt::format("  {:>12}", spoken_duration(answer.remedy->step_s[i]));
    out.erase(out.find_last_not_of(' ') + 1);
    out += "\n";
  }
  const auto is_tight = [](const PredictionPoint& p) { return chance_of_fitting(p) < kSurelyFits; };
  if (std::ranges::any_of(answer.rows, is_tight)) out += "  ! does not fit, or may not\n";
  return out;
}

/// Returns the first warnings, and how many more there are.
std::string warnings_of(const Prediction& prediction) {
  std::vector<std::string> warnings = prediction.warnings;
  // The answer's speedups count from one of its own rows, so the warning about the baseline does not apply.
  std::erase_if(warnings, [](const std::string& text) { return text.starts_with(kBaselineWarning); });
  const std::size_t shown = std::min(kWarnings, warnings.size());
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) out += labelled(i == 0 ? "Warning" : "", warnings[i] + ".");
  if (warnings.size() > shown)
    out += labelled("",
                    fmt::format("{} with --details.",
                                counted(static_cast<std::int64_t>(warnings.size() - shown), "more warning")));
  return out;
}

// Collects blocks of lines in order. A block that does not fit into the page any more is left out as a whole.
class AnswerPage {
 public:
  void add(const std::string& block) {
    const auto lines = static_cast<std::size_t>(std::ranges::count(block, '\n'));
    // Later and shorter blocks may still fit.
    if (lines_ + lines > kAnswerLines) return;
    lines_ += lines, text_ += block;
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
  std::size_t lines_ = 0;
};

/// Returns what measured runs say, under two labels.
std::string evidence_of(const Prediction& prediction) {
  if (!prediction.evidence) return {};
  const std::string text = evidence_line_of(*prediction.evidence);
  const std::size_t measured = measured_line_of(prediction.evidence->measured).size();
  return labelled("Measured", prediction.answer.measured) +
         labelled("Evidence", trimmed(std::string_view(text).substr(measured)));
}

/// Returns further changes with which the training fits, such as "LoRA of rank 16 in bf16, micro-batches of
/// 1: 19 GB, 98 ms a step; --adapters lora:16 …". The first change is the next step and stands there.
std::string other_changes_that_fit(const Answer& answer) {
  std::string out;
  for (std::size_t i = 1; i < answer.fits.size(); ++i) {
    const FittingWay& way = answer.fits[i];
    out += labelled(out.empty() ? "Also fits" : "",
                    fmt::format("{}: {}, {} a step; {}", capitalized(way.what), to_string(way.memory),
                                spoken_duration(way.step_s), way.option));
  }
  return out;
}

}  // namespace

// The order is that of importance, since the page may end before the last block.
std::string write_answer(const Prediction& prediction) {
  const Answer& answer = prediction.answer;
  if (answer.rows.empty()) return {};
  AnswerPage page;
  page.add(paragraph(answer.verdict) + "\n" + table_of(answer) + "\n");
  if (prediction.recommendation)
    for (const auto& [label, text] : request_lines(*prediction.recommendation))
      page.add(labelled(label, text));
  page.add(labelled("Cause", answer.cause));
  page.add(labelled(answer.says_more_gpus ? "More GPUs" : "Next step", answer.action));
  page.add(other_changes_that_fit(answer));
  if (answer.limits) page.add(labelled("Limits", capitalized(limits_words(*answer.limits)) + "."));
  for (std::size_t i = 1; i < answer.not_understood.size(); ++i)
    page.add(labelled("Not modelled", answer.not_understood[i]));
  for (const std::string& sentence : answer.not_credible) page.add(labelled("Not credible", sentence));
  page.add(warnings_of(prediction));
  page.add(labelled("Asked", answer.question + "."));
  page.add(labelled("Assumed", assumed_words(answer)));
  page.add(evidence_of(prediction));
  page.add(answer_how_sure(answer));
  page.add(labelled("Note", prediction.note));
  return std::move(page).text();
}

std::string write_named_answer(const Prediction& prediction, const ReportOptions& options) {
  const std::string text = write_answer_or_table(prediction, options);
  return options.details || options.quiet
             ? text
             : fmt::format("{}: {}\n{}", prediction.scenario, prediction.answer.question, text);
}

// --quiet is about the curve, which only the tables have.
std::string write_answer_or_table(const Prediction& prediction, const ReportOptions& options) {
  if (options.details || options.quiet) return write_table(prediction, options);
  std::string out = write_answer(prediction);
  if (prediction.mixing) out += write_mixing(*prediction.mixing);
  return out + further_tables(prediction, options);
}

}  // namespace foretrain
