// SimGrid as a second opinion: flows and rings over given links, in a child process each, with its model reduced to fluid max-min.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/engine/task_graph.hpp"

namespace foretrain::test {

struct Transfer {
  std::vector<LinkId> route;
  std::int64_t bytes = 0;
  double start = 0;  ///< seconds
};

struct Scene {
  std::vector<double> capacities;  ///< bytes per second
  std::vector<Transfer> transfers;
};

/// A ring in which rank r sends `steps` messages to r + 1 over links 2r and 2 (r + 1) + 1; each waits until the one before has been
/// sent, and the one that its sender needs for it has arrived.
struct RingScene {
  int ranks = 0, steps = 0;
  std::int64_t bytes = 0;
  double capacity = 0, latency = 0;  ///< of each route, in seconds
  std::vector<double> start;         ///< per rank, in seconds
};

/// What SimGrid says: model CM02 with all its corrections off (no latency or bandwidth factors, no TCP window, no cross-traffic, equal
/// weights), links without latency. Seconds; empty when the child fails.
std::vector<double> simgrid_ends(const Scene& scene);
/// Bytes per second of each transfer just after 0, where all of them start.
std::vector<double> simgrid_rates(const Scene& scene);
/// The end of each rank.
std::vector<double> simgrid_ring_ends(const RingScene& ring);

}  // namespace foretrain::test
