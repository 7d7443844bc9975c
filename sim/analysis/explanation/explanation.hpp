// What a finished job tells, beside what was predicted of it: figures side by side, what they rule out, and
// what the next job should ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/prediction.hpp"
#include "sim/import/accounting/finished_job.hpp"

namespace foretrain {

/// What a sentence rests on.
enum class Evidence : std::uint8_t { measured, compared, predicted };
std::string_view name_of(Evidence evidence);

/// The unit of a compared figure; it decides how the figure is printed.
enum class FigureUnit : std::uint8_t { seconds, share, bytes, count };

/// One figure measured and predicted; either may be unknown.
struct ComparedFigure {
  std::string key;   ///< of the JSON
  std::string what;  ///< for people
  FigureUnit unit = FigureUnit::count;
  std::optional<double> measured, predicted;
  std::optional<double> low, high;  ///< of the prediction, 90 %
  std::string read_at;              ///< of what was measured; empty: nowhere, or computed from others
};

/// Where the predicted run's time goes: what each cause of a step adds when causes are removed one after
/// another, where the prediction has them. The parts sum to the run.
struct PartOfRun {
  std::string_view key, what;
  double seconds = 0;
  double share = 0;
  bool gpu_works = false;  ///< a kernel or a collective runs then
};

/// One finding about a finished job, as a sentence with the evidence that it rests on.
struct ExplainedFinding {
  std::string key;  ///< one word, the same for the same finding
  std::string text;
  Evidence evidence = Evidence::measured;
};

/// An option of the next job's request.
struct NextRequest {
  std::string option;
  std::string why;
  Evidence evidence = Evidence::measured;
};

/// A finished job beside its prediction: compared figures, findings and what to request next time.
struct JobExplanation {
  FinishedJob job;
  std::string scenario, model, cluster, strategy;  ///< empty: nothing was predicted
  std::vector<ComparedFigure> figures;
  std::vector<PartOfRun> parts;
  std::optional<Answer> answer{};  ///< of the prediction
  std::vector<ExplainedFinding> findings;
  std::vector<NextRequest> next;
  std::vector<std::string> not_known;  ///< what the files do not say, and what would
  std::vector<std::string> warnings;   ///< of the prediction
};

/// A prediction of the same training on as many GPUs.
struct PredictedRun {
  const Prediction& prediction;
  const PredictionPoint& point;
  int cores_per_gpu = 0;  ///< of the cluster's nodes; 0: not known
  std::string gpu_type;   ///< as the batch system calls it, and the GPU's own name
  bool knows_length() const { return prediction.samples > 0; }
};

/// Rules: docs/models/explain.md.
JobExplanation explain_job(const FinishedJob& job, const PredictedRun* run = nullptr);

// The parts, in the order of the report.

/// The share of the predicted run in which kernels or collectives are on the GPU: what nvidia-smi calls
/// utilisation.
double predicted_busy_share(const PredictedRun& run);
std::vector<PartOfRun> parts_of_run(const PredictedRun& run);
std::vector<ComparedFigure> compared_figures(const FinishedJob& job, const PredictedRun* run);
std::vector<ExplainedFinding> findings_of(const FinishedJob& job, const PredictedRun* run);
std::vector<NextRequest> next_requests(const FinishedJob& job, const PredictedRun* run);

/// Whether the job did what it was for, so that its time is that of its work.
bool did_its_work(const FinishedJob& job);
/// Whether its GPUs were of another type than predicted, as far as both are told.
bool is_other_gpu(const FinishedJob& job, const PredictedRun& run);
/// GPUs that did nothing while others worked, or all of them.
std::vector<MeasuredGpu> idle_gpus(const FinishedJob& job);
/// Whether GPUs waited for something else than kernels and collectives.
bool gpus_waited(const FinishedJob& job, const PredictedRun* run);
/// How many cores were busy on average.
std::optional<double> busy_cores(const FinishedJob& job);

/// Shares between which the readings of docs/models/explain.md lie.
inline constexpr double kIdleShare = 0.01;      ///< a GPU below it did nothing
inline constexpr double kClearGap = 0.15;       ///< between measured and predicted utilisation
inline constexpr double kLowUtilization = 0.5;  ///< where nothing is predicted
inline constexpr double kBusyCpus = 0.85;       ///< from here on no core was free for long
inline constexpr double kOneCorePerGpu = 1.3;   ///< cores per GPU: the training process and little else
inline constexpr double kFullMemory = 0.9;      ///< of what was asked for
inline constexpr double kSpareMemory = 0.5;

}  // namespace foretrain
