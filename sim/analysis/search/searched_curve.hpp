// A throughput curve of which some numbers of GPUs are known, and between which steps the others must lie.
#pragma once

#include <limits>
#include <vector>

#include "sim/analysis/search/crossover.hpp"

namespace foretrain {

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
  std::vector<std::vector<std::size_t>>
      classes_;  ///< places of the numbers with equally many GPUs on the last node
  std::vector<std::size_t> place_in_class_;
  int simulated_ = 0;
  double spent_ = 0;
  double surprise_ = 0;  ///< by which share a step lay outside of its neighbours' at most
};

}  // namespace foretrain
