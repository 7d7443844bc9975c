// The same training with several strategies: each on each number of GPUs, best first, and what the others
// spend more.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/predict.hpp"
#include "sim/analysis/prediction.hpp"
#include "sim/analysis/step/step_parts.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// One strategy on one number of GPUs.
struct ComparedStrategy {
  std::string strategy;
  std::string why_not;          ///< why it cannot run on these GPUs; the rest is then empty
  PredictionPoint point;        ///< speedup and efficiency refer to the plain loop on one GPU
  std::vector<StepPart> parts;  ///< of its step
  std::string job_losses{};     ///< what launch or sampler waste (sim/scenario/job.hpp), with "; " behind it
  std::vector<StepPart>
      against_best{};  ///< its parts minus those of the best, largest first; empty for the best itself
};

/// Those that fit into memory come first, then the fastest; those that cannot run are last, in the catalog's
/// order.
struct ComparedGpus {
  int gpus = 1, nodes = 1;
  std::vector<ComparedStrategy> strategies;
  /// The first that runs; nullptr when none does.
  const ComparedStrategy* best() const;
};

struct Comparison {
  std::string scenario, model, cluster, precision, own_strategy;
  bool strong_scaling = false;
  std::int64_t samples = 0;  ///< of the data set; 0 = unknown, then an epoch is one step
  double epochs = 1;
  double one_gpu_step_s = 0;            ///< of the plain loop, strategy `single`
  std::vector<std::string> strategies;  ///< in the catalog's order
  std::vector<ComparedGpus> numbers;
  Decisions decisions;
  std::vector<std::string> warnings;
  std::string note;
};

/// A scenario as it stands, and once for each strategy: the options that one has, its own framework's
/// defaults when that is another.
struct ComparedScenarios {
  Scenario own;
  std::vector<Scenario> strategies;
};

/// `source` without text: model and cluster come from `overrides`. Its strategy is ignored. Throws
/// InputError.
ComparedScenarios read_compared(const SourceText& source, const ScenarioOverrides& overrides,
                                const std::vector<std::string>& strategies);

/// An anchor is fitted to the scenario's own strategy, and the model scaled by it serves all. Throws
/// InputError when no strategy runs anywhere.
Comparison compare(const ComparedScenarios& scenarios, const Progress& progress = nullptr);

/// Names as on the command line, in the catalog's order; none given: all of the catalog. Throws InputError
/// for unknown and repeated ones.
std::vector<std::string> strategies_named(const std::vector<std::string>& names);
/// Those of the catalog that run in one framework.
std::vector<std::string> strategies_of(FrameworkKind framework);

}  // namespace foretrain
