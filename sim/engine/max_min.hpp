// Max-min fair sharing: the rates of flows over links such that no flow can grow without shrinking one that
// has no more.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/engine/link_share.hpp"

namespace foretrain {

/// Flows over links, as rows of link indices. A route may name a link more than once: it then takes that many
/// shares of it.
struct MaxMinProblem {
  std::vector<ByteRate> capacities;
  std::vector<std::uint32_t> first_link{0};  ///< flow f uses links[first_link[f] .. first_link[f + 1])
  std::vector<std::uint32_t> links;
  void add_flow(std::span<const std::uint32_t> route);
  std::size_t flow_count() const { return first_link.size() - 1; }
};

/// The result of progressive filling (Bertsekas & Gallager, Data Networks §6.5.2): all rates rise together;
/// when a link is full its flows are fixed. Flows with an empty route get infinity. Cost O(rounds x (links in
/// use + routes)), with a round for each link on the longest chain of links that wait for one another to
/// fill: few on real machines.
std::vector<ByteRate> max_min_rates(const MaxMinProblem& problem);

/// The same, for many problems over one set of links: reuses its memory. Order of calls: clear, add_flow…,
/// solve.
class MaxMinSolver {
 public:
  explicit MaxMinSolver(std::vector<ByteRate> capacities);
  void clear();
  void add_flow(std::span<const std::uint32_t> route);
  void add_flow(std::span<const LinkShare> route);
  /// Bytes per second of each flow, in the order added; valid until the next call.
  const std::vector<double>& solve();
  std::span<const ByteRate> capacities() const { return capacities_; }

 private:
  static constexpr std::uint32_t kNoSlot = ~0u;
  /// A link in use.
  struct Slot {
    std::uint32_t link;
    std::uint32_t open_shares;  ///< of flows not fixed yet
    double remaining;           ///< what these may divide among them
    double share;               ///< what each of these would get; infinity when there are none
    double lowest;              ///< the least that any of these gets on its whole route
  };
  /// `shares` of a slot.
  struct Hop {
    std::uint32_t slot, shares;
  };
  void add_hop(std::uint32_t link, std::uint32_t shares);
  std::span<const Hop> route(std::uint32_t flow) const;
  void find_shares();
  void find_lowest();
  void fix_flows_of_full_links();

  std::vector<ByteRate> capacities_;
  std::vector<std::uint32_t> slot_of_;  ///< per link
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> first_{0};
  std::vector<Hop> hops_;
  std::vector<std::uint32_t> open_;  ///< flows not fixed yet
  std::vector<double> rates_;
};

}  // namespace foretrain
