// The models of a training step behind one table of functions: replicated ranks that each hold the whole
// network, a network that [parallel] cuts, a layout of [parallel] that cuts nothing, and a recorded program.
//
// All commands go through this table: a StepSimulator calls its row for steps, and searches, reports and
// recommendations call it for words and limits. Callers never ask which row answers. A new model of a step is
// one more row, and no caller changes. The table is built once and never modified, so it may be read from
// several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

class StepSimulator;
enum class Reading : std::uint8_t;
struct ComparedScenarios;
struct DeviceModel;
struct EvidenceUse;
struct OpenedCatalogs;
struct PredictionPoint;
struct Recommendation;
struct RecommendationRequest;
struct StepRecording;
struct RecordingSize;
struct Scenario;
struct ScenarioOverrides;
struct SimulatedStep;
struct SourceText;
struct StepLimit;
struct StrategyMemory;

/// The meaning of Account::other in a step whose activations wait in host memory.
inline constexpr std::string_view kCopiesOfActivations =
    "copies of activations to the host, gradients and buffers";

/// The operations of one model of a step. Functions that take a StepSimulator are called by its functions of
/// the same name, and have their requirements. All others take a scenario that this model answers for. No
/// function pointer is null.
struct StepModel {
  /// Name of the row: "replicated", "cut", "uncut" or "program".
  std::string_view name;

  // Steps on one number of GPUs.
  /// Simulates the mean step in the steady state.
  SimulatedStep (*simulate)(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                            const DeviceModel& device, Reading reading);
  /// Returns seconds of a rank for one batch of a validation pass.
  double (*evaluate)(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                     const DeviceModel& device);
  /// Records single steps for traces.
  StepRecording (*record)(const StepSimulator& simulator, int gpus, const DeviceModel& device,
                          RecordingSize size);
  /// The reason why record() returns no steps of single ranks; empty if it does.
  std::string_view why_no_ranks;
  /// Returns the samples of one GPU and micro-step.
  std::int64_t (*batch_per_gpu)(const StepSimulator& simulator, int gpus);
  /// Returns lower bounds of a step (lower_limit.hpp); zero if the model knows none.
  StepLimit (*lower_limit)(const StepSimulator& simulator, int gpus, const DeviceModel& device);
  /// True if the last step of an epoch trains the remaining samples, as a smaller step.
  bool has_smaller_last_step;

  // Memory.
  /// Fills memory, capacity and largest batch of the point (add_memory(), memory_verdict.hpp).
  void (*add_memory)(PredictionPoint& point, const Scenario& scenario, const StrategyMemory& strategy);
  /// Returns a remedy for a point that does not fit.
  std::string (*memory_advice)(const PredictionPoint& point, const Scenario& scenario,
                               const StrategyMemory& strategy);

  // Numbers of GPUs.
  /// Returns the reason why the training as it stands does not run on these GPUs; empty if it does.
  std::string (*why_not)(const Scenario& scenario, int gpus);
  /// Returns true if an answer, such as the fastest number, may name this number of GPUs.
  bool (*may_be_answer)(const Scenario& scenario, int gpus);

  // Words.
  /// Returns the text of a prediction's "strategy".
  std::string (*label)(const Scenario& scenario);
  /// Returns the name of the framework that runs the step.
  std::string_view (*framework)(const Scenario& scenario);
  /// The baseline that speedups of compare count from, in words.
  std::string_view baseline;
  /// True if batch, precision and the sharing of a batch are keys of [model], not of a layout.
  bool is_strategy;
  /// The meaning of Account::other in a step; kCopiesOfActivations where activations wait in host memory.
  std::string_view other_account;

  // Confidence.
  /// True if there are published and own measured runs of this model: evidence corrects it, and a prediction
  /// states where it goes beyond them.
  bool has_measured_runs;
  /// True if [parallel] describes the step, whose interval is fitted to whole steps of layouts.
  bool is_layout;

  // Questions about several steps.
  /// Reads the scenarios that compare sets against `own` (read_compared(), compare.hpp).
  ComparedScenarios (*read_compared)(const SourceText& source, const ScenarioOverrides& overrides,
                                     const std::vector<std::string>& strategies, Scenario own,
                                     OpenedCatalogs& opened);
  /// Returns the strategies that a recommendation considers besides the scenario's own.
  std::vector<std::string> (*weighed_beside)(const Scenario& own);
  /// Searches for the best number of GPUs and layout; `progress` receives the finished share from 0 to 1.
  Recommendation (*recommend)(const ComparedScenarios& scenarios, const RecommendationRequest& request,
                              const std::function<void(double)>& progress, const EvidenceUse& evidence);
};

/// Returns the model that answers for the scenario: the only place that chooses. Valid for the whole program.
const StepModel& step_model_of(const Scenario& scenario);

/// Returns all models, for tests and lists.
std::span<const StepModel> step_models();

}  // namespace foretrain
