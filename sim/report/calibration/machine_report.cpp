// Builds the report of `calibrate machine`, one function for each section. Errors before any fit come first,
// since only they show how good predictions of an unknown machine are.
//
// The report becomes report.md and report.html. Its readers are users who measured a machine and want to
// share the result.
#include "sim/report/calibration/machine_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/units.hpp"
#include "sim/scenario/calibration/calibration_constants.hpp"
#include "sim/scenario/calibration/calibration_text.hpp"

namespace foretrain {

namespace {

/// These functions return the text of one cell; "-" for an unknown value.
std::string time_cell(std::optional<double> seconds_of) {
  return seconds_of ? to_string(seconds(*seconds_of)) : "-";
}

std::string error_cell(double predicted, double measured) {
  return measured > 0 ? signed_percent(predicted / measured - 1, 1) + " %" : "-";
}

std::string share_cell(double share) { return percent(share, 1) + " %"; }

std::string gigabytes(double bytes) { return decimal(bytes / 1e9, 2); }

/// Returns the network with its settings.
std::string configuration(const MeasuredStep& step) {
  std::string out = step.network;
  if (step.compiled) out += ", compiled";
  if (step.channels_last) out += ", channels last";
  for (const auto& [key, value] : step.settings) out += fmt::format(", {}={}", key, value);
  return out;
}

/// Returns what the machine is: GPU, driver, versions.
DocumentSection machine_section(const MachineReport& report) {
  DocumentSection out{"Machine"};
  out.table.head = {"what", "is"};
  for (const auto& [key, value] : report.about) out.table.rows.push_back({key, value});
  return out;
}

/// Returns the stages with state, duration and message.
DocumentSection stage_section(const MachineReport& report) {
  DocumentSection out{"What ran"};
  out.table.head = {"stage", "state", "seconds", "what happened"};
  double total = 0;
  for (const ReportedStage& stage : report.stages) {
    out.table.rows.push_back({stage.name, stage.state, decimal(stage.seconds, 1), stage.said});
    total += stage.seconds;
  }
  out.sentences.push_back(fmt::format("The stages took {} s together.", decimal(total, 0)));
  return out;
}

/// Returns the sets of predictions that exist, each with its name in headings.
std::vector<std::pair<std::string, const MachineScores*>> predictions_of(const MachineReport& report) {
  std::vector<std::pair<std::string, const MachineScores*>> out;
  if (report.before) out.emplace_back("before", &*report.before);
  if (report.after_bench) out.emplace_back("after bench", &*report.after_bench);
  if (report.after) out.emplace_back("after all", &*report.after);
  return out;
}

/// Adds one row of error statistics over the steps for which `counts` returns true; none when there are no
/// such steps.
void add_statistics(const MachineReport& report, const std::string& of, const std::string& name,
                    const std::function<bool(const MachineStep&)>& counts, DocumentTable& table) {
  const auto is_scored = [&](const ScoredStep& scored) {
    return scored.predicted_s && counts(report.steps[scored.step]);
  };
  const auto rows = std::ranges::count_if(report.before->steps, is_scored);
  if (rows == 0) return;
  std::vector<std::string> cells{of, name, std::to_string(rows)};
  for (const auto& [heading, scores] : predictions_of(report)) {
    const ErrorStatistics errors = step_errors(report.steps, *scores, counts);
    cells.push_back(share_cell(errors.median)), cells.push_back(share_cell(errors.p90));
    cells.push_back(signed_percent(errors.bias, 1) + " %");
  }
  table.rows.push_back(std::move(cells));
}

/// Returns errors of step times: of all steps, by precision, and by kind of network.
DocumentSection error_section(const MachineReport& report) {
  DocumentSection out{"Predicted against measured"};
  if (!report.before || report.steps.empty()) return out;
  out.sentences = {
      "The errors are of step times: the median, the 90th percentile, and the mean with its sign.",
      "Before: with the catalog's constants. After bench: with constants fitted to the samples of "
      "foretrain-bench alone. After all: the fit has seen these steps, so that its errors are no forecast."};
  out.table.head = {"of", "which", "steps"};
  for (const auto& [heading, scores] : predictions_of(report))
    for (const char* figure : {"median", "p90", "bias"}) out.table.head.push_back(heading + " " + figure);
  std::map<std::string, int> precisions, kinds;
  for (const MachineStep& step : report.steps)
    ++precisions[step.measured.precision], ++kinds[step.measured.kind];
  add_statistics(
      report, "all", "all", [](const MachineStep&) { return true; }, out.table);
  for (const auto& entry : precisions)
    add_statistics(
        report, "precision", entry.first,
        [&entry](const MachineStep& step) { return step.measured.precision == entry.first; }, out.table);
  for (const auto& entry : kinds)
    add_statistics(
        report, "kind", entry.first,
        [&entry](const MachineStep& step) { return step.measured.kind == entry.first; }, out.table);
  return out;
}

/// Returns one row for each step: measured time, its relative spread, host time, kernel launches, and each
/// set of predictions with its error.
DocumentSection step_section(const MachineReport& report) {
  DocumentSection out{"Each step"};
  if (!report.before) return out;
  out.table.head = {"network", "precision", "batch", "measured", "spread", "host", "launches"};
  for (const auto& [heading, scores] : predictions_of(report)) {
    out.table.head.push_back(heading);
    out.table.head.push_back("error");
  }
  for (std::size_t i = 0; i < report.steps.size(); ++i) {
    const MeasuredStep& step = report.steps[i].measured;
    std::vector<std::string> cells{configuration(step),
                                   step.precision,
                                   std::to_string(step.batch),
                                   time_cell(step.step_s),
                                   share_cell(step.spread),
                                   time_cell(step.host_s),
                                   step.launches ? std::to_string(*step.launches) : "-"};
    for (const auto& [heading, scores] : predictions_of(report)) {
      const std::optional<double> predicted = scores->steps[i].predicted_s;
      cells.push_back(time_cell(predicted));
      cells.push_back(predicted ? error_cell(*predicted, step.step_s.value_or(0)) : "-");
    }
    out.table.rows.push_back(std::move(cells));
    if (const std::string& why = report.before->steps[i].why_not; !why.empty())
      out.items.push_back(fmt::format("{} has no prediction: {}.", report.steps[i].row.series, why));
  }
  return out;
}

/// Returns measured and predicted memory of each step in GB (10^9 bytes), with the error of the peak.
DocumentSection memory_section(const MachineReport& report) {
  DocumentSection out{"Memory"};
  if (!report.before) return out;
  out.sentences = {
      "Gigabytes, measured and predicted. The peak is what PyTorch's allocator held at most, without the "
      "CUDA "
      "context."};
  out.table.head = {"network",   "precision", "batch",     "parameters",     "predicted", "gradients",
                    "predicted", "optimizer", "predicted", "peak allocated", "predicted", "error"};
  const auto cell = [](const std::optional<double>& bytes) { return bytes ? gigabytes(*bytes) : "-"; };
  std::vector<double> errors;
  for (const ScoredMemory& scored : report.before->memory) {
    const MeasuredStep& step = report.steps[scored.step].measured;
    const MeasuredMemory& m = step.memory;
    const std::string error = m.allocated_peak ? error_cell(scored.peak, *m.allocated_peak) : "-";
    if (m.allocated_peak && *m.allocated_peak > 0) errors.push_back(scored.peak / *m.allocated_peak - 1);
    if (!m.allocated_peak && !m.parameters) continue;
    out.table.rows.push_back({configuration(step), step.precision, std::to_string(step.batch),
                              cell(m.parameters), gigabytes(scored.parameters), cell(m.gradients),
                              gigabytes(scored.gradients), cell(m.optimizer), gigabytes(scored.optimizer),
                              cell(m.allocated_peak), gigabytes(scored.peak), error});
  }
  if (out.table.rows.empty()) return {out.heading};
  const ErrorStatistics all = statistics_of(errors);
  if (!errors.empty())
    out.sentences.push_back(
        fmt::format("The peak is off by {} % in the median and {} % at the 90th percentile.",
                    percent(all.median, 1), percent(all.p90, 1)));
  return out;
}

// Seconds of one kind of kernel, summed over all traced steps. `known_s` counts the measured time of kernels
// that have a prediction; `worst` is the step with the largest difference.
struct KernelSum {
  double measured_s = 0, known_s = 0, before_s = 0, after_s = 0;
  std::string worst;
  double worst_s = 0;
};

/// Returns these sums by kind.
std::map<std::string, KernelSum> kernel_sums(const MachineReport& report) {
  std::map<std::string, KernelSum> sums;
  for (std::size_t i = 0; i < report.before->kernels.size(); ++i) {
    const ScoredKernels& row = report.before->kernels[i];
    KernelSum& sum = sums[row.kind];
    sum.measured_s += row.measured_s;
    if (!row.predicted_s) continue;
    sum.known_s += row.measured_s, sum.before_s += *row.predicted_s;
    if (report.after && i < report.after->kernels.size())
      sum.after_s += report.after->kernels[i].predicted_s.value_or(0);
    const double off = std::abs(*row.predicted_s - row.measured_s);
    if (off > sum.worst_s)
      sum.worst_s = off, sum.worst = fmt::format("{} {} batch {}", row.network, row.precision, row.batch);
  }
  return sums;
}

/// Returns the table of kernels by kind, those with the largest wrong time first.
DocumentSection kernel_section(const MachineReport& report) {
  DocumentSection out{"Which kernels are wrong"};
  if (!report.before || report.before->kernels.empty()) return out;
  out.sentences = {
      "Time of kernels by kind, summed over the traced steps; the kinds with the most wrong seconds stand "
      "first."};
  out.table.head = {"kind", "measured", "before", "error", "after all", "error", "most wrong in"};
  const auto sums = kernel_sums(report);
  std::vector<std::pair<std::string, KernelSum>> order(sums.begin(), sums.end());
  // The order is by absolute seconds, since they decide the error of the step.
  std::ranges::stable_sort(order, std::ranges::greater{}, [](const auto& entry) {
    return std::abs(entry.second.before_s - entry.second.known_s);
  });
  for (const auto& [kind, sum] : order) {
    const bool is_known = sum.known_s > 0;
    const bool has_after = is_known && report.after;
    out.table.rows.push_back(
        {kind, time_cell(sum.measured_s), is_known ? time_cell(sum.before_s) : "-",
         is_known ? error_cell(sum.before_s, sum.known_s) : "-", has_after ? time_cell(sum.after_s) : "-",
         has_after ? error_cell(sum.after_s, sum.known_s) : "-", sum.worst.empty() ? "-" : sum.worst});
  }
  return out;
}

/// Returns a constant in its unit.
std::string constant_cell(double value, const std::optional<Dimension>& dimension) {
  if (!(value > 0)) return "-";
  return dimension ? write_quantity(value, *dimension) : fmt::format("{:.3g}", value);
}

/// Returns each fitted constant beside the catalog's.
DocumentSection constant_section(const MachineReport& report) {
  DocumentSection out{"Constants"};
  if (!report.fit) return out;
  out.sentences = {
      "Each fitted constant beside the catalog's; the spread is the half width of its 90 % interval."};
  out.table.head = {"constant", "catalog", "fitted", "spread", "samples", "factor"};
  const std::vector<ConstantRange> known = calibratable_constants();
  const std::vector<CalibratedConstant>& constants = report.fit->calibration.constants;
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const CalibratedConstant& c = constants[i];
    const ConstantRange* range = find_constant(known, c.name);
    const std::optional<Dimension> dimension = range == nullptr ? std::nullopt : range->dimension;
    const double before = i < report.fit->defaults.size() ? report.fit->defaults[i] : 0;
    out.table.rows.push_back({c.name, constant_cell(before, dimension), constant_cell(c.value, dimension),
                              share_cell(std::expm1(kDeviationsOf90 * c.spread)), std::to_string(c.samples),
                              before > 0 ? fmt::format("{:.3g}", c.value / before) : "-"});
  }
  for (const std::string& refused : report.fit->refused) out.items.push_back(refused);
  return out;
}

/// Returns images per second of the data loader by number of workers.
DocumentSection loader_section(const MachineReport& report) {
  DocumentSection out{"Data loader"};
  out.table.head = {"workers", "images per s", "cores", "source"};
  for (const MeasuredLoader& loader : report.loaders)
    out.table.rows.push_back({std::to_string(loader.workers), decimal(loader.images_per_s, 0),
                              std::to_string(loader.cores), loader.source});
  return out;
}

/// Returns the configurations that were not measured, with the reasons.
DocumentSection failure_section(const MachineReport& report) {
  return {"What was not measured", {}, {}, report.left_out};
}

/// Returns the files that can be shared, and warnings about those that cannot.
DocumentSection share_section(const MachineReport& report) {
  DocumentSection out{"What to share"};
  if (!report.shared.empty())
    out.sentences.push_back(
        "These files name no person, host or folder. docs/tutorials/measure-a-machine.md says how to "
        "contribute them.");
  out.items = report.shared;
  out.items.insert(out.items.end(), report.not_shared.begin(), report.not_shared.end());
  return out;
}

}  // namespace

// The order of the sections is that of the report.
Document machine_document(const MachineReport& report) {
  Document out{"Measured by foretrain calibrate machine", {}};
  for (const auto section : {machine_section, error_section, step_section, kernel_section, memory_section,
                             constant_section, loader_section, failure_section, stage_section, share_section})
    out.sections.push_back(section(report));
  return out;
}

}  // namespace foretrain
