// Bandwidths are whole thousandths of a GB/s, so that giving back restores the exact state.
#include "sim/collective/nccl/channel_search.hpp"

namespace foretrain::nccl {

/// Returns what a channel of `speed` takes from the link and from its reverse direction. PCIe under an Intel
/// root carries 6/5 of the data; traffic into old GPUs and through POWER CPUs also loads the reverse
/// direction.
LinkBudget::Load LinkBudget::load_of(const NodePath& path, const PathStep& step, Milli speed) {
  const Milli forward = step.pcie && path.through_intel_root ? (speed * 6 + 2) / 5 : speed;
  const Milli back = step.reverse_load == ReverseTraffic::all      ? forward
                     : step.reverse_load == ReverseTraffic::eighth ? (forward + 4) / 8
                                                                   : 0;
  return {forward, back};
}

bool LinkBudget::take(const NodePath& path, Milli speed) {
  int taken = 0;
  for (const PathStep& step : path.steps) {
    const Load load = load_of(path, step, speed);
    Milli& forward = free_[static_cast<std::size_t>(step.link)];
    Milli& back = free_[static_cast<std::size_t>(step.back_link)];
    // The steps taken so far are given back, so that a failed attempt changes nothing.
    if (forward < load.forward || back < load.back) {
      hops_ += taken;
      give_back(path, speed, taken);
      return false;
    }
    forward -= load.forward;
    back -= load.back;
    ++taken;
  }
  hops_ += taken;
  return true;
}

/// Gives back the first `steps` steps of the path.
void LinkBudget::give_back(const NodePath& path, Milli speed, int steps) {
  for (int i = 0; i < steps; ++i) {
    const PathStep& step = path.steps[static_cast<std::size_t>(i)];
    const Load load = load_of(path, step, speed);
    free_[static_cast<std::size_t>(step.link)] += load.forward;
    free_[static_cast<std::size_t>(step.back_link)] += load.back;
  }
  hops_ -= steps;
}

}  // namespace foretrain::nccl
