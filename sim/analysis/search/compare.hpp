// The comparison of strategies: one training with each of them on each number of GPUs, best first, and the
// time that the others spend more.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/answer/answer.hpp"
#include "sim/analysis/evidence/applied_evidence.hpp"
#include "sim/analysis/predict.hpp"
#include "sim/analysis/prediction.hpp"
#include "sim/analysis/step/step_parts.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// The standing of a strategy on some GPUs, in the order of the report.
enum class Standing : std::uint8_t {
  /// Within 2 % of the fastest: no reason to switch.
  as_fast,
  /// Slower by less than the predictions can resolve.
  not_told_apart,
  slower,
  /// Needs more than a script of the scenario's framework has.
  needs_more,
  does_not_fit,
  cannot_run
};
/// Returns the word of JSON and CSV: "as_fast", "not_told_apart" and so on.
std::string_view name_of(Standing standing);

/// The row of a strategy on one number of GPUs.
struct ComparedStrategy {
  std::string strategy;
  /// The reason why it cannot run on these GPUs; all other fields but `needs` are then empty.
  std::string why_not;
  /// The prediction; speedup and efficiency refer to the plain loop on one GPU.
  PredictionPoint point;
  /// Parts of its step by kind of work.
  std::vector<StepPart> parts;
  /// GPUs or samples that launch or sampler waste (sim/scenario/job.hpp), followed by "; " if not empty.
  std::string job_losses{};
  /// Difference to the fastest by cause: seconds that its causes add when removed in turn, minus those of the
  /// fastest. Largest first; they sum to the difference of the steps. Empty for the fastest itself.
  std::vector<StepPart> against_best{};
  /// Requirements beyond a script of the scenario's framework; empty if there are none.
  std::string needs{};
  Standing standing = Standing::as_fast;
  /// Its samples per second over those of the fastest.
  double ratio = 1;
  /// Interval of the ratio at 90 %, from draws that both share (speed_ratio.hpp).
  Range ratio_range{1, 1};
  /// The step as simulated, before any correction by measured runs.
  double raw_step_s = 0;
};

/// The strategies on one number of GPUs, ordered by standing. Those within 2 % come simplest first (the
/// scenario's own, then ddp), others fastest first, and those that cannot run in the catalog's order.
struct ComparedGpus {
  int gpus = 1, nodes = 1;
  std::vector<ComparedStrategy> strategies;
  /// The fastest of those that fit and need nothing more, if there are any; empty if no strategy runs.
  std::string fastest;
  /// The verdict; set by compare().
  Answer answer{};
  /// Returns the row of the fastest; nullptr when none runs.
  const ComparedStrategy* best() const;
  /// Returns the first row, which is the recommended one; nullptr when none runs.
  const ComparedStrategy* first() const;
};

/// The same workload under several strategies, with the reasons for their differences.
struct Comparison {
  std::string scenario, model, cluster, precision, own_strategy;
  /// The model with its fine-tuning method (named_with).
  std::string training;
  bool strong_scaling = false;
  /// Under strong scaling, the global batch that was asked for.
  std::int64_t global_batch = 0;
  /// Samples of the data set; 0 if unknown, and an epoch is then one step.
  std::int64_t samples = 0;
  double epochs = 1;
  /// Step of the baseline on one GPU: strategy `single`, or one GPU's share with [parallel].
  double one_gpu_step_s = 0;
  /// The baseline of speedups in words (StepModel::baseline).
  std::string baseline;
  /// Names of all strategies, in the catalog's order.
  std::vector<std::string> strategies;
  std::vector<ComparedGpus> numbers;
  /// Measured runs; one correction, that of the scenario's own strategy, applies to all.
  std::optional<AppliedEvidence> evidence{};
  Decisions decisions;
  std::vector<std::string> warnings;
  std::string note;
};

/// The name of a compared layout of [parallel], or the reason why its values do not go together.
struct ComparedName {
  std::string name, why_not;
};

/// A scenario as it stands, and once for each strategy. Each copy has the options that its strategy knows;
/// one of another framework has that framework's defaults.
struct ComparedScenarios {
  Scenario own;
  std::vector<Scenario> strategies;
  /// Names of layouts of [parallel], by index of `strategies`; empty where strategies have names of their
  /// own.
  std::vector<ComparedName> names{};
  /// Name of the scenario's own layout, likewise.
  std::string own_name{};
};

/// Reads what the scenario's model of a step (sim/analysis/step/step_model.hpp) can be compared with. For a
/// `source` without text, model and cluster come from `overrides`. Throws InputError for mistakes in the
/// scenario.
ComparedScenarios read_compared(const SourceText& source, const ScenarioOverrides& overrides,
                                const std::vector<std::string>& strategies);

/// Reads the strategies of replicated ranks. An empty list of `strategies` stands for the usual ones of the
/// scenario's framework, and its own.
ComparedScenarios read_compared_strategies(const SourceText& source, const ScenarioOverrides& overrides,
                                           const std::vector<std::string>& strategies, Scenario own,
                                           OpenedCatalogs& opened);

/// Reads the layouts of a scenario with [parallel]: the combinations of its [study], or without one its
/// degrees with each kind of sharding. Of `strategies`, ddp, zero0 to zero3, fsdp and fsdp2 have an
/// equivalent there. Throws InputError for others.
ComparedScenarios read_compared_layouts(const SourceText& source, const ScenarioOverrides& overrides,
                                        const std::vector<std::string>& strategies, Scenario own,
                                        OpenedCatalogs& opened);  // compared_layouts.cpp

/// Compares all strategies on all listed numbers of GPUs. A measurement calibrates the scenario's own
/// strategy, and the calibrated model serves all. Evidence, too, corrects all strategies by the correction of
/// the scenario's own, so that no ranking depends on measured runs of a single strategy. Throws InputError
/// when no strategy runs anywhere.
Comparison compare(const ComparedScenarios& scenarios, const Progress& progress = nullptr,
                   const EvidenceUse& evidence = {});

/// Returns the catalog's names for the names on the command line, in the catalog's order; "all" stands for
/// the whole catalog. Throws InputError for unknown and repeated names.
std::vector<std::string> strategies_named(const std::vector<std::string>& names);
/// Returns the strategies that a script of the framework can use as it is.
std::vector<std::string> usual_strategies(FrameworkKind framework);

}  // namespace foretrain
