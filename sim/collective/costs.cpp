// One row per generation that the open measurements cover; older GPUs take Volta's, Ada takes Ampere's (docs/models/collective_time.md).
#include "sim/collective/costs.hpp"

namespace foretrain {

namespace {

constexpr ByteRate gigabytes(double per_second) { return {per_second * 1e9}; }

/// What does not depend on the GPU.
CollectiveCosts common() {
  CollectiveCosts costs;
  costs.group_launch = microseconds(5.7);
  costs.peer_start = microseconds(0.74);
  costs.pcie_step = {microseconds(3.6), microseconds(4.2), microseconds(4.2)};
  costs.network_factor = {1, 0.87, 1.5};
  costs.network_step = {Time::zero(), microseconds(1), microseconds(23)};
  costs.link_efficiency = {0.4, 0.83, 1};
  costs.network_efficiency = {0.5, 0.7, 1};
  costs.low_latency_network = gigabytes(2.5);
  costs.peer_channel_rate = gigabytes(9.4);
  costs.peer_network_efficiency = 0.63;
  costs.multicast_start = microseconds(12);
  costs.multicast_efficiency = 0.74;
  costs.default_network_step = microseconds(12);
  return costs;
}

CollectiveCosts volta() {
  CollectiveCosts costs = common();
  costs.launch = microseconds(1.9);
  costs.kernel = microseconds(5.2);
  costs.simple_start = microseconds(22);
  costs.ring_step = {microseconds(1), microseconds(2.5), microseconds(2.1)};
  costs.tree_step = {microseconds(0.6), microseconds(2.3), microseconds(4)};
  costs.channel_rate = {gigabytes(5), gigabytes(10), gigabytes(25)};
  return costs;
}

CollectiveCosts ampere() {
  CollectiveCosts costs = common();
  costs.launch = microseconds(3.5);
  costs.kernel = microseconds(9.7);
  costs.simple_start = microseconds(30);
  costs.ring_step = {microseconds(1), microseconds(4.7), microseconds(7.3)};
  costs.tree_step = {microseconds(0.33), microseconds(4), microseconds(1.9)};
  costs.channel_rate = {gigabytes(4.6), gigabytes(15), gigabytes(12)};
  return costs;
}

CollectiveCosts hopper() {
  CollectiveCosts costs = common();
  costs.launch = microseconds(4.2);
  costs.kernel = microseconds(4.8);
  costs.simple_start = microseconds(6.4);
  costs.ring_step = {microseconds(1), microseconds(2.9), microseconds(5.9)};
  costs.tree_step = {microseconds(0.48), microseconds(2.6), microseconds(0.84)};
  costs.channel_rate = {gigabytes(6.3), gigabytes(21), gigabytes(31)};
  return costs;
}

/// One open series, over two nodes: NVLink steps are still Hopper's.
CollectiveCosts blackwell() {
  CollectiveCosts costs = hopper();
  costs.kernel = microseconds(8.8);
  costs.ring_step = {microseconds(1), microseconds(2.5), microseconds(3)};
  costs.tree_step = {microseconds(0.73), microseconds(1.8), microseconds(4)};
  costs.channel_rate = {gigabytes(10), gigabytes(11), gigabytes(18)};
  return costs;
}

}  // namespace

CollectiveCosts costs_of(Architecture architecture) {
  switch (architecture) {
    case Architecture::kepler:
    case Architecture::pascal:
    case Architecture::volta:
    case Architecture::turing:
      return volta();
    case Architecture::ampere:
    case Architecture::ada:
      return ampere();
    case Architecture::hopper:
      return hopper();
    case Architecture::blackwell:
      return blackwell();
  }
  return common();
}

}  // namespace foretrain
