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

}  // namespace foretrain
