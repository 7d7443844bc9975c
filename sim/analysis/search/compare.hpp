// The same training with several strategies: each on each number of GPUs, best first, and what the others
// spend more.
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

/// Where a strategy stands on some GPUs, in the order of the report.
enum class Standing : std::uint8_t {
  as_fast,         ///< within 2 % of the fastest: no reason to switch
  not_told_apart,  ///< slower by less than the predictions can tell
  slower,
  needs_more,  ///< more than a script of the scenario's framework has
  does_not_fit,
  cannot_run
};
/// "as_fast", ...: the words of JSON and CSV.
std::string_view name_of(Standing standing);

/// One strategy on one number of GPUs.
struct ComparedStrategy {
  std::string strategy;
  std::string why_not;          ///< why it cannot run on these GPUs; the rest is then empty
  PredictionPoint point;        ///< speedup and efficiency refer to the plain loop on one GPU
  std::vector<StepPart> parts;  ///< of its step
  std::string job_losses{};     ///< what launch or sampler waste (sim/scenario/job.hpp), with "; " behind it
  /// What its causes add when they are removed in turn, minus what those of the fastest do; largest first,
  /// they sum to the difference; empty for the fastest itself
  std::vector<StepPart> against_best{};
  std::string needs{};  ///< what it takes besides a script of the scenario's framework; empty: nothing
  Standing standing = Standing::as_fast;
  double ratio = 1;         ///< its samples per second over those of the fastest
  Range ratio_range{1, 1};  ///< 90 %, from draws that both share (speed_ratio.hpp)
  double raw_step_s = 0;    ///< as simulated, whatever measured runs made of the point
};

/// By standing; those within 2 % simplest first (the scenario's own, then ddp), the others fastest first,
/// those that cannot run in the catalog's order.
struct ComparedGpus {
  int gpus = 1, nodes = 1;
  std::vector<ComparedStrategy> strategies;
  /// Of those that fit and need nothing more, as far as there are any; empty: none runs.
  std::string fastest;
  Answer answer{};  ///< set by Comparer (compare_answer.hpp)
  /// The row of the fastest; nullptr when none runs.
  const ComparedStrategy* best() const;
  /// The first row, which a person should use; nullptr when none runs.
  const ComparedStrategy* first() const;
};

/// One workload under several strategies, fastest first, with the reasons for the differences.
struct Comparison {
  std::string scenario, model, cluster, precision, own_strategy;
  std::string training;  ///< `model`, and how it is fine-tuned (named_with)
  bool strong_scaling = false;
  std::int64_t global_batch = 0;  ///< with strong scaling that which was asked for
  std::int64_t samples = 0;       ///< of the data set; 0 = unknown, then an epoch is one step
  double epochs = 1;
  double one_gpu_step_s = 0;  ///< of the plain loop, strategy `single`; of [parallel] that GPU's share
  std::string baseline;       ///< of speedups (StepModel::baseline)
  std::vector<std::string> strategies;  ///< in the catalog's order
  std::vector<ComparedGpus> numbers;
  /// One correction of all strategies, as the scenario's own has it.
  std::optional<AppliedEvidence> evidence{};
  Decisions decisions;
  std::vector<std::string> warnings;
  std::string note;
};

/// A layout of [parallel] that is compared; `why_not`: it is none, and why.
struct ComparedName {
  std::string name, why_not;
};

/// A scenario as it stands, and once for each strategy: the options that one has, its own framework's
/// defaults when that is another.
struct ComparedScenarios {
  Scenario own;
  std::vector<Scenario> strategies;
  std::vector<ComparedName> names{};  ///< of [parallel], beside each; empty: strategies have their own
  std::string own_name{};             ///< likewise, of the scenario as it stands
};

/// What the scenario's model of a step (sim/analysis/step/step_model.hpp) can hold against it. `source`
/// without text: model and cluster come from `overrides`. Throws InputError.
ComparedScenarios read_compared(const SourceText& source, const ScenarioOverrides& overrides,
                                const std::vector<std::string>& strategies);

/// Of replicated ranks: the scenario's strategy is only one of those compared; no `strategies`: the usual
/// ones of its framework, and its own.
ComparedScenarios read_compared_strategies(const SourceText& source, const ScenarioOverrides& overrides,
                                           const std::vector<std::string>& strategies, Scenario own,
                                           OpenedCatalogs& opened);

/// Of a scenario with [parallel]: the combinations of its [study], or without one what its
/// data-parallel ranks share out. Of `strategies` ddp, zero1 to zero3 and fsdp have their like there. Throws
/// InputError for others.
ComparedScenarios read_compared_layouts(const SourceText& source, const ScenarioOverrides& overrides,
                                        const std::vector<std::string>& strategies, Scenario own,
                                        OpenedCatalogs& opened);  // compared_layouts.cpp

/// An anchor is fitted to the scenario's own strategy, and the model scaled by it serves all. Throws
/// InputError when no strategy runs anywhere. Evidence corrects all strategies by what it says of the
/// scenario's own: no ranking turns on a neighbour of one of them.
Comparison compare(const ComparedScenarios& scenarios, const Progress& progress = nullptr,
                   const EvidenceUse& evidence = {});

/// Names as on the command line, in the catalog's order; "all": the whole catalog. Throws InputError for
/// unknown and repeated ones.
std::vector<std::string> strategies_named(const std::vector<std::string>& names);
/// Those of the catalog that a script of the framework can use as it is.
std::vector<std::string> usual_strategies(FrameworkKind framework);

}  // namespace foretrain
