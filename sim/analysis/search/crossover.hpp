// Where adding GPUs stops paying: the answers about a throughput curve, found with few evaluations of it.
#pragma once

#include <functional>
#include <map>

#include "sim/analysis/prediction.hpp"

namespace foretrain {

/// What the search needs to know of one number of GPUs.
struct Throughput {
  double samples_per_s = 0;
  Breakdown breakdown{};
  double step_s = 0;
};

/// Gives the throughput on N GPUs; may be expensive.
using ThroughputFunction = std::function<Throughput(int gpus)>;

/// Of two numbers of GPUs with throughputs nearer than this the smaller one counts as fastest.
inline constexpr double kNoticeable = 1.001;
/// Nobody calls a loss of less than 2 % slower: runs of one job differ by as much (docs/models/crossover.md).
inline constexpr double kSlower = 0.98;

/// So many nodes take as long to simulate as a job without a network: routes are walked node by node.
inline constexpr int kNodesPerEvaluation = 128;

/// What is known about the curve before any of it is evaluated.
struct SearchSpace {
  int most_gpus = 1;
  int gpus_per_node = 1;
  int budget = 100;  ///< evaluations, about; one of many nodes counts for several (kNodesPerEvaluation)
  /// What a step on N GPUs trains: it makes the curve jagged where a global batch is shared, the steps
  /// themselves are smooth. Cheap.
  std::function<double(int gpus)> samples_per_step{};
  bool jumps = false;  ///< steps jump from one number of GPUs to the next, so that no number tells of another
  bool every_gpu = false;     ///< also the numbers between whole nodes
  std::vector<int> listed{};  ///< asked for by name: they count, whatever they are
  /// What does not is no answer, but for one GPU, the baseline; beyond 16 GPUs more need no more memory each.
  /// Empty: all fit.
  std::function<bool(int gpus)> fits{};
};

/// What a person would request: every number within a node, whole nodes beyond up to 4,096 GPUs, and the
/// listed ones; ascending.
std::vector<int> requested_numbers(const SearchSpace& space);

/// All but the causes. The answers are those of evaluating every number of requested_numbers(), as long as
/// `is_certain` (docs/models/crossover.md says what that rests on). Requires most_gpus, gpus_per_node >= 1.
Crossover find_crossover(const ThroughputFunction& throughput, const SearchSpace& space);

}  // namespace foretrain
