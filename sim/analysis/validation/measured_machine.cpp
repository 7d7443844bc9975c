// Step times come from `validate`; memory and kernels come from the summary of the same scenario.
#include "sim/analysis/validation/measured_machine.hpp"

#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "sim/analysis/step/model_summary.hpp"
#include "sim/analysis/validation/group_validator.hpp"
#include "sim/scenario/opened_catalogs.hpp"

namespace foretrain {

namespace {

/// Share of the progress that step times take; summaries take the rest.
constexpr double kShareOfSteps = 0.7;

MeasurementFile file_of(const std::vector<MachineStep>& steps) {
  MeasurementFile file;
  for (const MachineStep& step : steps) file.scaling.push_back(step.row);
  return file;
}

/// Returns the predicted time of every step, or the reason why there is none. Series are unique, so they
/// identify the rows.
std::vector<ScoredStep> scored_steps(const std::vector<MachineStep>& steps,
                                     const std::function<ClusterSpec(ClusterSpec)>& change,
                                     const Progress& progress) {
  ValidationOptions options;
  options.anchor = false, options.intervals = false, options.change = change;
  const Validation validation = validate(file_of(steps), options, progress);
  std::map<std::string, double> predicted;
  for (const ValidatedSeries& series : validation.series)
    for (const ValidatedPoint& point : series.points) predicted[series.series] = point.predicted;
  std::map<int, std::string> why;
  for (const SkippedRow& skipped : validation.skipped) why[skipped.row] = skipped.why;
  std::vector<ScoredStep> out;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto found = predicted.find(steps[i].row.series);
    if (found != predicted.end())
      out.push_back({i, found->second});
    else
      out.push_back({i, std::nullopt, why[steps[i].row.line]});
  }
  return out;
}

/// A traced step by network, precision, batch and whether it was compiled.
using TracedKey = std::tuple<std::string, std::string, std::int64_t, bool>;

/// Kinds of kernels by the names of measurements, and the classes of operators that they belong to.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kKindsOfKernels{
    {{"convolution", "conv"},
     {"depthwise_conv", "conv"},
     {"matrix_product", "gemm"},
     {"pointwise", "elementwise"},
     {"softmax_and_loss", "reduction"}}};

std::string usual_kind(std::string_view kind) {
  for (const auto& [other, usual] : kKindsOfKernels)
    if (kind == other) return std::string(usual);
  return std::string(kind);
}

/// Returns the measured seconds by kind, for each step that was traced.
std::map<TracedKey, std::map<std::string, double>> sums_of(const std::vector<MeasuredKernel>& kernels) {
  std::map<TracedKey, std::map<std::string, double>> sums;
  for (const MeasuredKernel& kernel : kernels)
    sums[{kernel.network, kernel.precision, kernel.batch, kernel.compiled}][usual_kind(kernel.kind)] +=
        kernel.seconds;
  return sums;
}

/// Returns the predicted memory of one step as the allocator counts it.
ScoredMemory memory_of_step(std::size_t step, const MemoryUse& use) {
  const auto bytes = [](Bytes part) { return static_cast<double>(part.count); };
  return {step, bytes(use.parameters), bytes(use.gradients), bytes(use.optimizer),
          bytes(use.least()) - bytes(use.framework)};
}

/// Adds measured kinds of kernels with their prediction, if the summary has that kind.
void add_kernels(const MeasuredStep& step, const std::map<std::string, double>& measured,
                 const KernelTimes& times, std::vector<ScoredKernels>& out) {
  std::map<std::string, double> predicted;
  for (const ClassTime& kind : times.classes)
    predicted[kind.kind ? usual_kind(name_of(*kind.kind)) : "optimizer"] += to_seconds(kind.time);
  for (const auto& [kind, seconds] : measured) {
    const auto found = predicted.find(kind);
    out.push_back({step.network, step.precision, kind, step.batch, seconds,
                   found == predicted.end() ? std::nullopt : std::optional(found->second)});
  }
}

}  // namespace

/// A trace is used for one step only: a step of the same network with another optimizer has the same kernels.
MachineScores score_machine(const std::vector<MachineStep>& steps, const std::vector<MeasuredKernel>& kernels,
                            const std::function<ClusterSpec(ClusterSpec)>& change, const Progress& progress) {
  const auto part = [&progress](double begin, double share) -> Progress {
    if (!progress) return nullptr;
    return [&progress, begin, share](double done) { progress(begin + share * done); };
  };
  MachineScores out;
  out.steps = scored_steps(steps, change, part(0, kShareOfSteps));
  auto sums = sums_of(kernels);
  OpenedCatalogs opened;
  const Progress later = part(kShareOfSteps, 1 - kShareOfSteps);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (later) later(static_cast<double>(i) / static_cast<double>(steps.size()));
    const MeasuredStep& step = steps[i].measured;
    const auto traced = sums.find({step.network, step.precision, step.batch, step.compiled});
    // A step that cannot be simulated has no summary either.
    if (!out.steps[i].predicted_s) continue;
    Scenario scenario = make_scenario(overrides_for({&steps[i].row}, {}), opened);
    if (change) scenario.cluster = change(std::move(scenario.cluster));
    const ModelSummary summary = summarize_model(scenario, traced != sums.end());
    out.memory.push_back(memory_of_step(i, summary.totals.memory));
    if (traced == sums.end() || !summary.times) continue;
    add_kernels(step, traced->second, *summary.times, out.kernels);
    sums.erase(traced);
  }
  return out;
}

std::optional<NeededMemory> memory_needed(const Measurement& row) {
  try {
    const Scenario scenario = make_scenario(overrides_for({&row}, {}));
    const MemoryUse use = summarize_model(scenario, false).totals.memory;
    return NeededMemory{static_cast<double>(use.least().count),
                        static_cast<double>(scenario.cluster.node.gpu.capacity().count)};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

ErrorStatistics step_errors(const std::vector<MachineStep>& steps, const MachineScores& scores,
                            const std::function<bool(const MachineStep&)>& counts) {
  std::vector<double> errors;
  for (const ScoredStep& scored : scores.steps) {
    const MachineStep& step = steps[scored.step];
    if (scored.predicted_s && step.measured.step_s && counts(step))
      errors.push_back(*scored.predicted_s / *step.measured.step_s - 1);
  }
  return statistics_of(std::move(errors));
}

}  // namespace foretrain
