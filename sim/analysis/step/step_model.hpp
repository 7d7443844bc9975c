// The models of a training step behind one table: replicated ranks that each hold the whole network, a
// network that [parallel] cuts, and a layout of [parallel] that cuts nothing. Callers ask the table and never
// which of its rows answers.
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

/// Account::other of a step whose activations wait in host memory.
inline constexpr std::string_view kCopiesOfActivations =
    "copies of activations to the host, gradients and buffers";

/// What one model of a step answers. Functions of a StepSimulator are called by it, with what its own of the
/// same name require; all others take a scenario that this model answers for.
struct StepModel {
  std::string_view name;  ///< "replicated", "cut", "uncut"

  // One step on some GPUs.
  SimulatedStep (*simulate)(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                            const DeviceModel& device, Reading reading);
  double (*evaluate)(const StepSimulator& simulator, int gpus, std::int64_t batch_per_gpu,
                     const DeviceModel& device);
  StepRecording (*record)(const StepSimulator& simulator, int gpus, const DeviceModel& device,
                          RecordingSize size);
  std::string_view why_no_ranks;  ///< why record() has no steps of single ranks; empty: it has
  std::int64_t (*batch_per_gpu)(const StepSimulator& simulator, int gpus);
  StepLimit (*lower_limit)(const StepSimulator& simulator, int gpus, const DeviceModel& device);
  bool has_smaller_last_step;  ///< the last step of an epoch trains what samples are left

  // Memory.
  /// Memory, capacity and largest batch of the point (add_memory(), memory_verdict.hpp).
  void (*add_memory)(PredictionPoint& point, const Scenario& scenario, const StrategyMemory& strategy);
  /// For a point that does not fit.
  std::string (*memory_advice)(const PredictionPoint& point, const Scenario& scenario,
                               const StrategyMemory& strategy);

  // Numbers of GPUs.
  /// Why the training as it stands does not run on so many; empty when it does.
  std::string (*why_not)(const Scenario& scenario, int gpus);
  /// Whether an answer, as the fastest number, may name so many.
  bool (*may_be_answer)(const Scenario& scenario, int gpus);

  // Words.
  std::string (*label)(const Scenario& scenario);           ///< what a prediction's "strategy" says
  std::string_view (*framework)(const Scenario& scenario);  ///< that runs the step
  std::string_view baseline;                                ///< what speedups of compare count from
  bool is_strategy;  ///< batch, precision and how a batch is shared are keys of [model], not of a layout
  /// What Account::other is in a step; of one whose activations wait in host memory kCopiesOfActivations.
  std::string_view other_account;

  // How sure.
  /// Published and own measured runs are of this model: evidence corrects it, and a prediction says where it
  /// goes beyond them.
  bool has_measured_runs;
  bool is_layout;  ///< [parallel] describes the step, whose interval is fitted to whole steps of layouts

  // Questions about several steps.
  /// What compare holds against `own` (read_compared(), compare.hpp).
  ComparedScenarios (*read_compared)(const SourceText& source, const ScenarioOverrides& overrides,
                                     const std::vector<std::string>& strategies, Scenario own,
                                     OpenedCatalogs& opened);
  /// Strategies that a recommendation weighs beside the scenario's own.
  std::vector<std::string> (*weighed_beside)(const Scenario& own);
  Recommendation (*recommend)(const ComparedScenarios& scenarios, const RecommendationRequest& request,
                              const std::function<void(double)>& progress, const EvidenceUse& evidence);
};

/// The model that answers for the scenario: the only place that chooses.
const StepModel& step_model_of(const Scenario& scenario);

/// All, for tests and lists.
std::span<const StepModel> step_models();

}  // namespace foretrain
