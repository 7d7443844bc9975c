// Patterns of flows, folded to one flow per class: the same end times at the cost of the distinct flows.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/engine/link_share.hpp"
#include "sim/engine/task_graph.hpp"

namespace foretrain {

/// Switch for simulating identical flows once. The answer is the same in both cases; off exists for the tests
/// that prove it.
enum class Folding : std::uint8_t { on, off };

/// The patterns that tasks of a graph use, for links of given capacities.
///
/// Why folding is exact. Divide flows and links into classes such that flows of a class have one pattern and
/// weight and cross equally many links of each class, and links of a class have one capacity and carry
/// equally many flows of each class. All flows of a class start together, because they belong to one task,
/// and have equal bytes. Suppose that at some moment each class is either complete or absent. Rates that are
/// equal within classes then satisfy the condition of max-min fairness on every link of a class or on none.
/// Max-min rates are unique, so these are the rates, and the flows of a class end together. By induction one
/// flow stands for its class. On one link of each class it takes as many shares as that link carries flows of
/// its class. This holds for any set of patterns at once, and for one pattern that is active several times.
///
/// Two reductions come on top. Links that carry the same shares of the same classes limit alike, so only the
/// one with the least capacity is kept. A link that only one flow crosses limits this flow alone, so of these
/// too only the least is kept. Rates are the same real numbers; a different order of rounding may move an end
/// by a picosecond.
///
/// Flows are not merged where the partition is not found in few rounds, because there is no symmetry to use.
class FoldedPatterns {
 public:
  /// A folded flow: its links are shares_[first_share .. end_share).
  struct Flow {
    /// Bytes per byte of the task's traffic.
    double weight = 1;
    /// Number of flows of the pattern that it stands for.
    std::uint32_t members = 1;
    std::uint32_t first_share = 0, end_share = 0;
  };

  /// Folds for links of known capacities, by LinkId. Routes name links by LinkId.
  FoldedPatterns(const TaskGraph& graph, std::span<const ByteRate> capacities, Folding folding);
  /// Folds for a large cluster of which the patterns cross a part. Routes name links by their place in
  /// capacities(), which holds no others.
  FoldedPatterns(const TaskGraph& graph, const std::function<ByteRate(LinkId)>& capacity_of);

  /// Returns the flows of the pattern that carry bytes; empty for a pattern that no task uses.
  std::span<const Flow> flows(PatternId pattern) const;
  /// Returns the links of the flow with the shares that it takes of each.
  std::span<const LinkShare> route(const Flow& flow) const;
  std::size_t flow_count() const { return flows_.size(); }
  /// Capacities of the links that routes name by place; empty if they name them by LinkId.
  const std::vector<ByteRate>& capacities() const { return capacities_; }

 private:
  friend class PatternFolder;
  std::vector<Flow> flows_;
  /// Per pattern: its flows are flows_[first_flow_[p] .. first_flow_[p + 1]).
  std::vector<std::uint32_t> first_flow_;
  std::vector<LinkShare> shares_;
  std::vector<ByteRate> capacities_;
};

}  // namespace foretrain
