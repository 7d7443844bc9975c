// Writes the tables of a prediction: heading, scaling curve, breakdown of the step, intervals, crossover and
// warnings.
//
// Speedup is the rate divided by the rate on one GPU, and efficiency is speedup divided by the number of
// GPUs. Exposed communication is communication that the step waits for.
#include "sim/report/prediction/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "sim/analysis/answer/what_fits.hpp"
#include "sim/analysis/step/known_figures.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/evidence/evidence_report.hpp"
#include "sim/report/prediction/crossover_table.hpp"

namespace foretrain {

namespace {

/// Returns the question in one line, so that a table that is passed on states what it is about.
std::string heading(const Prediction& p) {
  const PredictionPoint& first = p.points.front();
  const std::string batch = p.strong_scaling ? fmt::format("global batch {}, strong scaling", p.global_batch)
                            : p.kind_batches.empty()
                                ? fmt::format("batch {} per GPU, weak scaling", first.batch_per_gpu)
                                : fmt::format("batch per GPU {}, weak scaling", p.kind_batches);
  return fmt::format("{}: {} on {} with {}, {}, {}\n\n", p.scenario, p.model, p.cluster, p.strategy,
                     p.precision, batch);
}

// Texts of values that may be unknown.
std::string time_or_dash(const std::optional<double>& value) { return value ? spoken_time(*value) : "-"; }
std::string share_or_dash(const std::optional<double>& share) {
  return share ? percent(*share, 1) + " %" : "-";
}

/// Returns the scaling curve. Columns: GPUs, nodes, global batch, step, epoch, total, rate, speedup,
/// efficiency, memory of a GPU. "-" stands for an unknown value and "!" for a training that does not fit into
/// memory.
std::string curve(const Prediction& prediction) {
  std::string out =
      fmt::format("{:>6} {:>5} {:>8} {:>9} {:>11} {:>11} {:>11} {:>8} {:>10} {:>9}\n", "GPUs", "nodes",
                  "batch", "step", "epoch", "total", "samples/s", "speedup", "efficiency", "memory");
  for (const PredictionPoint& p : prediction.points) {
    const KnownFigures known = known_figures(p);
    out += fmt::format("{:>6} {:>5} {:>8} {:>9} {:>11} {:>11} {:>11} {:>8} {:>10} {:>9}{}\n", p.gpus, p.nodes,
                       p.global_batch, to_string(seconds(p.step_s)), time_or_dash(known.epoch_s),
                       time_or_dash(known.total_s), decimal(p.samples_per_s, 1), or_dash(known.speedup, 2),
                       share_or_dash(known.efficiency), to_string(p.memory.total()), p.fits() ? "" : " !");
  }
  return out;
}

// Width of an efficiency bar in characters.
constexpr std::size_t kBar = 8;

/// Returns a bar of eighths of a character, at most kBar characters; more than 100 % gives a full bar.
std::string efficiency_bar(double efficiency) {
  static constexpr std::array<std::string_view, 8> kParts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double share = std::clamp(efficiency, 0.0, 1.0);
  const auto eighths = static_cast<std::size_t>(std::llround(share * 8 * kBar));
  std::string bar;
  for (std::size_t i = 0; i < eighths / 8; ++i) bar += "█";
  bar += kParts[eighths % 8];
  const std::size_t filled = eighths / 8 + (eighths % 8 > 0 ? 1 : 0);
  return bar + std::string(kBar - filled, ' ');
}

/// Returns the curve in at most 80 columns, without batch and epoch, and with bars when the terminal shows
/// them.
std::string narrow_curve(const Prediction& prediction, bool bars) {
  // With bars, the heading of the efficiency stands above number and bar.
  const int width = bars ? 7 : 10;
  std::string out =
      fmt::format("{:>5} {:>5} {:>9} {:>10} {:>10} {:>7} {:<{}} {:>9}\n", "GPUs", "nodes", "step", "total",
                  "samples/s", "speedup", "efficiency", bars ? 7 + 1 + kBar : 10, "memory");
  for (const PredictionPoint& p : prediction.points) {
    const KnownFigures known = known_figures(p);
    out += fmt::format("{:>5} {:>5} {:>9} {:>10} {:>10} {:>7} {:>{}} {}{:>9}{}\n", p.gpus, p.nodes,
                       to_string(seconds(p.step_s)), time_or_dash(known.total_s), decimal(p.samples_per_s, 1),
                       or_dash(known.speedup, 2), share_or_dash(known.efficiency), width,
                       bars ? efficiency_bar(known.efficiency.value_or(0)) + " " : "",
                       to_string(p.memory.total()), p.fits() ? "" : "!");
  }
  return out;
}

/// Chooses between both curves by the width of the terminal.
std::string curve(const Prediction& prediction, const ReportOptions& options) {
  constexpr std::size_t kFull = 99;
  if (options.columns == 0 || (options.columns >= kFull && !options.bars)) return curve(prediction);
  return narrow_curve(prediction, options.bars);
}

/// Returns the table by which large models are compared; empty without [parallel].
std::string large_model_lines(const Prediction& prediction) {
  if (prediction.points.empty() || !prediction.points.front().large) return {};
  std::string out = fmt::format("\n{:>6} {:>8} {:>13} {:>9} {:>7} {:>8} {:>11}   {}\n", "GPUs", "m.-batch",
                                "tokens/s/GPU", "TFLOP/s", "MFU", "bubble", "1T tokens", "layout");
  for (const PredictionPoint& p : prediction.points) {
    const LargeModelPoint& large = *p.large;
    constexpr double kTrillion = 1e12;
    out += fmt::format("{:>6} {:>8} {:>13} {:>9} {:>5} % {:>6} % {:>11}   {}\n", p.gpus, large.micro_batches,
                       decimal(large.tokens_per_s_per_gpu, 1), decimal(large.model_tflops, 1),
                       percent(large.mfu, 1), percent(large.bubble, 1),
                       spoken_time(kTrillion / (large.tokens_per_s_per_gpu * p.gpus)), large.layout);
  }
  return out +
         "MFU: 3 x forward FLOPs with the causal half of attention, nothing recomputed, over the peak of the "
         "products' precision\n";
}

/// Returns the breakdown of each step as percentages, which sum to 100 %.
std::string breakdown(const Prediction& prediction) {
  std::string out = fmt::format("\n{:>6}   {:>8} {:>14} {:>8} {:>8} {:>10} {:>8}   {}\n", "GPUs", "compute",
                                "comm. wait", "input", "host", "optimizer", "other", "% of the step");
  for (const PredictionPoint& p : prediction.points) {
    const auto share = [&](Account account) {
      return percent(p.breakdown[static_cast<std::size_t>(account)] / p.step_s, 1);
    };
    out += fmt::format("{:>6}   {:>8} {:>14} {:>8} {:>8} {:>10} {:>8}\n", p.gpus, share(Account::compute),
                       share(Account::exposed_communication), share(Account::input_stall),
                       share(Account::host), share(Account::optimizer), share(Account::other));
  }
  return out;
}

/// Returns what the run on the most GPUs does besides its steps.
std::string overhead_line(const PredictionPoint& p) {
  const RunOverhead& overhead = p.overhead;
  std::string parts;
  const auto add = [&](std::string_view what, double seconds_of_it) {
    if (seconds_of_it > 0)
      parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", what, spoken_time(seconds_of_it));
  };
  add("start-up", overhead.startup_s);
  add("loader restarts", overhead.loader_restart_s);
  add("validation", overhead.validation_s);
  add("checkpoints", overhead.checkpoint_s);
  add("other periodic work", overhead.periodic_s);
  // A run without overhead has no such line.
  if (parts.empty()) return {};
  return fmt::format("Besides the steps, on {}: {}; {} % of the total.\n", counted(p.gpus, "GPU"), parts,
                     percent(overhead.total_s() / p.total_s, 1));
}

/// Returns the model's decisions with their reasons, and the causes of losses.
std::string decisions(const Prediction& p) {
  std::string out = "\nDecisions\n";
  for (const Decision& d : p.decisions.list())
    out += fmt::format("  {}: {} ({})\n", d.subject, d.choice, d.why);
  return out + cause_lines(p.crossover);
}

}  // namespace

std::string or_dash(const std::optional<double>& value, int decimals) {
  return value ? decimal(*value, decimals) : "-";
}

std::string spoken_time(double value) {
  if (!std::isfinite(value)) return "-";
  if (value < 600) return to_string(seconds(value));
  // Beyond ten minutes seconds do not matter. The limit of 1e15 s keeps the minutes within 64 bits.
  const auto minutes = static_cast<long long>(std::llround(std::min(value, 1e15) / 60));
  if (minutes < 60) return fmt::format("{} min", minutes);
  if (minutes < 48 * 60) return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
  return fmt::format("{} d {:02} h", minutes / 1440, minutes % 1440 / 60);
}

std::string further_tables(const Prediction& p, const ReportOptions& options) {
  std::string out;
  if (p.sensitivity) out += write_sensitivity(*p.sensitivity);
  if (p.sensitivity && p.evidence) out += runs_to_make_lines(*p.evidence);
  out += break_even_paragraph(p);
  if (options.explain && p.evidence) out += neighbour_lines(*p.evidence);
  if (options.explain) out += decisions(p);
  return out;
}

// --quiet prints the curve alone.
std::string write_table(const Prediction& p, const ReportOptions& options) {
  if (options.quiet) return curve(p, options);
  std::string out;
  if (!p.points.empty())
    out += p.answer.verdict + "\n\n" + heading(p) + curve(p, options) + large_model_lines(p) + breakdown(p);
  if (!p.points.empty() && !p.cannot_run) out += write_intervals(p) + write_memory_ledger(p);
  if (p.answer.limits) out += fmt::format("Limits: {}.\n", limits_words(*p.answer.limits));
  if (p.evidence) out += evidence_line_of(*p.evidence);
  if (p.mixing) out += write_mixing(*p.mixing);
  out += p.cannot_run ? "\n" : crossover_paragraph(p);
  if (p.samples > 0 && !p.points.empty()) out += overhead_line(p.points.back());
  if (p.samples == 0) out += "Epoch and total need data.samples, as in --set data.samples=50000.\n";
  if (p.recommendation) out += write_recommendation(*p.recommendation);
  for (const std::string& warning : p.warnings) out += "warning: " + warning + "\n";
  out += further_tables(p, options);
  return p.note.empty() ? out : out + "\n" + p.note + "\n";
}

}  // namespace foretrain
