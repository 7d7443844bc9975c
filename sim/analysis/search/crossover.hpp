// The search for the numbers of GPUs where more GPUs stop paying: answers about a throughput curve, with few
// evaluations of it.
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

/// The facts that the search needs about one number of GPUs.
struct Throughput {
  double samples_per_s = 0;
  Breakdown breakdown{};
  double step_s = 0;
};

/// Returns the throughput on N GPUs; a call may be an expensive simulation.
using ThroughputFunction = std::function<Throughput(int gpus)>;

/// The smaller of two numbers of GPUs counts as fastest if their throughputs differ by less than this factor.
inline constexpr double kNoticeable = 1.001;
/// Smallest loss that counts as slower. The limit is this or the noise of a comparison, whichever is larger:
/// the standard deviation of the ratio of two runs (docs/models/choices.md).
inline constexpr double kLeastLoss = 0.02;
inline constexpr double kSlower = 1 - std::max(kLeastLoss, std::numbers::sqrt2* kRunToRun);

/// Number of nodes that costs one more evaluation of the budget, because routes are walked node by node.
inline constexpr int kNodesPerEvaluation = 128;

/// The facts that are known about the curve before any of it is evaluated.
struct SearchSpace {
  int most_gpus = 1;
  int gpus_per_node = 1;
  /// Approximate number of evaluations; one of many nodes counts for several (kNodesPerEvaluation).
  int budget = 100;
  /// Returns the samples of a step on N GPUs; must be cheap. Sharing a global batch makes throughput jagged,
  /// while the steps themselves are smooth.
  std::function<double(int gpus)> samples_per_step{};
  /// True if steps jump from one number to the next, so that no number tells about another.
  bool jumps = false;
  /// True if the numbers between whole nodes count, too.
  bool every_gpu = false;
  /// Numbers that the user listed; they always count.
  std::vector<int> listed{};
  /// Returns true if the training fits into memory; numbers that do not fit are no answers, except the
  /// baseline of one GPU. Beyond 16 GPUs, more GPUs are assumed to need no more memory each. Empty: all fit.
  std::function<bool(int gpus)> fits{};
  /// Returns true if a job can have this number; one GPU, the baseline, always counts. Empty: all can.
  std::function<bool(int gpus)> usable{};
};

/// Returns the numbers that a person would request, ascending: every number within a node, whole nodes beyond
/// it up to 4,096 GPUs, and the listed ones.
std::vector<int> requested_numbers(const SearchSpace& space);

/// Returns all answers but the causes. While `is_certain`, they equal the answers of evaluating every number
/// of requested_numbers(); docs/models/choices.md states the assumptions. Requires most_gpus, gpus_per_node
/// >= 1.
Crossover find_crossover(const ThroughputFunction& throughput, const SearchSpace& space);

// The throughput curve of which some numbers of GPUs are known, with bounds between them.

/// A throughput curve with lower and upper bounds. It assumes that between two known numbers with equally
/// full last nodes the step lies between theirs, up to a margin that grows with the surprises seen so far.
/// The bounds of every unknown number follow from that and are kept up to date.
class SearchedCurve {
 public:
  SearchedCurve(const ThroughputFunction& throughput, const SearchSpace& space);

  /// Returns the numbers that the answers are about, ascending; a place is an index into them.
  const std::vector<int>& numbers() const { return numbers_; }
  std::size_t size() const { return numbers_.size(); }
  int simulated() const { return simulated_; }
  /// Returns the part of the search's budget that has been used.
  double spent() const { return spent_; }

  bool known(std::size_t i) const { return known_[i]; }
  /// Evaluates the number at place `i` unless it is known, and updates the bounds around it.
  void evaluate(std::size_t i);
  /// Evaluates the number that narrows the bounds at the unknown place `i` most: halfway between the known
  /// numbers around it.
  void narrow(std::size_t i);
  /// Returns the place of the largest number <= gpus.
  std::size_t place_of(int gpus) const;

  /// Lower bound of the throughput; the value itself where it is known.
  double least(std::size_t i) const { return known_[i] ? rates_[i] : samples_[i] / longest_[i]; }
  /// Upper bound of the throughput; the value itself where it is known.
  double most(std::size_t i) const { return known_[i] ? rates_[i] : samples_[i] / shortest_[i]; }

 private:
  struct Neighbours {
    /// Places within the class; kNowhere if there is none.
    std::size_t before, after;
  };
  /// Returns the places of all numbers with as many GPUs on the last node as number `i`.
  const std::vector<std::size_t>& class_of(std::size_t i) const;
  /// Returns the known neighbours on both sides within a class.
  Neighbours around(const std::vector<std::size_t>& places, std::size_t in_class) const;
  /// Bounds all unknown numbers between two known ones of a class.
  void bound_between(const std::vector<std::size_t>& places, std::size_t before, std::size_t after);
  /// Returns true if the curve turns here more than anywhere so far, and remembers it.
  bool is_surprise(const std::vector<std::size_t>& places, const Neighbours& sides, double step);
  /// Bounds all unknown numbers again with the present margin.
  void bound_anew();

  static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

  const ThroughputFunction& throughput_;
  int per_node_;
  std::vector<int> numbers_;
  std::vector<bool> known_;
  /// Throughput where known.
  std::vector<double> rates_;
  /// Samples of a step, and bounds of its time in seconds.
  std::vector<double> samples_, shortest_, longest_;
  /// Places by number of GPUs on the last node.
  std::vector<std::vector<std::size_t>> classes_;
  std::vector<std::size_t> place_in_class_;
  int simulated_ = 0;
  double spent_ = 0;
  /// Largest share by which a step lay outside its neighbours' range.
  double surprise_ = 0;
};

}  // namespace foretrain
