// Max-min fair sharing: the rates of flows over links such that no flow can grow without shrinking one that
// has no more.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/engine/link_share.hpp"

namespace foretrain {

/// A problem of max-min sharing: flows over links, as rows of link indices. A route may name a link more than
/// once; it then takes that many shares of it.
struct MaxMinProblem {
  /// Capacity of each link.
  std::vector<ByteRate> capacities;
  /// Flow f uses links[first_link[f] .. first_link[f + 1]).
  std::vector<std::uint32_t> first_link{0};
  std::vector<std::uint32_t> links;
  void add_flow(std::span<const std::uint32_t> route);
  std::size_t flow_count() const { return first_link.size() - 1; }
};

/// Returns the rate of each flow by progressive filling (Bertsekas & Gallager, Data Networks §6.5.2): all
/// rates rise together, and when a link is full its flows are fixed. A flow with an empty route gets
/// infinity.
///
/// Cost: O(rounds × (links in use + routes)). The number of rounds is the length of the longest chain of
/// links that wait for one another to fill, which is small on real machines.
std::vector<ByteRate> max_min_rates(const MaxMinProblem& problem);

/// The same for many problems over one set of links; it keeps its memory. Order of calls: clear, add_flow for
/// each flow, solve. Not thread-safe.
class MaxMinSolver {
 public:
  explicit MaxMinSolver(std::vector<ByteRate> capacities);
  /// Removes all flows. Costs only the links that were in use.
  void clear();
  /// Adds a flow that takes one share for each mention of a link. Requires link < capacities().size().
  void add_flow(std::span<const std::uint32_t> route);
  void add_flow(std::span<const LinkShare> route);
  /// Returns bytes per second of each flow in the order added. The reference is valid until the next call.
  const std::vector<double>& solve();
  std::span<const ByteRate> capacities() const { return capacities_; }

 private:
  /// Marks a link that no flow uses.
  static constexpr std::uint32_t kNoSlot = ~0u;
  /// A link in use. It exists from the first flow that names it until clear().
  struct Slot {
    std::uint32_t link;
    /// Shares of flows that are not fixed yet.
    std::uint32_t open_shares;
    /// Bytes per second that these may divide among them.
    double remaining;
    /// Bytes per second for each of these shares; infinity when there are none.
    double share;
    /// The least share that any of its flows has on its whole route.
    double lowest;
  };
  /// A link of a route: its slot, and the number of shares taken.
  struct Hop {
    std::uint32_t slot, shares;
  };
  void add_hop(std::uint32_t link, std::uint32_t shares);
  std::span<const Hop> route(std::uint32_t flow) const;
  void find_shares();
  void find_lowest();
  void fix_flows_of_full_links();

  std::vector<ByteRate> capacities_;
  /// Per link: its slot, or kNoSlot.
  std::vector<std::uint32_t> slot_of_;
  std::vector<Slot> slots_;
  /// The hops of flow f are hops_[first_[f] .. first_[f + 1]).
  std::vector<std::uint32_t> first_{0};
  std::vector<Hop> hops_;
  /// Flows that are not fixed yet.
  std::vector<std::uint32_t> open_;
  std::vector<double> rates_;
};

}  // namespace foretrain
