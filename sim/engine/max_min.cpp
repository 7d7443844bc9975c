// Progressive filling with many links in one round.
//
// The textbook version of progressive filling fixes the flows of one link in each round: the link with the
// smallest share. This version fixes the flows of every link that is a local minimum, that is, whose share is
// the smallest on the whole route of each of its flows. Such a link fills at exactly this share whatever
// happens elsewhere, because the shares of other links can only grow. The link with the smallest share of all
// is always a local minimum, so every round makes progress. The result is the same as that of the textbook
// version; a test compares it with a simple solver.
//
// Invariant of a round: for each link, `remaining` is its capacity minus the rates of its fixed flows, and
// `open_shares` counts the shares of flows that are not fixed. Rates are only compared with a relative
// tolerance, because subtraction leaves rounding errors of about 1e-16 of a capacity.
//
// Links get dense slots in the order of use, so the idle links of a large cluster cost nothing.
#include "sim/engine/max_min.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace foretrain {

namespace {

/// Shares that differ by less than this fraction count as equal. It is far below the precision of any
/// bandwidth.
constexpr double kSameShare = 1e-12;
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

}  // namespace

void MaxMinProblem::add_flow(std::span<const std::uint32_t> route) {
  links.insert(links.end(), route.begin(), route.end());
  first_link.push_back(static_cast<std::uint32_t>(links.size()));
}

std::vector<ByteRate> max_min_rates(const MaxMinProblem& problem) {
  MaxMinSolver solver(problem.capacities);
  solver.clear();
  for (std::size_t f = 0; f < problem.flow_count(); ++f) {
    solver.add_flow(std::span(problem.links)
                        .subspan(problem.first_link[f], problem.first_link[f + 1] - problem.first_link[f]));
  }
  const std::vector<double>& rates = solver.solve();
  std::vector<ByteRate> out;
  for (const double rate : rates) out.push_back({rate});
  return out;
}

MaxMinSolver::MaxMinSolver(std::vector<ByteRate> capacities)
    : capacities_(std::move(capacities)), slot_of_(capacities_.size(), kNoSlot) {}

void MaxMinSolver::clear() {
  for (const Slot& slot : slots_) slot_of_[slot.link] = kNoSlot;
  slots_.clear();
  hops_.clear();
  first_.assign(1, 0);
}

void MaxMinSolver::add_flow(std::span<const std::uint32_t> route) {
  for (const std::uint32_t link : route) add_hop(link, 1);
  first_.push_back(static_cast<std::uint32_t>(hops_.size()));
}

void MaxMinSolver::add_flow(std::span<const LinkShare> route) {
  for (const LinkShare& hop : route) add_hop(hop.link, hop.shares);
  first_.push_back(static_cast<std::uint32_t>(hops_.size()));
}

/// Adds a hop to the flow that is being built, and a slot for a link that is not in use yet.
void MaxMinSolver::add_hop(std::uint32_t link, std::uint32_t shares) {
  std::uint32_t& slot = slot_of_[link];
  if (slot == kNoSlot) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.push_back({link, 0, std::max(0.0, capacities_[link].per_second), 0, 0});
  }
  slots_[slot].open_shares += shares;
  hops_.push_back({slot, shares});
}

std::span<const MaxMinSolver::Hop> MaxMinSolver::route(std::uint32_t flow) const {
  return std::span(hops_).subspan(first_[flow], first_[flow + 1] - first_[flow]);
}

/// Computes the equal share that each link could give to its open flows.
void MaxMinSolver::find_shares() {
  for (Slot& slot : slots_) {
    slot.share = slot.open_shares == 0 ? kUnlimited : slot.remaining / slot.open_shares;
    slot.lowest = kUnlimited;
  }
}

/// Finds the least share on the route of each open flow, and for each link the least of these. A flow that
/// nothing limits gets infinity and leaves the open set.
void MaxMinSolver::find_lowest() {
  for (const std::uint32_t flow : open_) {
    double least = kUnlimited;
    for (const Hop& hop : route(flow)) least = std::min(least, slots_[hop.slot].share);
    for (const Hop& hop : route(flow)) slots_[hop.slot].lowest = std::min(slots_[hop.slot].lowest, least);
    rates_[flow] = least;
  }
  std::erase_if(open_, [this](std::uint32_t flow) { return rates_[flow] == kUnlimited; });
}

/// Fixes the flows that cross a local minimum, and subtracts their rates from all links of their routes. The
/// shares stay as they were at the start of the round, so the order of the flows does not matter.
void MaxMinSolver::fix_flows_of_full_links() {
  const auto is_full = [this](const Hop& hop) {
    return slots_[hop.slot].lowest >= slots_[hop.slot].share * (1 - kSameShare);
  };
  std::erase_if(open_, [&](std::uint32_t flow) {
    if (std::ranges::none_of(route(flow), is_full)) return false;
    for (const Hop& hop : route(flow)) {
      slots_[hop.slot].remaining = std::max(0.0, slots_[hop.slot].remaining - hop.shares * rates_[flow]);
      slots_[hop.slot].open_shares -= hop.shares;
    }
    return true;
  });
}

const std::vector<double>& MaxMinSolver::solve() {
  rates_.assign(first_.size() - 1, kUnlimited);
  open_.resize(rates_.size());
  std::iota(open_.begin(), open_.end(), 0U);
  while (!open_.empty()) {
    find_shares();
    find_lowest();
    fix_flows_of_full_links();
  }
  return rates_;
}

}  // namespace foretrain
