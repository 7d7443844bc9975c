// A finished job beside its prediction: compared figures, what they rule out, and what the next job should
// request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/prediction.hpp"
#include "sim/import/accounting/finished_job.hpp"

namespace foretrain {

/// The basis of a sentence: a measurement, a comparison with the prediction, or the prediction alone.
enum class Evidence : std::uint8_t { measured, compared, predicted };
/// Returns "measured", "compared" or "predicted".
std::string_view name_of(Evidence evidence);

/// The unit of a compared figure; it decides how the figure is printed.
enum class FigureUnit : std::uint8_t { seconds, share, bytes, count };

/// A figure as measured and as predicted; either may be unknown.
struct ComparedFigure {
  /// Key in the JSON.
  std::string key;
  /// Name for readers.
  std::string what;
  FigureUnit unit = FigureUnit::count;
  std::optional<double> measured, predicted;
  /// Interval of the prediction at 90 %.
  std::optional<double> low, high;
  /// Place in the files where the measured value was read; empty if it is unknown or computed from others.
  std::string read_at;
};

/// A part of the predicted run's time: the time that a cause adds when causes are removed one after another,
/// where the prediction has causes. The parts sum to the run.
struct PartOfRun {
  std::string_view key, what;
  double seconds = 0;
  double share = 0;
  /// True if a kernel or a collective runs in this time.
  bool gpu_works = false;
};

/// A finding about a finished job, as a sentence with the evidence that it rests on.
struct ExplainedFinding {
  /// Key of one word, the same for the same finding.
  std::string key;
  std::string text;
  Evidence evidence = Evidence::measured;
};

/// An option of the next job's request, with its reason.
struct NextRequest {
  std::string option;
  std::string why;
  Evidence evidence = Evidence::measured;
};

/// A finished job beside its prediction: compared figures, findings and the next request.
struct JobExplanation {
  FinishedJob job;
  /// Names of the prediction; empty if nothing was predicted.
  std::string scenario, model, cluster, strategy;
  std::vector<ComparedFigure> figures;
  std::vector<PartOfRun> parts;
  /// Answer of the prediction.
  std::optional<Answer> answer{};
  std::vector<ExplainedFinding> findings;
  std::vector<NextRequest> next;
  /// Facts that the files do not state, and tools that would state them.
  std::vector<std::string> not_known;
  /// Warnings of the prediction.
  std::vector<std::string> warnings;
};

/// A prediction of the same training on as many GPUs; it refers to the caller's objects.
struct PredictedRun {
  const Prediction& prediction;
  const PredictionPoint& point;
  /// Cores for each GPU of the cluster's nodes; 0 if unknown.
  int cores_per_gpu = 0;
  /// Name of the GPU in the batch system and in the catalog.
  std::string gpu_type;
  /// Returns true if the length of the run is known.
  bool knows_length() const { return prediction.samples > 0; }
};

/// Explains a finished job by the rules of docs/models/imports.md. `run` is null where nothing was predicted.
JobExplanation explain_job(const FinishedJob& job, const PredictedRun* run = nullptr);

// The parts, in the order of the report.

/// Returns the share of the predicted run in which kernels or collectives are on the GPU, which nvidia-smi
/// calls utilisation.
double predicted_busy_share(const PredictedRun& run);
/// Returns the parts of the predicted run, with their shares.
std::vector<PartOfRun> parts_of_run(const PredictedRun& run);
/// Returns the figures side by side.
std::vector<ComparedFigure> compared_figures(const FinishedJob& job, const PredictedRun* run);
/// Returns the findings, in the order of the report.
std::vector<ExplainedFinding> findings_of(const FinishedJob& job, const PredictedRun* run);
/// Returns what the next job should request; empty for a job that has not begun.
std::vector<NextRequest> next_requests(const FinishedJob& job, const PredictedRun* run);

/// Returns true if the job did its work, so that its time is that of its work.
bool did_its_work(const FinishedJob& job);
/// Returns true if its GPUs were of another type than predicted, as far as both types are known.
bool is_other_gpu(const FinishedJob& job, const PredictedRun& run);
/// Returns the measured GPUs that did nothing.
std::vector<MeasuredGpu> idle_gpus(const FinishedJob& job);
/// Returns true if GPUs waited for something other than kernels and collectives.
bool gpus_waited(const FinishedJob& job, const PredictedRun* run);
/// Returns how many cores were busy on average; absent where the files do not tell.
std::optional<double> busy_cores(const FinishedJob& job);

// Thresholds of docs/models/imports.md, as shares unless stated otherwise.
/// A GPU with less utilization did nothing.
inline constexpr double kIdleShare = 0.01;
/// Smallest difference between measured and predicted utilization that counts.
inline constexpr double kClearGap = 0.15;
/// Utilization below which GPUs waited, where nothing is predicted.
inline constexpr double kLowUtilization = 0.5;
/// CPU efficiency from which no core was free for long.
inline constexpr double kBusyCpus = 0.85;
/// Cores for each GPU up to which the training process used little besides itself.
inline constexpr double kOneCorePerGpu = 1.3;
/// Share of the requested memory above which it was nearly full.
inline constexpr double kFullMemory = 0.9;
/// Share of memory below which there was memory to spare.
inline constexpr double kSpareMemory = 0.5;

}  // namespace foretrain
