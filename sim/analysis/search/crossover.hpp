// Where adding GPUs stops paying: the answers about a throughput curve, found with few evaluations of it.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <vector>

#include "sim/analysis/prediction.hpp"
#include "sim/analysis/uncertainty/uncertain_inputs.hpp"

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
/// Nobody calls a loss slower that is less than 2 %, or than the noise of the interval: the standard
/// deviation of the ratio of two runs (docs/models/crossover.md).
inline constexpr double kLeastLoss = 0.02;
inline constexpr double kSlower = 1 - std::max(kLeastLoss, std::numbers::sqrt2* kRunToRun);

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
  /// Numbers that a job can have; one GPU, the baseline, always counts. Empty: all.
  std::function<bool(int gpus)> usable{};
};

/// What a person would request: every number within a node, whole nodes beyond up to 4,096 GPUs, and the
/// listed ones; ascending.
std::vector<int> requested_numbers(const SearchSpace& space);

/// All but the causes. The answers are those of evaluating every number of requested_numbers(), as long as
/// `is_certain` (docs/models/crossover.md says what that rests on). Requires most_gpus, gpus_per_node >= 1.
Crossover find_crossover(const ThroughputFunction& throughput, const SearchSpace& space);

// A throughput curve of which some numbers of GPUs are known, and between which steps the others must lie.

/// Between two known numbers of GPUs with equally full last nodes the step lies between theirs, give or take
/// a margin.
class SearchedCurve {
 public:
  SearchedCurve(const ThroughputFunction& throughput, const SearchSpace& space);

  /// The numbers the answers are about, ascending.
  const std::vector<int>& numbers() const { return numbers_; }
  std::size_t size() const { return numbers_.size(); }
  int simulated() const { return simulated_; }
  /// Of the search's budget.
  double spent() const { return spent_; }

  bool known(std::size_t i) const { return known_[i]; }
  /// Evaluates the number in place `i` unless it is known.
  void evaluate(std::size_t i);
  /// Evaluates where it narrows the bounds at the unknown `i` most: halfway between the known numbers around
  /// it.
  void narrow(std::size_t i);
  /// The place of the largest number <= gpus.
  std::size_t place_of(int gpus) const;

  /// Bounds of the throughput; both are it where it is known.
  double least(std::size_t i) const { return known_[i] ? rates_[i] : samples_[i] / longest_[i]; }
  double most(std::size_t i) const { return known_[i] ? rates_[i] : samples_[i] / shortest_[i]; }

 private:
  struct Neighbours {
    std::size_t before, after;  ///< places in the class
  };
  const std::vector<std::size_t>& class_of(std::size_t i) const;
  Neighbours around(const std::vector<std::size_t>& places, std::size_t in_class) const;
  void bound_between(const std::vector<std::size_t>& places, std::size_t before, std::size_t after);
  bool is_surprise(const std::vector<std::size_t>& places, const Neighbours& sides, double step);
  void bound_anew();

  static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

  const ThroughputFunction& throughput_;
  int per_node_;
  std::vector<int> numbers_;
  std::vector<bool> known_;
  std::vector<double> rates_;                         ///< where known
  std::vector<double> samples_, shortest_, longest_;  ///< of a step
  /// Places of the numbers with equally many GPUs on the last node.
  std::vector<std::vector<std::size_t>> classes_;
  std::vector<std::size_t> place_in_class_;
  int simulated_ = 0;
  double spent_ = 0;
  double surprise_ = 0;  ///< by which share a step lay outside of its neighbours' at most
};

}  // namespace foretrain
