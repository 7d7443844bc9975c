// SimGrid as a second opinion: flows and rings over given links, in a child process each, with its model
// reduced to fluid max-min.
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

/// A ring in which rank r sends `steps` messages to r + 1 over routes[r], whose first link nobody else uses;
/// each message waits until the one before has arrived, and the one that its sender needs for it.
struct RingScene {
  std::vector<double> capacities;  ///< bytes per second
  std::vector<std::vector<LinkId>> routes;
  int steps = 0;
  std::int64_t bytes = 0;
  double latency = 0;         ///< of each route, in seconds
  std::vector<double> start;  ///< per rank, in seconds
};

/// What SimGrid says: model CM02 with all its corrections off (no latency or bandwidth factors, no TCP
/// window, no cross-traffic, equal weights), its precision raised from 1e-9 s and 1e-5 to 1e-12, links
/// without latency unless said. Seconds; empty when the child fails.
std::vector<double> simgrid_ends(const Scene& scene);
/// Bytes per second of each transfer just after 0, where all of them start.
std::vector<double> simgrid_rates(const Scene& scene);
/// The end of each rank.
std::vector<double> simgrid_ring_ends(const RingScene& ring);

}  // namespace foretrain::test
