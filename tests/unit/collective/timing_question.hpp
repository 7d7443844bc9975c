// The question whose times the tests of timing ask: round figures, so that formulas can be checked by head.
#pragma once

#include <cmath>

#include "sim/collective/timing.hpp"

namespace foretrain::test {

inline CollectiveCosts round_costs() {
  CollectiveCosts costs;
  costs.kernel = microseconds(5), costs.simple_start = microseconds(7), costs.peer_start = microseconds(3);
  costs.ring_step = {microseconds(1), microseconds(2), microseconds(3)};
  costs.tree_step = {microseconds(0.5), microseconds(1.5), microseconds(2.5)};
  costs.pcie_step = {microseconds(4), microseconds(5), microseconds(6)};
  costs.network_factor = {1, 1.5, 2}, costs.network_step = {Time::zero(), Time::zero(), Time::zero()};
  costs.channel_rate = {ByteRate{1e9}, ByteRate{2e9}, ByteRate{4e9}};
  costs.peer_channel_rate = {10e9};
  costs.multicast_start = microseconds(40);
  costs.default_network_step = microseconds(10);
  return costs;
}

/// Eight ranks on two nodes; links so fast that they are no bottleneck unless a test says so.
struct Question {
  CollectiveCosts costs = round_costs();
  LinkType network;
  TimingInput in;

  Question() {
    network.kind = LinkKind::network;
    in.ranks = 8, in.nodes = 2, in.ranks_per_node = 4;
    in.run.channels = 2;
    in.chunk.chunk = 1 << 20, in.chunk.slices = 2;
    in.bytes = 8e6;
    in.inside_seconds_per_byte = 1e-12, in.between_seconds_per_byte = 1e-12;
    in.network = &network, in.costs = &costs;
  }
  Question(const Question&) = delete;

  /// One node of eight.
  void stay_in_node() { in.nodes = 1, in.ranks_per_node = 8, in.network = nullptr; }
  CollectiveTiming time() const { return time_of(in); }
};

inline bool near(Time time, double expected_s) {
  return std::abs(to_seconds(time) - expected_s) < 2e-12 + 1e-9 * expected_s;
}

}  // namespace foretrain::test
