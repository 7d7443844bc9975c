// Volta and older GPUs share a row; so do Ampere, Ada and Turing's successors of workstations.
#include "sim/collective/costs.hpp"

namespace foretrain {

namespace {

constexpr ByteRate gigabytes(double per_second) { return {per_second * 1e9}; }

CollectiveCosts common() {
  CollectiveCosts costs;
  costs.launch = microseconds(1.9);
  costs.group_launch = microseconds(2.6);
  costs.kernel = microseconds(6);
  costs.peer_start = microseconds(4);
  costs.pcie_step = {microseconds(4.3), microseconds(4.5), microseconds(4.6)};
  costs.network_step = {1, 1.35, 2.1};
  costs.link_efficiency = {0.47, 0.92, 1};
  costs.network_efficiency = {0.5, 0.9, 1};
  costs.low_latency_network = gigabytes(3);
  costs.peer_channel_rate = gigabytes(14.6);
  costs.peer_network_efficiency = 0.7;
  costs.multicast_start = microseconds(55);
  costs.default_network_step = microseconds(10);
  return costs;
}

CollectiveCosts volta() {
  CollectiveCosts costs = common();
  costs.kernel = microseconds(4.5);
  costs.simple_start = microseconds(8);
  costs.ring_step = {microseconds(1.35), microseconds(2.5), microseconds(3.0)};
  costs.tree_step = {microseconds(0.6), microseconds(2.3), microseconds(4.3)};
  costs.channel_rate = {gigabytes(4), gigabytes(10), gigabytes(5.3)};
  return costs;
}

CollectiveCosts ampere() {
  CollectiveCosts costs = common();
  costs.kernel = microseconds(8);
  costs.simple_start = microseconds(38);
  costs.ring_step = {microseconds(1.35), microseconds(7.4), microseconds(3.4)};
  costs.tree_step = {microseconds(0.5), microseconds(2.3), microseconds(4.3)};
  costs.channel_rate = {gigabytes(5.2), gigabytes(11.4), gigabytes(20)};
  return costs;
}

CollectiveCosts hopper() {
  CollectiveCosts costs = common();
  costs.kernel = microseconds(2.8);
  costs.simple_start = microseconds(20);
  costs.ring_step = {microseconds(1.4), microseconds(1.4), microseconds(2.5)};
  costs.tree_step = {microseconds(0.6), microseconds(3.3), microseconds(4.3)};
  costs.channel_rate = {gigabytes(5.7), gigabytes(8.5), gigabytes(18.5)};
  return costs;
}

CollectiveCosts blackwell() {
  CollectiveCosts costs = hopper();
  costs.kernel = microseconds(7.9);
  costs.tree_step = {microseconds(0.65), microseconds(1.9), microseconds(4.3)};
  costs.channel_rate = {gigabytes(4), gigabytes(10.8), gigabytes(40)};
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
