// Patterns of flows folded to one flow per class: the same ends at the cost of what is distinct.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/engine/link_share.hpp"
#include "sim/engine/task_graph.hpp"

namespace foretrain {

/// Whether identical flows are simulated once. The answer is the same; off exists for the tests that prove
/// it.
enum class Folding : std::uint8_t { on, off };

/// The patterns that tasks of a graph use, for links of given capacities.
///
/// Why it is exact: let flows and links be divided so that flows of a class have one pattern and weight and
/// cross equally many links of each class, and links of a class have one capacity and carry equally many
/// flows of each class. All flows of a class start together (they are one task's) with equal bytes. If at
/// some moment the flows of each class that are on their way are all of it, then rates that are equal within
/// classes satisfy the condition for max-min fairness on every link of a class or on none; max-min rates are
/// unique, so these are they, and the flows of a class end together. So one flow stands for its class; on one
/// link for each class it takes as many shares as that link carries of its class. This holds for any set of
/// patterns at once, and for one pattern several times. Links that carry the same shares of the same classes
/// limit alike: the one with the least capacity is kept. A link that only one flow crosses limits this flow
/// alone, so of these too the least is kept, and other lone links may differ. Rates are the same real
/// numbers; sums of other roundings may move an end by a picosecond.
///
/// Flows are not merged where the partition is not found in few rounds (no symmetry to speak of).
class FoldedPatterns {
 public:
  struct Flow {
    double weight = 1;
    std::uint32_t members = 1;  ///< flows it stands for
    std::uint32_t first_share = 0, end_share = 0;
  };

  /// Routes name links by LinkId.
  FoldedPatterns(const TaskGraph& graph, std::span<const ByteRate> capacities, Folding folding);
  /// Routes name links by their place in capacities(), which holds no others: of a large cluster only what
  /// the patterns cross.
  FoldedPatterns(const TaskGraph& graph, const std::function<ByteRate(LinkId)>& capacity_of);

  /// Flows that carry something; nothing for a pattern that no task uses.
  std::span<const Flow> flows(PatternId pattern) const;
  std::span<const LinkShare> route(const Flow& flow) const;
  std::size_t flow_count() const { return flows_.size(); }
  /// Of the links that routes name by their places; else empty.
  const std::vector<ByteRate>& capacities() const { return capacities_; }

 private:
  friend class PatternFolder;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> first_flow_;  ///< per pattern
  std::vector<LinkShare> shares_;
  std::vector<ByteRate> capacities_;
};

}  // namespace foretrain
