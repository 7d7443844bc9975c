// Max-min fair sharing: the rates of flows over links such that no flow can grow without shrinking one that has no more.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/units.hpp"

namespace foretrain {

/// Flows over links, as rows of link indices. A route may name a link more than once: it then takes that many shares of it.
struct MaxMinProblem {
  std::vector<ByteRate> capacities;
  std::vector<std::uint32_t> first_link{0};  ///< flow f uses links[first_link[f] .. first_link[f + 1])
  std::vector<std::uint32_t> links;
  void add_flow(std::span<const std::uint32_t> route);
  std::size_t flow_count() const { return first_link.size() - 1; }
};

/// Progressive filling (Bertsekas & Gallager, Data Networks §6.5.2): all rates rise together; when a link is full its flows are
/// fixed. Flows with an empty route get infinity. Cost O(rounds x links in use + routes).
std::vector<ByteRate> max_min_rates(const MaxMinProblem& problem);

/// The same, for many problems over one set of links: reuses its memory. Order of calls: clear, add_flow…, solve.
class MaxMinSolver {
 public:
  explicit MaxMinSolver(std::vector<ByteRate> capacities);
  void clear();
  void add_flow(std::span<const std::uint32_t> route);
  /// Bytes per second of each flow, in the order added; valid until the next call.
  const std::vector<double>& solve();

 private:
  static constexpr std::uint32_t kNoSlot = ~0u;
  /// A link in use.
  struct Slot {
    std::uint32_t link;
    std::uint32_t shares;  ///< of flows not fixed yet
    double remaining;
    std::uint32_t first_flow;
  };
  void index_flows_by_link();
  void fix(std::uint32_t flow, double rate);

  std::vector<ByteRate> capacities_;
  std::vector<std::uint32_t> slot_of_;  ///< per link
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> first_{0}, route_slots_;
  std::vector<std::uint32_t> flows_of_link_, fill_, full_;
  std::vector<bool> fixed_;
  std::vector<double> share_;  ///< per slot, what each flow not fixed yet would get
  std::vector<double> rates_;
};

}  // namespace foretrain
