// Progressive filling. Each round finds the links with the smallest fair share, fixes their flows at it and takes those flows'
// shares from the other links they cross. Links are renumbered densely, so idle links of a large cluster cost nothing.
#include "sim/engine/max_min.hpp"

#include <algorithm>
#include <limits>

namespace foretrain {

namespace {

/// Links whose shares differ by less than this fraction are filled in one round; far below what a bandwidth is known to.
constexpr double kSameShare = 1e-12;
/// The share of a link whose flows are all fixed; also that of a link without limit, which holds nobody back.
constexpr double kFilled = std::numeric_limits<double>::infinity();

/// The least of all shares, in four lanes that need not wait for each other.
double least_of(const std::vector<double>& shares) {
  double lanes[4] = {kFilled, kFilled, kFilled, kFilled};
  std::size_t i = 0;
  for (; i + 4 <= shares.size(); i += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane] = std::min(lanes[lane], shares[i + lane]);
  }
  for (; i < shares.size(); ++i) lanes[0] = std::min(lanes[0], shares[i]);
  return std::min(std::min(lanes[0], lanes[1]), std::min(lanes[2], lanes[3]));
}

}  // namespace

void MaxMinProblem::add_flow(std::span<const std::uint32_t> route) {
  links.insert(links.end(), route.begin(), route.end());
  first_link.push_back(static_cast<std::uint32_t>(links.size()));
}

std::vector<ByteRate> max_min_rates(const MaxMinProblem& problem) {
  MaxMinSolver solver(problem.capacities);
  solver.clear();
  for (std::size_t f = 0; f < problem.flow_count(); ++f) {
    solver.add_flow(std::span(problem.links).subspan(problem.first_link[f], problem.first_link[f + 1] - problem.first_link[f]));
  }
  const std::vector<double>& rates = solver.solve();
  std::vector<ByteRate> out;
  for (const double rate : rates) out.push_back({rate});
  return out;
}

MaxMinSolver::MaxMinSolver(std::vector<ByteRate> capacities) : capacities_(std::move(capacities)), slot_of_(capacities_.size(), kNoSlot) {}

void MaxMinSolver::clear() {
  for (const Slot& slot : slots_) slot_of_[slot.link] = kNoSlot;
  slots_.clear();
  route_slots_.clear();
  first_.assign(1, 0);
}

void MaxMinSolver::add_flow(std::span<const std::uint32_t> route) {
  for (const std::uint32_t link : route) {
    std::uint32_t& slot = slot_of_[link];
    if (slot == kNoSlot) {
      slot = static_cast<std::uint32_t>(slots_.size());
      slots_.push_back({link, 0, std::max(0.0, capacities_[link].per_second), 0});
    }
    ++slots_[slot].shares;
    route_slots_.push_back(slot);
  }
  first_.push_back(static_cast<std::uint32_t>(route_slots_.size()));
}

/// Which flows cross each link, as rows of one array.
void MaxMinSolver::index_flows_by_link() {
  std::uint32_t offset = 0;
  for (Slot& slot : slots_) {
    slot.first_flow = offset;
    offset += slot.shares;
  }
  flows_of_link_.resize(offset);
  fill_.assign(slots_.size(), 0);
  for (std::uint32_t f = 0; f + 1 < first_.size(); ++f) {
    for (std::uint32_t i = first_[f]; i < first_[f + 1]; ++i) {
      const std::uint32_t slot = route_slots_[i];
      flows_of_link_[slots_[slot].first_flow + fill_[slot]++] = f;
    }
  }
}

/// Fixes a flow and gives back what it takes on every link of its route.
void MaxMinSolver::fix(std::uint32_t flow, double rate) {
  rates_[flow] = rate;
  for (std::uint32_t i = first_[flow]; i < first_[flow + 1]; ++i) {
    const std::uint32_t id = route_slots_[i];
    Slot& slot = slots_[id];
    slot.remaining = std::max(0.0, slot.remaining - rate);
    --slot.shares;
    share_[id] = slot.shares == 0 ? kFilled : slot.remaining / slot.shares;
  }
}

const std::vector<double>& MaxMinSolver::solve() {
  index_flows_by_link();
  fixed_.assign(first_.size() - 1, false);
  rates_.assign(first_.size() - 1, std::numeric_limits<double>::infinity());
  share_.clear();
  for (const Slot& slot : slots_) share_.push_back(slot.remaining / slot.shares);
  for (double least = least_of(share_); least < kFilled; least = least_of(share_)) {
    full_.clear();
    for (std::uint32_t slot = 0; slot < share_.size(); ++slot) {
      if (share_[slot] <= least * (1 + kSameShare)) full_.push_back(slot);
    }
    for (const std::uint32_t slot : full_) {
      for (std::uint32_t i = slots_[slot].first_flow; i < slots_[slot].first_flow + fill_[slot]; ++i) {
        const std::uint32_t flow = flows_of_link_[i];
        if (fixed_[flow]) continue;
        fixed_[flow] = true;
        fix(flow, least);
      }
    }
  }
  return rates_;
}

}  // namespace foretrain
