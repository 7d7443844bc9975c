// The messages of lanes one by one: what each waits for, a possible order, and what has certainly arrived
// before.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/collective/lanes.hpp"

namespace foretrain {

/// A set of messages as a bit set.
class MessageSet {
 public:
  explicit MessageSet(std::size_t size) : words_((size + 63) / 64) {}
  void add(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  bool has(std::size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  void add(const MessageSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// The dependence graph of messages, which are numbered lane by lane. Memory is O(messages) for the order and
/// O(messages²) bits for arrived(). It serves proofs and cost counts, not the simulation.
class Dataflow {
 public:
  explicit Dataflow(const Lanes& lanes);

  std::size_t size() const { return lane_of_.size(); }
  /// Returns the lane of a message.
  std::uint32_t lane(std::size_t message) const { return lane_of_[message]; }
  /// Returns the number of a message in its lane.
  int index(std::size_t message) const { return static_cast<int>(message - first_[lane_of_[message]]); }
  /// Calls `use` with each message that `message` waits for.
  template <class Use>
  void for_awaited(std::size_t message, const Use& use) const {
    const Lane& own = lanes_.lanes[lane(message)];
    for (std::uint32_t i = 0; i < own.needs; ++i) {
      const LaneNeed& need = lanes_.needs[own.first_need + i];
      const int awaited = lanes_.awaited(need, index(message));
      if (awaited >= 0) use(first_[need.lane] + static_cast<std::size_t>(awaited));
    }
  }
  /// Returns an order in which every message follows those it waits for and the earlier ones of its lane. It
  /// is shorter than size() if some messages wait for themselves.
  const std::vector<std::size_t>& order() const { return order_; }
  /// Returns for each message the set of messages that have arrived before it can start. Requires a complete
  /// order.
  std::vector<MessageSet> arrived() const;

 private:
  void find_order();

  const Lanes& lanes_;
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> lane_of_;
  std::vector<std::size_t> order_;
};

}  // namespace foretrain
